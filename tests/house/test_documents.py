"""The documents say what is true of the tree."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "agentscope"


def test_every_room_is_on_the_map() -> None:
    """Each package stands in docs/architecture.md."""
    text = (ROOT / "docs/architecture.md").read_text()
    inner = {"memory", "sql", "redis", "migrations", "schemas", "dist", "cards"}
    for package in SOURCE.rglob("__init__.py"):
        path = package.parent.relative_to(ROOT).as_posix()
        if package.parent.name in inner or any(part in inner for part in package.parts):
            continue
        assert path in text, f"{path} is not in docs/architecture.md"


@pytest.mark.parametrize("document", ["docs/architecture.md", "SECURITY.md"])
def test_every_path_in_the_map_exists(document: str) -> None:
    """A map rots first where nobody looks; so do the tests that are said to prove something."""
    text = (ROOT / document).read_text()
    for path in re.findall(r"`((?:src|docs|tests|benchmarks|examples)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


def test_every_local_link_leads_somewhere() -> None:
    """Markdown links to files of this project."""
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert documents
    for document in documents:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text()):
            if "://" in target or target.startswith("mailto:"):
                continue
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_dependency_has_its_reason() -> None:
    """Each package of pyproject.toml is named in docs/adr/."""
    reasons = "\n".join(path.read_text() for path in (ROOT / "docs/adr").glob("*.md")).lower()
    text = (ROOT / "pyproject.toml").read_text().split("[project.scripts]")[0]
    names = set(re.findall(r'^\s*"([a-z0-9-]+)(?:\[|[><=~!"])', text, re.MULTILINE))
    names |= set(re.findall(r'= \["([a-z0-9-]+)[><=~\[]', text))
    missing = {n for n in names if n not in reasons and n not in {"hatchling", "agentscope-rag"}}
    assert not missing


def _tracked() -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.splitlines()]


def test_the_project_speaks_of_the_product_alone() -> None:
    """No path of one machine and no registry host in any text file."""
    banned = re.compile(
        r"/(?:root|home/[a-z]+)/|/tmp/(?:team|claude)|files\.pythonhosted|registry\.npmjs|pypi\.org/simple"
    )
    for path in _tracked():
        if not path.is_file() or path == Path(__file__) or "dist" in path.parts:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found = banned.search(text)
        assert not found, f"{path.relative_to(ROOT)}: {found.group(0)}"
