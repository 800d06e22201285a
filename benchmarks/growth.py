"""How the calls that must not grow do grow: the same data at several sizes, and a plot.

For each back end and size `storage.py` fills an empty store and measures the calls that requests,
claims and sweeps make. The factor from the smallest to the largest size counts; the plot shows it.

Run: python -m benchmarks.growth [--sizes 1000 10000 100000] [--backends sqlite redis] [--write]
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.figures import RESULTS

CALLS = (
    "idle_sweep",
    "idle_claim",
    "due",
    "first_page",
    "counts",
    "upload_claim_renew_publish",
)
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b")
PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP = 300, 240, 50, 40
LEAST_MS, MOST_MS = 0.05, 1000.0

Figures = dict[str, dict[int, dict[str, Any]]]  # back end, size


def measured(backends: list[str], sizes: list[int]) -> Figures:
    """Run the benchmark of the storages at every size."""
    found: Figures = {}
    script = Path(__file__).parent / "storage.py"
    for backend in backends:
        for size in sizes:
            command = [sys.executable, str(script), "--backend", backend, "--documents", str(size)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found.setdefault(backend, {})[size] = json.loads(done.stdout)
    return found


def factors(found: Figures) -> dict[str, dict[str, float]]:
    """Return how many times longer each call takes at the largest size than at the smallest."""
    told = {}
    for backend, sizes in found.items():
        first, last = sizes[min(sizes)], sizes[max(sizes)]
        told[backend] = {
            call: round(last[call]["median_ms"] / first[call]["median_ms"], 2) for call in CALLS
        }
    return told


def plot(found: Figures) -> str:
    """Return the figures as an SVG: a panel for each back end, both axes logarithmic."""
    width = LEFT + len(found) * (PANEL_WIDTH + LEFT)
    height = TOP + PANEL_HEIGHT + 40 + 18 * len(CALLS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, (backend, sizes) in enumerate(found.items()):
        parts += _panel(LEFT + number * (PANEL_WIDTH + LEFT), backend, sizes)
    for number, call in enumerate(CALLS):
        y = TOP + PANEL_HEIGHT + 45 + 18 * number
        parts.append(
            f'<rect x="{LEFT}" y="{y - 9}" width="12" height="3" fill="{COLOURS[number]}"/>'
        )
        parts.append(f'<text x="{LEFT + 18}" y="{y - 4}">{call.replace("_", " ")}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(left: int, backend: str, sizes: dict[int, dict[str, Any]]) -> list[str]:
    low, high = math.log10(min(sizes)), math.log10(max(sizes))

    def x(size: int) -> float:
        return left + PANEL_WIDTH * (math.log10(size) - low) / max(high - low, 1e-9)

    def y(milliseconds: float) -> float:
        bounded = min(max(milliseconds, LEAST_MS), MOST_MS)
        share = math.log10(bounded / LEAST_MS) / math.log10(MOST_MS / LEAST_MS)
        return TOP + PANEL_HEIGHT * (1 - share)

    parts = [f'<text x="{left}" y="{TOP - 12}" font-size="13">{backend}: ms by documents</text>']
    for tick in (0.1, 1, 10, 100, 1000):
        parts.append(
            f'<line x1="{left}" x2="{left + PANEL_WIDTH}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" '
            f'stroke="#ddd"/><text x="{left - 32}" y="{y(tick) + 4:.1f}">{tick:g}</text>'
        )
    for size in sizes:
        place = f'x="{x(size) - 14:.1f}" y="{TOP + PANEL_HEIGHT + 16}"'
        parts.append(f"<text {place}>{size:,}</text>")
    for number, call in enumerate(CALLS):
        points = " ".join(
            f"{x(size):.1f},{y(figures[call]['median_ms']):.1f}" for size, figures in sizes.items()
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{COLOURS[number]}" stroke-width="2"/>'
        )
    return parts


def main() -> None:
    """Measure, print the factors, and keep figures and plot if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--backends", nargs="+", default=["sqlite", "redis", "postgres"])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = measured(options.backends, sorted(options.sizes))
    told = {"benchmark": "growth", "factors": factors(found), "figures": found}
    print(json.dumps(told["factors"], indent=2))
    if options.write:
        (RESULTS / "growth.json").write_text(json.dumps(told, indent=2) + "\n")
        images = Path(__file__).parents[1] / "docs" / "images"
        (images / "growth.svg").write_text(plot(found))


if __name__ == "__main__":
    main()
