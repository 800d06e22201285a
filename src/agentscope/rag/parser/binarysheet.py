"""Binary workbooks (XLS, XLSB), read by calamine after their size has been checked."""

import datetime
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseError, ParseLimitError
from agentscope.optional import require
from agentscope.rag.parser.cellformat import duration_text, moment_text, number_text
from agentscope.rag.parser.compound import COMPOUND_MAGIC, CompoundFile
from agentscope.rag.parser.sheet import Cells, Sheet
from agentscope.rag.parser.zipguard import ZipContainer

# calamine holds the whole used range of a sheet, about 32 bytes a cell.
RANGE_CELLS_MAX = 20_000_000
_ROW_RECORD = 0
_LAST_CELL_RECORD = 11  # records 1 to 11 are cells
_SHEET_BYTES_MAX = 512 << 20


def binary_sheets(file: bytes | Path, filename: str, kind: str) -> Iterator[Sheet]:
    """Yield the sheets of an XLS or XLSB workbook.

    Raises:
        EncryptedFileError: it needs a password.
        CorruptFileError: it cannot be read.
        ParseLimitError: a sheet's used range is absurdly large.
    """
    if kind == "xlsb":
        _check_ranges(file, filename)
    else:
        _check_encryption(file, filename)
    calamine = require("python_calamine", package="python-calamine", extra="all")
    source = io.BytesIO(file) if isinstance(file, bytes) else str(file)
    try:
        book = calamine.load_workbook(source)
        names = list(book.sheet_names)
    except BaseException as exc:
        raise _translate(exc, filename) from exc
    for name in names:
        yield Sheet(name=name, rows=_rows(book, name, filename))


def _rows(book: Any, name: str, filename: str) -> Iterator[Cells]:
    try:
        sheet = book.get_sheet_by_name(name)
        first = sheet.start[0] if sheet.start else 0
        rows = sheet.iter_rows()
    except BaseException as exc:
        raise _translate(exc, filename) from exc
    for number, row in enumerate(rows, first + 1):
        texts = {at: text for at, value in enumerate(row) if (text := _value_text(value))}
        if texts:
            yield Cells(number, texts)


def _value_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return number_text(float(value))
    if isinstance(value, datetime.datetime):
        return moment_text(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return duration_text(value)
    return "" if value is None else str(value)


def _translate(exc: BaseException, filename: str) -> BaseException:
    """Turn a library error into ours; its panics are no `Exception`, so they are told by name."""
    is_panic = type(exc).__name__ == "PanicException"
    if isinstance(exc, ParseError) or not (isinstance(exc, Exception) or is_panic):
        return exc
    if "password" in str(exc).casefold() or type(exc).__name__ == "PasswordError":
        return EncryptedFileError(filename=filename)
    return CorruptFileError("The file is damaged: the workbook cannot be read.", filename=filename)


def _check_encryption(file: bytes | Path, filename: str) -> None:
    """Look for a password in an OLE container before its records are read."""
    head = file[:8] if isinstance(file, bytes) else b""
    if isinstance(file, Path):
        with file.open("rb") as stream:
            head = stream.read(8)
    if head != COMPOUND_MAGIC:
        return
    with CompoundFile(file, filename) as compound:
        if compound.has("EncryptedPackage") or compound.has("EncryptionInfo"):
            raise EncryptedFileError(filename=filename)
        data = compound.read("Workbook") or compound.read("Book")
    if not data:
        raise CorruptFileError(
            "The file is damaged or not of its type: it holds no workbook.", filename=filename
        )
    if _has_password(data):
        raise EncryptedFileError(filename=filename)


def _has_password(data: bytes) -> bool:
    """Return whether the first substream has a FILEPASS record (MS-XLS 2.4.117)."""
    at = 0
    for _ in range(50):
        if at + 4 > len(data):
            return False
        kind = int.from_bytes(data[at : at + 2], "little")
        if kind == 0x2F:
            return True
        at += 4 + int.from_bytes(data[at + 2 : at + 4], "little")
    return False


def _check_ranges(file: bytes | Path, filename: str) -> None:
    """Measure the used range of every sheet of an XLSB file by its records (MS-XLSB 2.1.4)."""
    with ZipContainer(file, filename) as container:
        container.measure()
        for name in container.names:
            if name.casefold().startswith("xl/worksheets/") and name.endswith(".bin"):
                rows, columns = _used_range(container.read(name, _SHEET_BYTES_MAX))
                if rows * columns > RANGE_CELLS_MAX:
                    raise ParseLimitError(
                        "A sheet of the file spans more cells than allowed.", filename=filename
                    )


def _used_range(data: bytes) -> tuple[int, int]:
    at, rows, columns = 0, 0, 0
    while at + 2 <= len(data):
        kind, at = _number(data, at, 2)
        size, at = _number(data, at, 4)
        if kind == _ROW_RECORD:
            rows = max(rows, int.from_bytes(data[at : at + 4], "little") + 1)
        elif kind <= _LAST_CELL_RECORD:
            columns = max(columns, int.from_bytes(data[at : at + 4], "little") + 1)
        at += size
    return rows, columns


def _number(data: bytes, at: int, length_max: int) -> tuple[int, int]:
    """Return a number of seven bits a byte and the position behind it."""
    value = 0
    for shift in range(length_max):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * shift)
        if not byte & 0x80:
            break
    return value, at
