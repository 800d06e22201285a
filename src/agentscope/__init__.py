"""AgentScope RAG: a multi-tenant retrieval service and library.

`agentscope.rag` is the library, `agentscope.app` the service. Importing this package loads
neither.
"""

import logging

from agentscope.identity import set_id_factory, set_timestamp_factory
from agentscope.installation import installed_version, refuse_mixed_installation

refuse_mixed_installation()

__version__ = installed_version()
logger = logging.getLogger("agentscope")


def setup_logger(level: str = "INFO", filepath: str | None = None) -> None:
    """Log to standard error, and to a file as well if one is named."""
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    if filepath is not None:
        handlers.append(logging.FileHandler(filepath, encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger.handlers[:] = handlers
    logger.setLevel(level)
    logger.propagate = False


__all__ = [
    "__version__",
    "logger",
    "set_id_factory",
    "set_timestamp_factory",
    "setup_logger",
]
