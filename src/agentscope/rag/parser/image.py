"""Pictures: for models that see, and as recognised text for those that read."""

import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from agentscope.errors import CorruptFileError, ParseError, ParseLimitError
from agentscope.optional import require
from agentscope.rag.document import ParseReport, Section
from agentscope.rag.parser.base import ParseOptions, SyncParser
from agentscope.rag.parser.flow import (
    PICTURE_BYTES_MAX,
    picture_section,
    picture_type,
    plain_text,
    text_section,
)
from agentscope.rag.parser.ocr import RapidPageOcr, is_installed
from agentscope.rag.parser.pdf_engine import PageOcr

FILE_BYTES_MAX = 256 << 20
PIXELS_MAX = 100_000_000
FRAMES_MAX = 200
FRAMES_PIXELS_MAX = 1_000_000_000
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "AVIF", "ICO")
_SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/bmp", "image/webp"})
_PAGED = frozenset({"TIFF"})
_SIDE_MAX = 4_096


class ImageParser(SyncParser):
    """Reads pictures; the text in them too, when a recogniser is given or installed."""

    supported_media_types: ClassVar[list[str]] = [
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/bmp",
        "image/webp",
        "image/tiff",
        "image/avif",
        "image/vnd.microsoft.icon",
    ]
    required_modules = ("PIL",)

    def __init__(self, ocr: PageOcr | None = None) -> None:
        self.ocr = ocr if ocr is not None else RapidPageOcr() if is_installed() else None

    @classmethod
    def supported_extensions(cls) -> list[str]:
        return [
            ".avif", ".bmp", ".gif", ".ico", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp",
        ]  # fmt: skip

    def iter_sections(
        self, file: bytes | Path, filename: str, options: ParseOptions, report: ParseReport
    ) -> Iterator[Section]:
        """Yield the picture, then its text; a TIFF gives both for each page.

        An animation gives its first frame. The picture comes as it is, unless no model takes its
        format or size: then as PNG, or as JPEG if it is very large.
        """
        del options
        report.coverage.unit = "image"
        if isinstance(file, Path) and file.stat().st_size > FILE_BYTES_MAX:
            raise ParseLimitError(filename=filename)
        data = file if isinstance(file, bytes) else file.read_bytes()
        pillow = require("PIL.Image", package="pillow", extra="all")
        pillow.init()  # without it, `formats` only finds what happens to be loaded
        with _guarded(pillow, filename):
            formats = [name for name in _FORMATS if name in pillow.OPEN]
            image = pillow.open(io.BytesIO(data), formats=formats)
        pages = min(getattr(image, "n_frames", 1), FRAMES_MAX) if image.format in _PAGED else 1
        budget = FRAMES_PIXELS_MAX
        for page in range(pages):
            with _guarded(pillow, filename):
                image.seek(page)
                budget -= _check_size(image, filename)
                image.load()
            if budget < 0:
                report.warn(f"Only the first {page} pages were read.")
                break
            metadata = {"page": page + 1} if pages > 1 else {}
            report.coverage.total += 1
            yield self._picture(image, data, filename, metadata)
            text = self._text(image, filename, report)
            if text:
                report.coverage.with_text += 1
                yield text_section(text, filename, {**metadata, "part": "ocr"})
            else:
                report.coverage.without_text.append(page + 1)

    @staticmethod
    def _picture(image: Any, data: bytes, source: str, metadata: dict[str, Any]) -> Section:
        media_type = picture_type(data)
        if media_type in _SHOWN and len(data) <= PICTURE_BYTES_MAX:
            return picture_section(data, media_type, source, metadata)
        stream = io.BytesIO()
        if image.width * image.height > _SIDE_MAX * _SIDE_MAX or len(data) > PICTURE_BYTES_MAX:
            small = _plain(image).convert("RGB")
            small.thumbnail((_SIDE_MAX, _SIDE_MAX))
            small.save(stream, "JPEG", quality=90)
            return picture_section(stream.getvalue(), "image/jpeg", source, metadata)
        _plain(image).save(stream, "PNG")
        return picture_section(stream.getvalue(), "image/png", source, metadata)

    def _text(self, image: Any, filename: str, report: ParseReport) -> str:
        if self.ocr is None:
            report.warn("Text in pictures was not read: text recognition is not installed.")
            return ""
        operations = require("PIL.ImageOps", package="pillow", extra="all")
        try:
            upright = operations.exif_transpose(image)
        except (ValueError, TypeError, SyntaxError, LookupError, OSError):
            upright = image
        try:
            return plain_text(self.ocr.read(upright)).strip()
        except MemoryError as exc:
            raise ParseLimitError("The picture is too large.", filename=filename) from exc


def _plain(image: Any) -> Any:
    """Return the image in a mode that every writer takes."""
    if image.mode in {"RGB", "RGBA", "L", "LA", "1", "P"}:
        return image
    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return image.convert("RGB")


def _check_size(image: Any, filename: str) -> int:
    pixels = int(image.width) * int(image.height)
    if pixels > PIXELS_MAX:
        raise ParseLimitError("The picture has more pixels than allowed.", filename=filename)
    return pixels


class _guarded:  # noqa: N801 - reads as a word of the language, like contextlib's own
    """Turns what Pillow raises on hostile input into our errors."""

    def __init__(self, pillow: Any, filename: str) -> None:
        self.pillow = pillow
        self.filename = filename
        self.silence = warnings.catch_warnings()

    def __enter__(self) -> None:
        self.silence.__enter__()
        warnings.simplefilter("ignore")

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.silence.__exit__(kind, error, trace)
        if isinstance(error, ParseError) or not isinstance(error, Exception):
            return
        if isinstance(error, MemoryError | self.pillow.DecompressionBombError):
            raise ParseLimitError(
                "The picture unpacks to more data than allowed.", filename=self.filename
            ) from error
        raise CorruptFileError(
            "The picture is damaged or not of its type.", filename=self.filename
        ) from error
