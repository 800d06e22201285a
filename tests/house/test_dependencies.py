"""What is installed is pinned, and the audit of the pins does not say more than it knows."""

import importlib.metadata
import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def _pins() -> dict[str, Version]:
    found: dict[str, Version] = {}
    for line in (ROOT / "requirements/constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            found[canonicalize_name(name)] = Version(version.partition(";")[0].strip())
    return found


def _named() -> list[Requirement]:
    """Return every requirement of pyproject.toml but those on itself."""
    extras = PROJECT["project"]["optional-dependencies"].values()
    groups = PROJECT["dependency-groups"].values()
    texts = [*PROJECT["project"]["dependencies"]]
    for part in (*extras, *groups):
        texts += part
    own = PROJECT["project"]["name"]
    return [Requirement(text) for text in texts if not text.startswith(own)]


def test_every_named_dependency_is_pinned_within_its_bounds() -> None:
    """Of the base, of each extra and for development."""
    pins = _pins()
    missing = [req.name for req in _named() if canonicalize_name(req.name) not in pins]
    assert missing == []
    outside = [
        str(req)
        for req in _named()
        if not req.specifier.contains(pins[canonicalize_name(req.name)], prereleases=True)
    ]
    assert outside == []


def test_everything_that_comes_along_is_pinned_too() -> None:
    """Whatever the named ones need here, and what that needs."""
    pins = _pins()
    todo = [(canonicalize_name(req.name), frozenset(req.extras)) for req in _named()]
    seen: set[tuple[str, frozenset[str]]] = set()
    loose = set()
    while todo:
        name, extras = todo.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        if name not in pins:
            loose.add(name)
        for req in _needs(name, extras):
            todo.append((canonicalize_name(req.name), frozenset(req.extras)))
    assert loose == set()


def _needs(name: str, extras: frozenset[str]) -> list[Requirement]:
    try:
        lines = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return []  # not installed on this platform
    found = [Requirement(line) for line in lines]
    return [
        req
        for req in found
        if req.marker is None
        or any(req.marker.evaluate({"extra": extra}) for extra in (extras or {""}))
    ]


@pytest.fixture
def auditor(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program `requirements/audit.py`."""
    path = ROOT / "requirements/audit.py"
    spec = importlib.util.spec_from_file_location("dependency_audit", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


CLEAN: dict[str, Any] = {"name": "a", "version": "1", "vulns": []}
SKIPPED = {"name": "b", "skip_reason": "Dependency not found"}
BAD = {"name": "c", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}


@pytest.mark.parametrize(
    ("entries", "loose", "strict", "words"),
    [
        ([CLEAN], 0, 0, r"^1 packages audited, 0 vulnerabilities\.$"),
        ([CLEAN, SKIPPED], 0, 1, r"Not audited \(1\): b\."),
        ([CLEAN, BAD], 1, 1, "c 2: CVE-1, fixed in 3"),
        ([SKIPPED], 0, 1, "^NOT AUDITED"),
        ([], 0, 1, "^NOT AUDITED"),
    ],
)
def test_an_audit_without_an_answer_is_no_clean_bill(
    auditor: ModuleType, entries: list[Any], loose: int, strict: int, words: str
) -> None:
    """It says so; it fails for want of network only where that is asked for."""
    result = auditor.Result.of({"dependencies": entries})
    assert re.search(words, "\n".join(result.sentences()), re.MULTILINE)
    codes = (result.exit_code(strict=False), result.exit_code(strict=True))
    assert codes == (loose, strict)


def test_a_tool_that_cannot_run_is_no_clean_bill(
    auditor: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a missing one nor one that says nothing."""

    def absent(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(auditor.subprocess, "run", absent)
    result = auditor.audit(["a==1"])
    assert (result.audited, result.skipped) == (0, ["a"])
