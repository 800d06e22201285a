"""Log lines: an event, its fields, and what it belongs to, as text or as JSON.

`bound` names a request or a document once; every line that is written meanwhile, by whatever
module, carries the names. `LineContext` brings them to handlers that somebody else set up.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from agentscope import tracing

FORMATS: Final = ("text", "json")
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
}
_NOISY = ("httpx", "httpcore", "urllib3", "asyncio", "PIL", "pypdf", "opentelemetry")
_names: ContextVar[tuple[tuple[str, Any], ...]] = ContextVar("log_names", default=())


@contextmanager
def bound(**names: Any) -> Iterator[None]:
    """Give every line that is written inside these fields, in tasks that begin inside, too."""
    token = _names.set((*_names.get(), *names.items()))
    try:
        yield
    finally:
        _names.reset(token)


class LineContext(logging.Filter):
    """Adds the names that are bound, and the id of the trace, to records that lack them."""

    def filter(self, record: logging.LogRecord) -> bool:
        for name, value in dict(_names.get()).items():  # the nearest wins
            if value and name not in vars(record):
                setattr(record, name, value)
        if (trace_id := tracing.trace_id()) and "trace_id" not in vars(record):
            record.trace_id = trace_id
        return True


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {key: value for key, value in vars(record).items() if key not in _OWN}


class FieldFormatter(logging.Formatter):
    """Writes `event field=value ...`; values with blanks are quoted, line breaks escaped.

    Only the lines of a traceback follow, all of them indented, so that nobody can make a text
    that is logged look like a line of its own.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        record.message = _one_line(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the library's name
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  {_one_line(line)}" for line in lines)

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        shown = " ".join(f"{key}={_shown(value)}" for key, value in _fields(record).items())
        head, separator, trace = line.partition("\n")
        return f"{head} {shown}".rstrip() + separator + trace


def _one_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text
    )


def _shown(value: Any) -> str:
    text = str(value)
    plain = text.isprintable() and not any(mark in text for mark in ' ="')
    return text if plain and text else repr(text)


class JsonFormatter(logging.Formatter):
    """Writes one JSON object per event on one line, a traceback included; in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def set_up(level: str, line_format: str = "text", *, stream: TextIO | None = None) -> None:
    """Log to `stream`, standard error by default, in one of `FORMATS`."""
    handler = logging.StreamHandler(stream)
    text = FieldFormatter("%(asctime)s %(levelname)s %(name)s %(message)s")
    handler.setFormatter(JsonFormatter() if line_format == "json" else text)
    handler.addFilter(LineContext())
    known = logging.getLevelNamesMapping()
    chosen = known.get(level.upper(), logging.INFO)
    logging.basicConfig(level=chosen, handlers=[handler], force=True)
    for name in _NOISY:
        logging.getLogger(name).setLevel(max(logging.WARNING, chosen))
