"""Look for known vulnerabilities in everything that is pinned; says honestly what was looked at.

pip-audit alone reports "no known vulnerabilities" and success for packages that it could not ask
about at all. So one package is asked first: without an answer the advisories are out of reach
from here, and that is said instead of a result. Exit code 1 only for a vulnerability, or with
`--strict`, which is for places that have network, also for anything that was not audited.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PINS = Path(__file__).with_name("constraints.txt")
TOOL = "pip-audit==2.10.1"


@dataclass
class Result:
    """What became of the pins."""

    audited: int = 0
    skipped: list[str] = field(default_factory=list)
    vulnerable: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, answer: dict[str, Any]) -> "Result":
        """Read what pip-audit wrote as JSON."""
        found = cls()
        for entry in answer.get("dependencies", ()):
            if "skip_reason" in entry:
                found.skipped.append(entry["name"])
                continue
            found.audited += 1
            found.vulnerable += [
                f"{entry['name']} {entry['version']}: {known['id']}"
                + (
                    f", fixed in {', '.join(known['fix_versions'])}"
                    if known["fix_versions"]
                    else ""
                )
                for known in entry["vulns"]
            ]
        return found

    def sentences(self) -> list[str]:
        """Return what to print."""
        if not self.audited:
            return ["NOT AUDITED: no advisories can be reached from here."]
        lines = [f"{self.audited} packages audited, {len(self.vulnerable)} vulnerabilities."]
        if self.skipped:
            lines.append(f"Not audited ({len(self.skipped)}): {', '.join(self.skipped)}.")
        return [*lines, *self.vulnerable]

    def exit_code(self, *, strict: bool) -> int:
        """Return 1 for a vulnerability; strictly also when something was not audited."""
        return int(bool(self.vulnerable) or (strict and (bool(self.skipped) or not self.audited)))


def audit(pins: list[str]) -> Result:
    """Ask for the pins; an answer that is none counts as not audited."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv") or "uv"
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "pins.txt"
        listed.write_text("\n".join(pins) + "\n")
        command = [uv, "tool", "run", "--from", TOOL, "pip-audit", "-r", str(listed), "--no-deps"]
        command += ["--disable-pip", "-f", "json", "--progress-spinner", "off"]
        try:
            done = subprocess.run(  # noqa: S603 - no part of it comes from outside
                command, capture_output=True, text=True, timeout=900, check=False
            )
            return Result.of(json.loads(done.stdout))
        except (OSError, subprocess.TimeoutExpired, ValueError):
            return Result(skipped=[pin.partition("==")[0] for pin in pins])


def main() -> int:
    """Run it."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--strict", action="store_true", help="fail when anything is not audited")
    strict = options.parse_args().strict
    pins = [line for line in PINS.read_text().splitlines() if "==" in line and line[0] != "#"]
    result = audit(pins[:1])
    if result.audited:
        result = audit(pins)
    print("\n".join(result.sentences()))  # noqa: T201 - a program
    return result.exit_code(strict=strict)


if __name__ == "__main__":
    sys.exit(main())
