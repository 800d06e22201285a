"""E-mail messages (EML): headers, body, forwarded messages and attachments."""

import email.errors
import email.header
import email.message
import email.parser
import email.utils
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from agentscope.errors import CorruptFileError, EncryptedFileError, ParseLimitError
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.attachments import ATTACHMENTS_MAX, AttachmentReader
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.encoding import detect
from agentscope.rag.parser.flow import Flow, counted, one_line
from agentscope.rag.parser.hypertext import html_text

FILE_BYTES_MAX = 256 << 20
PARTS_MAX = 2_000
DEPTH_MAX = 8
_HEADERS = ("Subject", "From", "To", "Cc", "Date")
_PROTECTED = frozenset({"application/pgp-encrypted", "application/pkcs7-mime"})
Message = email.message.Message


class EmailParser(SyncParser):
    """Reads messages; `attachments` decides what attached files become."""

    supported_media_types: ClassVar[list[str]] = ["message/rfc822"]
    required_modules = ("lxml",)

    def __init__(self, attachments: AttachmentReader | None = None) -> None:
        self.attachments = attachments

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [".eml"]

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        """Yield the message first, then what is attached; the name is in the metadata there."""
        del options
        if isinstance(file, Path) and file.stat().st_size > FILE_BYTES_MAX:
            raise ParseLimitError(filename=filename)
        data = file if isinstance(file, bytes) else file.read_bytes()
        if b"\0" in data[:1024]:
            raise CorruptFileError("The file is not an e-mail message.", filename=filename)
        yield from counted(message_sections(data, filename, report, self.attachments), report)


def message_sections(
    data: bytes, source: str, report: ParseReport, attachments: AttachmentReader | None
) -> Iterator[Section]:
    """Yield the sections of one message.

    Raises:
        EncryptedFileError: the body is encrypted and nothing else is there.
        ParseLimitError: messages nest too deeply.
    """
    try:
        message = email.parser.BytesParser().parsebytes(data)
    except (RecursionError, ValueError, LookupError) as exc:
        raise ParseLimitError("The message is nested too deeply.", filename=source) from exc
    parts = _Parts()
    _collect(message, parts, 0)
    text = "\n\n".join(filter(str.strip, parts.texts))
    if parts.protected and not any(map(str.strip, parts.bodies)):
        raise EncryptedFileError(filename=source)
    flow = Flow(source)
    yield from flow.paragraph(text)
    yield from flow.flush()
    if parts.cut:
        report.warn("Parts of the message beyond the depth or number allowed were left out.")
    for name, media_type, content in parts.attached:
        if attachments is None:
            report.warn("Attachments were left out.")
            break
        yield from attachments.sections(content, name, media_type, source, report)


@dataclass(slots=True)
class _Parts:
    """What was found on the way through one message."""

    texts: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    attached: list[tuple[str, str, bytes]] = field(default_factory=list)
    count: int = 0
    protected: bool = False
    cut: bool = False

    def add_body(self, text: str) -> None:
        self.texts.append(text)
        self.bodies.append(text)


def _collect(message: Message, parts: _Parts, depth: int) -> None:
    """Add a whole message: its headers, then its content."""
    lines = [f"{name}: {value}" for name in _HEADERS if (value := header(message, name))]
    parts.texts.append("\n".join(lines))
    _collect_part(message, parts, depth)


def _collect_part(part: Message, parts: _Parts, depth: int) -> None:
    parts.count += 1
    if depth > DEPTH_MAX * 2 or parts.count > PARTS_MAX:
        parts.cut = True
        return
    kind = part.get_content_type()
    if kind in _PROTECTED and part.get_param("smime-type") != "signed-data":
        parts.protected = True
    elif kind == "multipart/alternative":
        _collect_alternative(part, parts, depth)
    elif part.is_multipart():
        collect = _collect if kind.startswith("message/") else _collect_part
        for inner in part.get_payload():
            if isinstance(inner, Message):
                collect(inner, parts, depth + 1)
    else:
        _collect_leaf(part, kind, parts)


def _collect_leaf(part: Message, kind: str, parts: _Parts) -> None:
    is_text = kind.startswith("text/") or kind == "message/delivery-status"
    if kind.startswith("multipart/"):
        return
    if _is_attachment(part) or not is_text:
        if len(parts.attached) >= ATTACHMENTS_MAX:
            parts.cut = True
        else:
            parts.attached.append((_name(part), kind, _content(part)))
    else:
        parts.add_body(html_text(_text(part)) if kind == "text/html" else _text(part))


def _collect_alternative(part: Message, parts: _Parts, depth: int) -> None:
    """Take the plain form; add the HTML form where it says much that the plain form does not."""
    plain = _Parts(count=parts.count)
    rich = _Parts(count=parts.count)
    for inner in part.get_payload() if part.is_multipart() else ():
        if isinstance(inner, Message):
            is_plain = inner.get_content_type() == "text/plain"
            _collect_part(inner, plain if is_plain else rich, depth + 1)
    parts.count = max(plain.count, rich.count)
    parts.cut = parts.cut or plain.cut or rich.cut
    parts.protected = parts.protected or plain.protected or rich.protected
    parts.attached += plain.attached + rich.attached
    said = _words("\n".join(plain.bodies))
    chosen = list(plain.bodies)
    for body in rich.bodies:
        words = _words(body)
        if len(words - said) * 4 > len(words):
            chosen.append(body)
    for body in chosen:
        parts.add_body(body)


def _words(text: str) -> set[str]:
    """Return the words, each ideograph for itself, to see how much two texts share."""
    words = set(text.casefold().split())
    return {
        word
        for found in words
        for word in ([found] if found.isascii() else list(found))
        if "://" not in word
    }


def _is_attachment(part: Message) -> bool:
    if part.get_content_disposition() == "attachment":
        return True
    kind = part.get_content_type()
    return bool(_name(part)) and not kind.startswith(("text/plain", "text/html"))


def header(message: Message, name: str) -> str:
    """Return a header in one line, its encoded words decoded as well as they can be."""
    raw = message.get(name)
    return one_line(_decoded(str(raw))) if raw is not None else ""


def _decoded(value: str) -> str:
    try:
        pieces = email.header.decode_header(value)
    except (email.errors.HeaderParseError, ValueError):
        return value
    decoded: list[str] = []
    for piece, charset in pieces:
        if isinstance(piece, bytes):
            decoded.append(_decode(piece, charset if charset != "unknown-8bit" else None))
        else:
            decoded.append(piece)
    return "".join(decoded)


def _name(part: Message) -> str:
    try:
        found = part.get_filename()
    except (ValueError, LookupError, TypeError):
        return ""
    return one_line(_decoded(str(found))) if found else ""


def _content(part: Message) -> bytes:
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        return b""
    return payload if isinstance(payload, bytes) else b""


def _text(part: Message) -> str:
    return _decode(_content(part), part.get_content_charset())


def _decode(data: bytes, charset: str | None) -> str:
    """Decode by the stated charset if it fits, else by what the bytes look like."""
    for name in (charset, "utf-8"):
        try:
            return data.decode(name) if name else data.decode("ascii")
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    try:
        return data.decode(detect(data), "replace")
    except (CorruptFileError, LookupError):
        return data.decode("cp1252", "replace")
