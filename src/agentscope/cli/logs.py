"""Log lines of the commands: time, level, event, and the fields that go with it."""

import logging
import sys
from typing import Any

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
}
_NOISY = ("httpx", "httpcore", "urllib3", "asyncio", "PIL", "pypdf")


class FieldFormatter(logging.Formatter):
    """Writes `event field=value ...`; values with blanks are quoted, line breaks escaped."""

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        fields = {key: value for key, value in vars(record).items() if key not in _OWN}
        shown = " ".join(f"{key}={_shown(value)}" for key, value in fields.items())
        head, separator, trace = line.partition("\n")
        return f"{head} {shown}".rstrip() + separator + trace


def _shown(value: Any) -> str:
    text = str(value)
    plain = text.isprintable() and not any(mark in text for mark in ' ="')
    return text if plain and text else repr(text)


def set_up_logs(level: str) -> None:
    """Log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(FieldFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
