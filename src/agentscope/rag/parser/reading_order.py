"""Recognised lines of a page in the order in which a person reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

COLUMN_LINES_MIN = 4
COLUMN_DEPTH_MAX = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of text and the box around it, in pixels from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float
    text: str
    score: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def page_text(lines: Sequence[Line]) -> str:
    """Return the text row by row, columns of prose one after the other."""
    return "\n".join(_rows_text(part) for part in _columns(list(lines), 0) if part)


def _columns(lines: list[Line], depth: int) -> list[list[Line]]:
    """Split where a gutter runs between two blocks of full lines; tables stay together."""
    split = _gutter(lines) if depth < COLUMN_DEPTH_MAX else None
    if split is None:
        return [lines]
    top, left, right, bottom = split
    return [
        *([top] if top else []),
        *_columns(left, depth + 1),
        *_columns(right, depth + 1),
        *([bottom] if bottom else []),
    ]


def _gutter(
    lines: list[Line],
) -> tuple[list[Line], list[Line], list[Line], list[Line]] | None:
    """Find a gutter; wide lines above and below it (titles, footers) are kept apart."""
    if len(lines) < 2 * COLUMN_LINES_MIN:
        return None
    start, end = min(line.left for line in lines), max(line.right for line in lines)
    for share in (0.5, 0.45, 0.55, 0.4, 0.6, 0.33, 0.67):
        middle = start + share * (end - start)
        left = [line for line in lines if line.right <= middle]
        right = [line for line in lines if line.left >= middle]
        crossing = [line for line in lines if line.left < middle < line.right]
        if not _is_prose(left) or not _is_prose(right):
            continue
        first = min(line.top for line in left + right)
        last = max(line.bottom for line in left + right)
        above = [line for line in crossing if line.bottom <= first + line.height]
        below = [line for line in crossing if line.top >= last - line.height]
        if len(above) + len(below) == len(crossing):
            return above, left, right, below
    return None


def _is_prose(lines: list[Line]) -> bool:
    """Tell whether most lines fill their column, which cells of a table do not."""
    if len(lines) < COLUMN_LINES_MIN:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    return median(line.width for line in lines) >= 0.7 * width


def _rows_text(lines: list[Line]) -> str:
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.top + line.bottom) / 2):
        middle = (line.top + line.bottom) / 2
        if rows and rows[-1][0].top <= middle <= rows[-1][0].bottom:
            rows[-1].append(line)
        else:
            rows.append([line])
    return "\n".join(
        " ".join(line.text for line in sorted(row, key=lambda line: line.left)) for row in rows
    )
