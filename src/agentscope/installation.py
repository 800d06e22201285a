"""What is installed: our version, and the package that cannot live beside ours."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "agentscope-rag"
RIVAL = "agentscope"


@cache
def installed_version() -> str:
    """Return the version of this package, or 0.0.0 when it runs from a bare source tree."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0.0.0"


def refuse_mixed_installation() -> None:
    """Stop with one clear line if the agent framework of the same import name is here, too.

    Raises:
        ImportError: both packages are installed in one environment.
    """
    try:
        other = version(RIVAL)
    except PackageNotFoundError:
        return
    raise ImportError(
        f"The packages '{DISTRIBUTION}' and '{RIVAL}' {other} are installed in one environment, "
        "but both are imported as 'agentscope'. Use one environment for each; agents reach this "
        "service over REST or MCP."
    )
