"""Imports only go down, and light parts stay light."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_imports_only_go_down() -> None:
    """The contracts of import-linter in pyproject.toml."""
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


WEB = {"fastapi", "starlette", "uvicorn"}
HEAVY = {"numpy", "zvec", "pypdfium2", "pdf_oxide", "docx", "pptx", "PIL", "qdrant_client"}


@pytest.mark.parametrize(
    ("statement", "banned"),
    [
        ("import agentscope.app.rag.index_worker", WEB),
        ("from agentscope.app.rag import run_worker", WEB),
        ("import agentscope.app.rag.indexing.parser_child", WEB | {"numpy", "zvec"}),
        ("import agentscope.app.storage, agentscope.app.message_bus", WEB),
        ("import agentscope.rag", WEB | HEAVY | {"agentscope.app"}),
        ("import agentscope.embedding", WEB | {"agentscope.app"}),
        ("from agentscope.app import create_app", {"pypdfium2", "pdf_oxide", "docx", "pptx"}),
    ],
)
def test_a_part_does_not_load_what_it_does_not_need(statement: str, banned: set[str]) -> None:
    """A worker never loads the web framework; the library never loads the service."""
    assert not _loaded_by(statement) & banned


def test_an_api_without_parser_libraries_starts() -> None:
    """Building an app needs none of the format libraries."""
    blocked = ("pypdfium2", "pdf_oxide", "docx", "pptx", "python_calamine", "selectolax")
    statement = (
        f"import sys\nfor name in {blocked!r}: sys.modules[name] = None\n"
        "from agentscope.app import create_app\n"
        "from agentscope.app.storage import InMemoryStorage\n"
        "from agentscope.app.message_bus import InMemoryMessageBus\n"
        "app = create_app(InMemoryStorage(), InMemoryMessageBus(), None)\n"
        "assert app.routes"
    )
    _loaded_by(statement)
