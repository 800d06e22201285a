"""The public names are frozen: a change is meant, never an accident."""

import importlib
from pathlib import Path

FROZEN = Path(__file__).with_name("public_api.txt")
PACKAGES = (
    "agentscope",
    "agentscope.app",
    "agentscope.app.access",
    "agentscope.app.message_bus",
    "agentscope.app.rag",
    "agentscope.app.rag.blob_store",
    "agentscope.app.rag.index_worker",
    "agentscope.app.rag.knowledge_base_manager",
    "agentscope.app.storage",
    "agentscope.app.workspace_manager",
    "agentscope.credential",
    "agentscope.embedding",
    "agentscope.message",
    "agentscope.middleware",
    "agentscope.rag",
    "agentscope.rerank",
)


def public_names() -> list[str]:
    """Return every documented name, as `package.name`."""
    return sorted(
        f"{package}.{name}"
        for package in PACKAGES
        for name in importlib.import_module(package).__all__
    )


def test_the_public_names_are_the_frozen_ones() -> None:
    """To change them on purpose: `python tests/house/test_public_api.py`."""
    assert public_names() == FROZEN.read_text().split()


def test_every_public_name_is_there() -> None:
    """`__all__` names what exists."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            assert hasattr(module, name), f"{package}.{name}"


if __name__ == "__main__":
    FROZEN.write_text("\n".join(public_names()) + "\n")
