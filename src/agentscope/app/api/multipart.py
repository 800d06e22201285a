"""An upload form read as it arrives: the file's bytes go on at once, nothing is kept.

The framework's own form reader writes every file to a temporary one first, which costs a second
copy of everything. This reader holds one network chunk and the small fields.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from agentscope.app.api.disposition import disposition_parameters
from agentscope.app.rag.service.limits import ServiceLimits
from agentscope.app.rag.service.metadata import parse_metadata
from agentscope.app.rag.service.same_name import OnSameName
from agentscope.app.rag.service.upload import UploadFields
from agentscope.app.records import OnDuplicate
from agentscope.errors import InvalidInputError, NotReadyError, TooLargeError

MAX_PARTS: Final = 64
MAX_HEADER_BYTES: Final = 16 * 1024
DISCARD_BYTES: Final = 512 * 1024
DISCARD_UNKNOWN_BYTES: Final = 64 * 1024  # of a body that does not say how long it is
DISCARD_SECONDS: Final = 1.0
FIELD_NAMES: Final = ("content_type", "encoding", "metadata", "on_duplicate", "on_same_name")


@dataclass(slots=True)
class _Part:
    name: str = ""
    filename: str | None = None
    declared_type: str | None = None
    begins_at: int | None = None  # place of its first byte in the network chunk that holds it
    headers: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_file(self) -> bool:
        return self.name == "file"


class _Events:
    """Turns the parser's callbacks into a queue of (part, data); None data ends the part."""

    def __init__(self) -> None:
        self.queue: deque[tuple[_Part, bytes | None]] = deque()
        self.ended = False
        self._part = _Part()
        self._name = b""
        self._value = b""
        self._header_bytes = 0
        self._parts = 0

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise InvalidInputError(f"The form has more than {MAX_PARTS} parts.")
        self._part, self._header_bytes = _Part(), 0

    def _grow(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > MAX_HEADER_BYTES:
            raise InvalidInputError("The headers of a form part are too long.")

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._grow(end - start)
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._grow(end - start)
        self._value += data[start:end]

    def _header_end(self) -> None:
        name = self._name.decode("latin-1").strip().lower()
        self._part.headers.append((name, _text(self._value)))
        self._name = self._value = b""

    def _headers_finished(self) -> None:
        part = self._part
        for name, value in part.headers:
            if name == "content-disposition":
                given = disposition_parameters(value)
                part.name = given.get("name", "")
                part.filename = given.get("filename")
            elif name == "content-type":
                part.declared_type = value.strip()[:200]

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._part.begins_at is None:
            self._part.begins_at = start
        self.queue.append((self._part, data[start:end]))

    def _part_end(self) -> None:
        self.queue.append((self._part, None))

    def _end(self) -> None:
        self.ended = True


class UploadForm:
    """The form of one upload request; satisfies `IncomingFile`."""

    def __init__(self, request: Request, limits: ServiceLimits, *, idle_seconds: float) -> None:
        self._stream = request.stream().__aiter__()
        self._boundary = _boundary(request.headers.get("content-type", ""))
        self._length = _length(request.headers.get("content-length", ""))
        self._taken = 0
        self._limits = limits
        self._idle_seconds = idle_seconds
        self._events = _Events()
        self._values: dict[str, bytes] = {}
        self._file: _Part | None = None
        self._file_at: int | None = None
        self._pending: deque[bytes] = deque()
        self._file_ended = False
        self._body_ended = False
        self._parser: MultipartParser | None = None

    @property
    def filename(self) -> str | None:
        """The name that the client gave."""
        return self._file.filename if self._file else None

    @property
    def declared_type(self) -> str | None:
        """The media type of the file's part."""
        return self._file.declared_type if self._file else None

    @property
    def expected_bytes(self) -> int | None:
        """The most that the file can hold, as the length of the request says; None: it says none.

        Exact if nothing follows the file in the form but the line break that all clients send.
        Known once the form began.
        """
        if self._length is None or self._file_at is None or self._boundary is None:
            return None
        end = len(self._boundary) + len(b"\r\n----\r\n")
        return max(0, self._length - self._file_at - end)

    async def begin(self) -> None:
        """Read until the file begins.

        Raises:
            RequestValidationError: the form has no file.
            InvalidInputError: this is no form, or it is damaged or too large.
        """
        if self._boundary is None:
            raise _missing_file()
        self._parser = MultipartParser(self._boundary, self._events.callbacks())
        while self._file is None:
            if not await self._read():
                raise _missing_file()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the bytes of the file, then read the fields that follow it."""
        while True:
            while self._pending:
                yield self._pending.popleft()
            if not await self._read():
                return

    def fields(self) -> UploadFields:
        """Return the small fields; complete once `chunks` ended.

        Raises:
            InvalidInputError: a field does not hold what it should.
        """
        values = {name: _text(value).strip() for name, value in self._values.items()}
        for name, choices in (("on_duplicate", OnDuplicate), ("on_same_name", OnSameName)):
            if (values.get(name) or "keep") not in set(choices):
                raise InvalidInputError(f"{name} must be one of: {', '.join(choices)}.")
        return UploadFields(
            content_type=values.get("content_type") or None,
            encoding=values.get("encoding") or None,
            metadata=parse_metadata(values.get("metadata"), self._limits),
            on_duplicate=OnDuplicate(values.get("on_duplicate") or "keep"),
            on_same_name=OnSameName(values.get("on_same_name") or "keep"),
        )

    async def discard(self) -> None:
        """Read a little of what is left, so that a client that sends first hears the answer."""
        if (left := self._worth_discarding()) == 0:
            return
        with contextlib.suppress(Exception):
            async with asyncio.timeout(DISCARD_SECONDS):
                async for chunk in self._stream:
                    left -= len(chunk)
                    if left <= 0:
                        return

    def _worth_discarding(self) -> int:
        """Return how much to read: who has much more to send should rather be told at once."""
        if self._length is None:
            return DISCARD_UNKNOWN_BYTES
        left = self._length - self._taken
        return left if left <= DISCARD_BYTES else 0

    async def _read(self) -> bool:
        """Take one network chunk in; False at the end of the body."""
        if self._body_ended:
            return False
        try:
            async with asyncio.timeout(self._idle_seconds):
                chunk = await anext(self._stream, None)
        except TimeoutError as exc:
            raise NotReadyError("No bytes arrived for too long; the upload was given up.") from exc
        if chunk is None:
            self._finish()
            return False
        assert self._parser is not None, "begin() makes the parser"
        try:
            self._parser.write(chunk)
        except FormParserError as exc:
            raise InvalidInputError("The form data is not valid.") from exc
        self._sort()
        self._taken += len(chunk)
        return True

    def _finish(self) -> None:
        self._body_ended = True
        if not self._events.ended:
            raise InvalidInputError("The form data ends too early.")

    def _sort(self) -> None:
        while self._events.queue:
            part, data = self._events.queue.popleft()
            if part.is_file:
                self._take_file(part, data)
            elif data is not None and part.name in FIELD_NAMES:
                self._take_field(part.name, data)

    def _take_file(self, part: _Part, data: bytes | None) -> None:
        if self._file is None:
            self._file = part
            self._file_at = self._taken + (part.begins_at or 0)
        if part is not self._file:
            raise InvalidInputError("One request uploads one file.")
        if data:
            self._pending.append(data)

    def _take_field(self, name: str, data: bytes) -> None:
        value = self._values.get(name, b"") + data
        if len(value) > self._limits.form_field_bytes:
            raise TooLargeError(f"The field '{name}' is too long.")
        self._values[name] = value


def _boundary(content_type: str) -> bytes | None:
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary or len(boundary) > 200:
        return None
    return boundary


def _length(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _missing_file() -> RequestValidationError:
    return RequestValidationError(
        [{"type": "missing", "loc": ("body", "file"), "msg": "Field required", "input": None}]
    )


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
