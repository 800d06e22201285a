"""Tables as text (CSV, TSV and the like): rows as written, every section under the header row."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

_DELIMITERS = ",;\t|"
_SECTION_BYTES = 1900
_PROBED_ROWS = 30
_ROW_LINES_MAX = 200
_HEADER_MAX = 600
_NUMBER = re.compile(r"[-+]?[\d.,\s]*\d[\d.,\s]*%?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")


@dataclass(frozen=True, slots=True)
class TablePart:
    """Some rows; `first_row` counts from 1 and includes the header row."""

    text: str
    first_row: int
    last_row: int


def table_parts(pieces: Iterator[str]) -> Iterator[TablePart]:
    """Yield parts of about 1,900 bytes; from the second on the header row comes first."""
    rows = _rows(_lines(pieces))
    probe = list(islice(rows, _PROBED_ROWS))
    header = probe[0] if _has_header(probe) and len(probe[0]) <= _HEADER_MAX else ""
    buffer: list[str] = []
    size, first, number = 0, 1, 0
    for row in chain(probe, rows):
        number += 1
        weight = len(row.encode("utf-8", "surrogatepass")) + 1
        if buffer and size + weight > _SECTION_BYTES:
            yield TablePart("\n".join(buffer), first, number - 1)
            buffer = [header] if header else []
            size, first = len(header.encode("utf-8", "surrogatepass")), number
        buffer.append(row)
        size += weight
    if buffer:
        yield TablePart("\n".join(buffer), first, number)


def _lines(pieces: Iterator[str]) -> Iterator[str]:
    held = ""
    for piece in pieces:
        lines = (held + piece).split("\n")
        held = lines.pop()
        yield from lines
    if held:
        yield held


def _rows(lines: Iterator[str]) -> Iterator[str]:
    """Join the lines of quoted cells; a quote that never closes does not swallow the file."""
    held: list[str] = []
    quotes = 0
    for line in lines:
        held.append(line)
        quotes += line.count('"')
        if quotes % 2 and len(held) < _ROW_LINES_MAX:
            continue
        if quotes % 2:
            yield from (part for part in held if part.strip())
        elif any(part.strip() for part in held):
            yield "\n".join(held)
        held, quotes = [], 0
    yield from (part for part in held if part.strip())


def delimiter_of(rows: list[str]) -> str:
    """Return the delimiter that splits most rows into the same number of cells, more than one."""
    best = (0.0, 0, ",")
    for delimiter in _DELIMITERS:
        widths = [len(cells_of(row, delimiter)) for row in rows]
        usual = max(set(widths), key=widths.count) if widths else 1
        if usual > 1:
            best = max(best, (widths.count(usual) / len(widths), usual, delimiter))
    return best[2]


def cells_of(row: str, delimiter: str) -> list[str]:
    """Return the cells of one row with their quotes removed."""
    try:
        return next(csv.reader([row], delimiter=delimiter), [])
    except csv.Error:
        return row.split(delimiter)


def _has_header(rows: list[str]) -> bool:
    """Tell whether the first row names the columns: words only, no cell twice or empty."""
    if len(rows) < 2:
        return False
    cells = [cell.strip() for cell in cells_of(rows[0], delimiter_of(rows))]
    if len(cells) < 2 or not all(cells) or len(set(cells)) < len(cells):
        return False
    return not any(len(cell) > 100 or _NUMBER.fullmatch(cell) for cell in cells)
