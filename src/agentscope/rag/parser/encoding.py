"""Which encoding a text file has: by mark, by structure, by what the text then says."""

import codecs
from pathlib import Path

from agentscope.errors import CorruptFileError
from agentscope.rag.parser.decoding import blocks, head_of

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"\x84\x31\x95\x33", "gb18030"),
)


def detect(file: bytes | Path, hint: str | None = None) -> str:
    """Return the codec name under which `file` reads as text; `hint` is what the file claims.

    Raises:
        CorruptFileError: the content is binary.
    """
    del hint
    head = head_of(file, 4096)
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if is_utf8(file):
        return "utf-8"
    if head.count(0) * 3 > len(head):
        raise CorruptFileError("The file is binary, not text.")
    return "cp1252"


def is_utf8(file: bytes | Path) -> bool:
    """Tell whether the whole file is valid UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    try:
        for block in blocks(file):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def known_codec(name: str) -> str | None:
    """Return the codec's own name, or None if Python has no text codec of that name."""
    try:
        info = codecs.lookup(name.strip().strip("\"'"))
    except (LookupError, ValueError):
        return None
    return info.name if getattr(info, "_is_text_encoding", True) else None
