"""Load optional third-party packages with one clear error."""

import importlib
from types import ModuleType

from agentscope.errors import MissingDependencyError


def require(module: str, *, package: str, extra: str) -> ModuleType:
    """Return the imported `module`.

    Raises:
        MissingDependencyError: `package` is not installed; names the `extra` that brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as exc:
        raise MissingDependencyError(package, extra) from exc
