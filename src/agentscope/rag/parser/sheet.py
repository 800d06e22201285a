"""A sheet as every spreadsheet reader delivers it, and its rows as text."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from agentscope.rag.parser.flow import TableFormat, table_text

BLOCK_ROWS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one row that have text; rows count from 1 and columns from 0."""

    row: int
    texts: dict[int, str]


@dataclass(slots=True)
class Sheet:
    """One sheet; its iterators can be read once, rows first."""

    name: str
    rows: Iterator[Cells]
    lines: Iterator[str] = field(default_factory=lambda: iter(()))
    """Text that stands outside of the cells."""
    pictures: Iterator[str] = field(default_factory=lambda: iter(()))
    """Names of the parts that hold pictures."""


def sheet_blocks(
    rows: Iterator[Cells], table_format: TableFormat, *, coordinates: bool = False
) -> Iterator[str]:
    """Yield each run of rows without a blank row between them as one table.

    Columns without any text in the run are left out, so a used range costs what is in it. A run
    longer than `BLOCK_ROWS_MAX` is cut, and its first row repeated, as it tends to be a header.
    """
    block: list[Cells] = []
    for cells in rows:
        if block and cells.row != block[-1].row + 1:
            yield _block_text(block, table_format, coordinates)
            block = []
        elif len(block) >= BLOCK_ROWS_MAX:
            yield _block_text(block, table_format, coordinates)
            block = [block[0]]
        block.append(cells)
    if block:
        yield _block_text(block, table_format, coordinates)


def column_letters(column: int) -> str:
    """Return the letters of the column that counts from 0."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _block_text(block: list[Cells], table_format: TableFormat, coordinates: bool) -> str:
    columns = sorted({column for cells in block for column in cells.texts})
    if coordinates:
        rows = [
            [
                f"{column_letters(column)}{cells.row}: {text}" if text else ""
                for column, text in ((at, cells.texts.get(at, "")) for at in columns)
            ]
            for cells in block
        ]
    else:
        rows = [[cells.texts.get(column, "") for column in columns] for cells in block]
    return table_text(rows, table_format)
