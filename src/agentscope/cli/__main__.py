"""`python -m agentscope.cli`: the command line without its script."""

from agentscope.cli.entry import main

main(prog_name="agentscope-rag")
