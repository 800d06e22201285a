"""`python -m agentscope.cli` is `agentscope-rag`, whatever stands on the PATH."""

from agentscope.cli.entry import main

main(prog_name="agentscope-rag")
