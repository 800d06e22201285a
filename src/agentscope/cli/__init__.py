"""The command line: `agentscope-rag`. The only place that reads the environment.

`--help` must be instant, so a command's module is imported when the command is used.
"""

from agentscope.cli.entry import main

__all__ = ["main"]
