"""Which encoding a text file has: by mark, by structure, by what the text then says.

The order: byte order mark; UTF-8 if the whole file is valid; escape sequences of the seven-bit
sets; and else every plausible codec reads a sample, and the reading that looks most like a
written language wins. What a file claims about itself only tips the scale.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agentscope.errors import CorruptFileError
from agentscope.rag.parser import charsets
from agentscope.rag.parser.decoding import blocks, head_of
from agentscope.rag.parser.language_data import LANGUAGES, Language
from agentscope.rag.parser.language_score import best_language, reading_of
from agentscope.rag.parser.magic import sniffed

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_SAMPLE = 6144
_SAMPLE_LINE = 512
_HEAD = 64 * 1024
_HINT_BONUS = 10.0
_ERROR_COST = 16.0
_ERRORS_MAX = 0.02
_FEW_BYTES = 256
_FEW_HIGH_BYTES = 8
_CONTROLS_MAX = 0.02
_NUL_MAX = 0.2
_EBCDIC = ("cp500", "cp037", "cp273", "cp1026", "cp424", "cp875")
_WIDE = ("utf-16-le", "utf-16-be")
_HIGH = re.compile(rb"[\x80-\xff\x00-\x08\x0e-\x1f]")
_LINE_END = re.compile(rb"[\r\n]+|\Z")
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd-\uffff]")
_RAW_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]|\x1b\$\([@DOPQ]|\x1b\([JI]")
_ISO_2022_KR = re.compile(rb"\x1b\$\)C")
_HZ = re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e])+~\}")
# A name that a file declares often means the larger set that programs really use.
_LARGER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
}
_ALIASES = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "x-big5": "big5hkscs",
    "ks_c_5601-1987": "cp949",
    "ksc5601": "cp949",
    "windows-949": "cp949",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "macintosh": "mac_roman",
    "x-mac-roman": "mac_roman",
    "x-mac-ce": "mac_latin2",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "unicode": "utf-16",
    "ucs-2": "utf-16",
}

# How much rarer than the usual one of its kind a codec is, as a log-probability.
_PRIORS = {
    "utf-8": 0.0,
    "cp1252": 0.0,
    "cp1250": 0.0,
    "cp1251": 0.0,
    "cp1253": 0.0,
    "cp1254": 0.0,
    "cp1255": 0.0,
    "cp1256": 0.0,
    "cp1257": 0.0,
    "cp1258": -1.0,
    "cp874": 0.0,
    "gb18030": 0.0,
    "big5hkscs": 0.0,
    "cp932": 0.0,
    "euc_jp": 0.0,
    "cp949": 0.0,
    "koi8_r": 0.0,
    "koi8_u": -0.5,
    "iso8859_2": -0.5,
    "iso8859_15": -0.5,
    "cp866": -1.0,
    "cp850": -2.5,
    "cp852": -2.5,
    "mac_roman": -2.5,
    "cp437": -3.0,
    "tis_620": -0.5,
}
_OTHER_PRIOR = -2.0
_RARE_PRIOR = -5.0
_RARE = frozenset(
    [
        "mac_arabic",
        "mac_farsi",
        "viscii",
        "tcvn",
        "ptcp154",
        "kz1048",
        "johab",
        "cp860",
        "cp861",
        "cp863",
        "cp864",
        "cp1125",
    ]
)

assert charsets is not None  # imported because it registers codecs


@dataclass(frozen=True, slots=True)
class Guess:
    """A reading of a sample and how it was judged; `score` is a log-likelihood."""

    encoding: str
    score: float
    language: str
    text: str


def detect(file: bytes | Path, hint: str | None = None) -> str:
    """Return the codec name under which `file` reads as text; `hint` is what the file claims.

    Raises:
        CorruptFileError: the content is binary.
    """
    head = head_of(file, _HEAD)
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    structural = _seven_bit(head) or _utf32(head)
    if structural:
        return structural
    controls = len(_RAW_CONTROL.findall(head))
    utf8 = is_utf8(file)
    if utf8 and controls == 0:
        return _unless_too_short(head, hint)
    guess = best_guess(_sample(file), head[:_SAMPLE], known_codec(hint or ""), utf8)
    _refuse_binary(guess, head, controls)
    return guess.encoding


def _unless_too_short(head: bytes, hint: str | None) -> str:
    """Return UTF-8, unless the few bytes above ASCII are valid in it by accident.

    Two Chinese characters in GBK can be; then the reading must be far better than UTF-8's.
    """
    high = sum(byte >= 0x80 for byte in head[:_FEW_BYTES])
    if len(head) >= _FEW_BYTES or not 0 < high <= _FEW_HIGH_BYTES:
        return "utf-8"
    guess = best_guess(head, head, known_codec(hint or ""), True)
    plain = _judged(head, "utf-8", LANGUAGES, "utf-8")
    return guess.encoding if guess.score > plain.score else "utf-8"


def best_guess(sample: bytes, head: bytes, hint: str | None, utf8: bool) -> Guess:
    """Read the bytes with every plausible codec and return the likeliest reading.

    `sample` holds whole lines, `head` is the beginning of the file for codecs without lines.
    """
    guesses = [_judged(sample, codec, languages, hint) for codec, languages in _BY_CODEC.items()]
    if utf8 or hint == "utf-8" or _nearly_utf8(sample):
        guesses.append(_judged(sample, "utf-8", LANGUAGES, hint))
    scale = len(sample) / max(len(head), 1)
    wide: Iterable[str] = _WIDE if len(head) % 2 == 0 or len(head) >= _SAMPLE else ()
    even = head[: len(head) // 2 * 2]
    guesses += [_scaled(_judged(even, codec, LANGUAGES, hint), scale) for codec in wide]
    if _may_be_ebcdic(head):
        guesses += [_scaled(_judged(head, codec, LANGUAGES, hint), scale) for codec in _EBCDIC]
    return max(guesses, key=lambda guess: guess.score)


def _scaled(guess: Guess, scale: float) -> Guess:
    return Guess(guess.encoding, guess.score * scale, guess.language, guess.text)


def _judged(data: bytes, codec: str, languages: tuple[Language, ...], hint: str | None) -> Guess:
    try:
        text, errors = data.decode(codec), 0
    except UnicodeDecodeError:
        text = data.decode(codec, "replace")
        errors = text.count("\ufffd")
        if errors > 1 + len(data) * _ERRORS_MAX:
            return Guess(codec, float("-inf"), "", "")
        text = text.replace("\ufffd", "")
    score, language = best_language(reading_of(text), languages)
    bonus = _HINT_BONUS if hint and _LARGER.get(hint, hint) == _LARGER.get(codec, codec) else 0.0
    prior = _RARE_PRIOR if codec in _RARE else _PRIORS.get(codec, _OTHER_PRIOR)
    return Guess(codec, score + bonus + prior - errors * _ERROR_COST, language, text)


def _languages_by_codec() -> dict[str, tuple[Language, ...]]:
    found: dict[str, list[Language]] = {}
    for language in LANGUAGES:
        for codec in language.codecs:
            if codec not in _EBCDIC and codec != "hz":
                found.setdefault(codec, []).append(language)
    return {codec: tuple(languages) for codec, languages in found.items()}


_BY_CODEC = _languages_by_codec()


def _sample(file: bytes | Path) -> bytes:
    """Gather lines that hold something else than plain ASCII, from the whole file."""
    parts: list[bytes] = []
    size = 0
    for line in _telling_lines(file):
        parts.append(line)
        size += len(line)
        if size >= _SAMPLE:
            break
    return b"".join(parts)


def _telling_lines(file: bytes | Path) -> Iterator[bytes]:
    for number, block in enumerate(blocks(file, _HEAD)):
        if block.isascii() and not _RAW_CONTROL.search(block):
            continue
        # A block may begin and end inside a character; its own line ends are safe.
        start = 0 if number == 0 else max(block.find(b"\n"), 0)
        for line in _high_lines(block, start):
            yield line if len(line) <= _SAMPLE or len(block) < _SAMPLE else line[:_SAMPLE]


def _high_lines(block: bytes, start: int) -> Iterator[bytes]:
    """Yield the lines that hold a high byte or a control, with their ends; never looks back."""
    while (high := _HIGH.search(block, start)) is not None:
        found = max(
            block.rfind(b"\n", start, high.start()), block.rfind(b"\r", start, high.start())
        )
        end = _LINE_END.search(block, high.end())
        assert end is not None, "a block has an end"
        yield block[max(start, found + 1) : end.end()]
        start = end.end()


def is_utf8(file: bytes | Path) -> bool:
    """Tell whether the whole file is valid UTF-8."""
    return decodes(file, "utf-8")


def decodes(file: bytes | Path, encoding: str) -> bool:
    """Tell whether the whole file is valid in `encoding`."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    try:
        for block in blocks(file):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _nearly_utf8(sample: bytes) -> bool:
    """Tell whether most of the bytes above ASCII form UTF-8 sequences."""
    high = sum(byte >= 0x80 for byte in sample)
    valid = sample.decode("utf-8", "ignore")
    good = sum(len(char.encode()) for char in valid if char >= "\x80")
    return good >= 9 and good >= 0.95 * high


def _seven_bit(head: bytes) -> str | None:
    """Recognise the sets that switch by escape sequences and use no byte above 127."""
    if b"\x1b" not in head and b"~{" not in head:
        return None
    if _ISO_2022_KR.search(head):
        return "iso2022_kr"
    if _ISO_2022_JP.search(head):
        for codec in ("iso2022_jp", "iso2022_jp_2004", "iso2022_jp_ext"):
            if _reads(head, codec):
                return codec
        return "iso2022_jp_ext"
    if head.isascii() and _HZ.search(head) and _reads(head, "hz"):
        return "hz"
    return None


def _reads(head: bytes, codec: str) -> bool:
    decoder = codecs.getincrementaldecoder(codec)("strict")
    try:
        decoder.decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _utf32(head: bytes) -> str | None:
    """Recognise UTF-32 without a mark: of four bytes one is zero, another nearly always."""
    whole = head[: len(head) // 4 * 4]
    if len(whole) < 8 or (len(head) < _HEAD and len(head) % 4):
        return None
    for codec, zero in (("utf-32-le", 3), ("utf-32-be", 0)):
        if not any(whole[zero::4]):
            try:
                text = whole.decode(codec)
            except UnicodeDecodeError:
                continue
            if "\x00" not in text:
                return codec
    return None


def _may_be_ebcdic(head: bytes) -> bool:
    """In EBCDIC a space is 0x40, letters are above 0x80 and the ASCII space hardly occurs."""
    size = max(len(head), 1)
    letters = sum(byte >= 0x81 for byte in head)
    spaces = head.count(0x40)
    return spaces * 50 > size > head.count(0x20) * 100 and (letters + spaces) * 5 > size * 4


def _refuse_binary(guess: Guess, head: bytes, raw_controls: int) -> None:
    text = guess.text
    size = max(len(text), 1)
    if text.count("\x00") > 1 + size * _NUL_MAX:
        raise CorruptFileError("The file is binary, not text.")
    if len(_CONTROL.findall(text)) > 1 + size * _CONTROLS_MAX:
        raise CorruptFileError("The file is binary, not text.")
    if raw_controls and guess.encoding not in _WIDE and sniffed(head):
        raise CorruptFileError("The file is binary, not text.")


def known_codec(name: str) -> str | None:
    """Return Python's name for an encoding, or None if it has no text codec of that name."""
    plain = name.strip().strip("\"'").lower()
    if not plain:
        return None
    try:
        info = codecs.lookup(_ALIASES.get(plain, plain))
    except (LookupError, ValueError):
        return None
    return info.name if getattr(info, "_is_text_encoding", True) else None
