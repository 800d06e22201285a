"""Runs the checks of the web UI: they live beside it, in examples/web_ui.

Without Node or Chromium they are skipped with a message on a developer's machine; under CI the
tools are brought and nothing is skipped.
"""

import gzip
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ui.toolchain import PROJECT, MissingToolError, Toolchain, toolchain

pytestmark = pytest.mark.xdist_group("web_ui")

UNDER_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolchain]:
    """Return the tools, or skip with the reason where that is allowed."""
    try:
        yield toolchain(tmp_path_factory.mktemp("web-ui-tools"), bring=UNDER_CI)
    except MissingToolError as reason:
        pytest.skip(f"THE WEB UI IS NOT CHECKED: {reason}")


def _passes(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def test_the_sources_follow_the_rules(tools: Toolchain) -> None:
    """ESLint: no text outside the locales, no unlabelled control."""
    _passes(tools.run("node_modules/eslint/bin/eslint.js", ".", "--max-warnings=0", seconds=120))


def test_the_types_hold(tools: Toolchain) -> None:
    """The TypeScript compiler finds nothing."""
    _passes(tools.run("node_modules/typescript/bin/tsc", "--noEmit", seconds=120))


def test_the_units_work(tools: Toolchain) -> None:
    """Vitest: queue, polling, marks, texts in both languages, pages."""
    _passes(tools.run("node_modules/vitest/vitest.mjs", "run", seconds=180))


def test_the_committed_copy_is_what_the_sources_build(tools: Toolchain) -> None:
    """Two fresh builds and the committed copy are equal, byte for byte."""
    _passes(tools.run("scripts/check_copy.mjs", seconds=180))


def test_the_built_copy_keeps_its_budgets(tools: Toolchain) -> None:
    """First load, styles, PDF viewer and the whole folder stay within their sizes."""
    _passes(tools.run("scripts/budgets.mjs", seconds=60))


@pytest.mark.timeout(900)
def test_the_acceptance_points_hold_in_a_browser(tools: Toolchain) -> None:
    """Playwright against the real service; times are judged loosely, other tests run beside it."""
    tools.environment.setdefault("RELAXED", "1")
    command = ("node_modules/@playwright/test/cli.js", "test", "--reporter=line")
    _passes(tools.run(*command, seconds=880))


def test_no_address_of_a_registry_is_committed() -> None:
    """The lock file and the settings name packages, never the place they come from."""
    names = ("pnpm-lock.yaml", "package.json", "vite.config.ts")
    for path in (PROJECT / name for name in names):
        text = path.read_text(encoding="utf-8")
        assert "registry." not in text
        assert "tarball:" not in text
    assert not list(PROJECT.glob(".npmrc"))


def test_every_compressed_file_is_its_plain_file() -> None:
    """A file and its `.gz` never drift apart."""
    dist = Path(__file__).parents[2] / "src" / "agentscope" / "app" / "ui" / "dist"
    packed = sorted(dist.rglob("*.gz"))
    assert packed
    for path in packed:
        assert gzip.decompress(path.read_bytes()) == path.with_suffix("").read_bytes(), path.name
