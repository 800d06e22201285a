"""`python -m agentscope.app.rag.index_worker`: a worker from a bootstrap function.

`AGENTSCOPE_WORKER_BOOTSTRAP=package.module:callable` names a function without arguments that
returns the keyword arguments of `run_worker`. `LOG_LEVEL` sets the logging, INFO by default,
`AGENTSCOPE_LOG_FORMAT` (text or json) its lines, and `AGENTSCOPE_SECRET_KEY` the key of the stored
credentials unless the function gives one.
"""

import asyncio
import importlib
import inspect
import os
import sys
from collections.abc import Mapping
from typing import Any

from agentscope import logs
from agentscope.app.rag.index_worker.run import run_worker
from agentscope.errors import AgentScopeError

VARIABLE = "AGENTSCOPE_WORKER_BOOTSTRAP"
BAD_USE = 2


class BootstrapError(Exception):
    """What is wrong with the bootstrap, in one line."""


def worker_arguments(value: str | None) -> dict[str, Any]:
    """Return the arguments that the bootstrap function named by `value` gives.

    Raises:
        BootstrapError: it is missing, malformed, cannot be imported, or gives something else.
    """
    if not value:
        raise BootstrapError(f"{VARIABLE} is not set; set it to package.module:callable.")
    module_name, colon, name = value.partition(":")
    if not colon or not module_name or not name:
        raise BootstrapError(f"{VARIABLE} must look like package.module:callable, not {value!r}.")
    try:
        function = getattr(importlib.import_module(module_name), name)
    except ImportError as exc:
        raise BootstrapError(f"{VARIABLE}: {exc}.") from exc
    except AttributeError as exc:
        raise BootstrapError(f"{VARIABLE}: {module_name} has no {name}.") from exc
    if not callable(function):
        raise BootstrapError(f"{VARIABLE}: {value} cannot be called.")
    given = function()
    if not isinstance(given, Mapping):
        raise BootstrapError(f"{VARIABLE}: {value} must return a dict of run_worker's arguments.")
    return _checked(dict(given), value)


def _checked(given: dict[str, Any], value: str) -> dict[str, Any]:
    parameters = inspect.signature(run_worker).parameters
    unknown = sorted(set(given) - set(parameters))
    missing = sorted(
        name
        for name, parameter in parameters.items()
        if parameter.default is inspect.Parameter.empty and name not in given
    )
    if unknown or missing:
        wrong = [f"unknown {name}" for name in unknown] + [f"missing {name}" for name in missing]
        raise BootstrapError(f"{VARIABLE}: {value} gives wrong arguments: {', '.join(wrong)}.")
    return given


def main() -> int:
    """Run a worker; return the exit code."""
    logs.set_up(
        os.environ.get("LOG_LEVEL", "INFO"), os.environ.get("AGENTSCOPE_LOG_FORMAT", "text")
    )
    sys.path.insert(0, "")  # the bootstrap may stand in the current directory
    try:
        arguments = worker_arguments(os.environ.get(VARIABLE))
    except BootstrapError as exc:
        sys.stderr.write(f"{exc}\n")
        return BAD_USE
    if os.environ.get("AGENTSCOPE_SECRET_KEY"):
        arguments.setdefault("secret_key", os.environ["AGENTSCOPE_SECRET_KEY"])
    try:
        asyncio.run(run_worker(**arguments))
    except AgentScopeError as exc:
        sys.stderr.write(f"{exc.message}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
