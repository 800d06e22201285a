"""Numbers of spreadsheet cells as text: dates in ISO form, whole numbers without a fraction."""

import datetime
import re
from enum import StrEnum

_BUILT_IN_DATES = frozenset({14, 15, 16, 17, *range(27, 37), *range(50, 59)})
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.')
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[[^\]]*\]")
_SERIAL_MAX = 2_958_466  # the first day after the year 9999


class NumberKind(StrEnum):
    """What a number format makes of a number."""

    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    DATETIME = "datetime"
    DURATION = "duration"
    PERCENT = "percent"


def built_in_kind(format_id: int) -> NumberKind:
    """Return the kind of a format id below 164 (ECMA-376 part 1, 18.8.30)."""
    if format_id in _BUILT_IN_DATES:
        return NumberKind.DATE
    if format_id == 22:
        return NumberKind.DATETIME
    if format_id in {18, 19, 20, 21, 45, 47}:
        return NumberKind.TIME
    if format_id == 46:
        return NumberKind.DURATION
    return NumberKind.PERCENT if format_id in {9, 10} else NumberKind.NUMBER


def format_kind(code: str) -> NumberKind:
    """Return the kind of a format code such as `yyyy-mm-dd`; only its first section counts."""
    code = _QUOTED.sub("", code).partition(";")[0]
    if _ELAPSED.search(code):
        return NumberKind.DURATION
    code = _BRACKETS.sub("", code).casefold()
    if "%" in code:
        return NumberKind.PERCENT
    if "general" in code or "#" in code or "0" in code.replace(".0", ""):
        return NumberKind.NUMBER
    has_date = any(mark in code for mark in ("y", "d", "e", "g", "b"))
    has_time = "h" in code or "s" in code
    if has_time:
        return NumberKind.DATETIME if has_date else NumberKind.TIME
    return NumberKind.DATE if has_date or "m" in code else NumberKind.NUMBER


def number_text(value: float) -> str:
    """Return the shortest usual form: `3` and not `3.0`, 15 digits as office programs keep."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"


def cell_number(value: float, kind: NumberKind, *, from_1904: bool = False) -> str:
    """Return the number as its format shows it, as far as the meaning depends on it."""
    if kind is NumberKind.NUMBER:
        return number_text(value)
    if kind is NumberKind.PERCENT:
        return number_text(round(value * 100, 10)) + "%"
    if kind is NumberKind.DURATION:
        return duration_text(datetime.timedelta(days=value)) if abs(value) < 1e6 else str(value)
    if not 0 <= value < _SERIAL_MAX:
        return number_text(value)
    return _moment(value, kind, from_1904)


def duration_text(value: datetime.timedelta) -> str:
    """Return hours, minutes and seconds; hours may exceed 24."""
    seconds = round(value.total_seconds())
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), 3600)
    return f"{sign}{hours}:{rest // 60:02}:{rest % 60:02}"


def moment_text(value: datetime.datetime) -> str:
    """Return date and time in ISO form, without the time when it is midnight."""
    if value.time() == datetime.time():
        return value.date().isoformat()
    return value.replace(microsecond=0).isoformat(sep=" ")


def _moment(value: float, kind: NumberKind, from_1904: bool) -> str:
    days, seconds = divmod(round(value * 86_400), 86_400)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if kind is NumberKind.TIME and days == 0:
        return clock
    # Day 60 of the 1900 system is a 29 February that never was; days before it are one lower.
    start = datetime.date(1904, 1, 1) if from_1904 else datetime.date(1899, 12, 30)
    if not from_1904 and days < 60:
        start = datetime.date(1899, 12, 31)
    day = (start + datetime.timedelta(days=days)).isoformat()
    return day if seconds == 0 and kind is NumberKind.DATE else f"{day} {clock}"
