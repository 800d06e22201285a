"""What every benchmark prints beside its own figures, and where results are kept."""

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def spread(values: Sequence[float], digits: int = 3) -> dict[str, Any]:
    """Return median, extremes and number of measured values."""
    return {
        "median": round(statistics.median(values), digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
        "runs": len(values),
    }


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def versions(*packages: str) -> dict[str, str]:
    """Return the installed versions of packages."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def report(name: str, figures: dict[str, Any], *, packages: Sequence[str] = ()) -> None:
    """Print one JSON object; with `--write` keep it under `results/`."""
    told = {
        "benchmark": name,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "load_average": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "versions": versions("agentscope-rag", *packages),
        **figures,
    }
    print(json.dumps(told))
    if "--write" in sys.argv[1:]:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(told, indent=2) + "\n")


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser of arguments that knows `--write`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--write", action="store_true", help="keep the figures under results/")
    return parser
