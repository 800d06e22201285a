"""Two readers of PDF files behind one shape: PDFium first, pdf-oxide for what PDFium refuses.

PDFium is not thread-safe, so every call into it holds one lock of this process; none of the
calls waits for anything but the processor.
"""

import ctypes
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from agentscope.errors import CorruptFileError, EncryptedFileError
from agentscope.optional import require

_MAX_BOOKMARKS = 10_000
_MAX_DEPTH = 12
_OCR_DPI = 200
_MAX_PIXELS = 12_000_000
_PLAIN_SEGMENTS = 20
_LEAST_UNITS = 1 << 14
_lock = threading.Lock()


@runtime_checkable
class PageOcr(Protocol):
    """Reads the text in a picture of a page."""

    def read(self, image: Any) -> str:
        """Return the text of `image` (a `PIL.Image.Image`), in reading order; empty if none."""
        ...


class PageUnreadableError(Exception):
    """One page cannot be read; the others may be fine."""


class PdfiumReader:
    """A PDF opened with PDFium.

    Raises:
        EncryptedFileError: it needs a password, or another one.
        CorruptFileError: PDFium cannot open it.
    """

    name = "pdfium"

    def __init__(self, file: bytes | Path, password: str | None) -> None:
        self._library = require("pypdfium2", package="pypdfium2", extra="pdf")
        self._buffer: Any = None
        with _lock:
            try:
                self._document = self._library.PdfDocument(file, password=password)
                self.page_count = len(self._document)
            except self._library.PdfiumError as exc:
                if "assword" in str(exc):
                    raise EncryptedFileError(
                        "The PDF is encrypted; remove the password and upload it again."
                    ) from exc
                raise CorruptFileError(
                    "The PDF is damaged and cannot be opened.", context={"cause": str(exc)}
                ) from exc

    def text(self, page: int) -> str:
        """Return the text of a page as PDFium orders it, or raise `PageUnreadableError`."""
        with _lock:
            return self._text(page)

    def _text(self, page: int) -> str:
        """Call PDFium itself: the objects around it cost a tenth of the time of a page."""
        raw = self._library.raw
        handle = raw.FPDF_LoadPage(self._document.raw, page)
        if not handle:
            raise PageUnreadableError
        try:
            text_page = raw.FPDFText_LoadPage(handle)
            if not text_page:
                raise PageUnreadableError
            try:
                count = raw.FPDFText_CountChars(text_page)
                if count <= 0:
                    return ""
                # Characters outside the basic plane take two units; PDFium writes a NUL last.
                units = self._room_for(2 * count + 1)
                written = raw.FPDFText_GetText(text_page, 0, count, units)
                text = memoryview(units).cast("B")[: 2 * max(0, written - 1)]
                return str(text, "utf-16-le", "ignore")
            finally:
                raw.FPDFText_ClosePage(text_page)
        finally:
            raw.FPDF_ClosePage(handle)

    def _room_for(self, units: int) -> Any:
        """Return the buffer for text; a new size costs more than a page, so it grows in steps."""
        if self._buffer is None or len(self._buffer) < units:
            self._buffer = (ctypes.c_ushort * max(_LEAST_UNITS, 1 << units.bit_length()))()
        return self._buffer

    def label(self, page: int) -> str:
        """Return the printed page number, empty if the file names none."""
        with _lock:
            raw, document = self._library.raw, self._document.raw
            size = raw.FPDF_GetPageLabel(document, page, None, 0)
            if size <= 2:
                return ""
            label = ctypes.create_string_buffer(size)
            raw.FPDF_GetPageLabel(document, page, label, size)
            return label.raw[: size - 2].decode("utf-16-le", "ignore").strip()

    def outline(self) -> list[tuple[int, int, str]]:
        """Return (page from 0, level from 0, title) of the bookmarks, in document order."""
        with _lock:
            try:
                return list(self._bookmarks())
            except (self._library.PdfiumError, UnicodeError, ValueError):
                return []

    def _bookmarks(self) -> Iterator[tuple[int, int, str]]:
        for number, bookmark in enumerate(self._document.get_toc(max_depth=_MAX_DEPTH)):
            if number >= _MAX_BOOKMARKS:
                return
            target = bookmark.get_dest()
            page = target.get_index() if target else None
            if page is not None and page >= 0:
                yield page, bookmark.level, str(bookmark.get_title())

    def picture(self, page: int) -> Any:
        """Return the page as a `PIL.Image.Image` of at most 12 megapixels.

        A page with no more than a few lines and boxes, which cannot hold writing, gives None.
        """
        with _lock:
            try:
                handle = self._document[page]
                try:
                    return self._rendered(handle) if self._may_hold_writing(handle) else None
                finally:
                    handle.close()
            except (self._library.PdfiumError, ValueError) as exc:
                raise PageUnreadableError from exc

    def _may_hold_writing(self, page: Any) -> bool:
        """Pictures, glyphs and notes always count; letters drawn as outlines have many segments."""
        raw = self._library.raw
        segments = 0
        for drawn in page.get_objects(max_depth=1):
            segments += max(0, raw.FPDFPath_CountSegments(drawn.raw))
            if drawn.type != raw.FPDF_PAGEOBJ_PATH or segments > _PLAIN_SEGMENTS:
                return True
        return bool(raw.FPDFPage_GetAnnotCount(page.raw))

    def _rendered(self, page: Any) -> Any:
        width, height = page.get_size()
        area = max(width * height, 1.0)
        scale = min(_OCR_DPI / 72, (_MAX_PIXELS / area) ** 0.5)
        bitmap = page.render(scale=scale, grayscale=True)
        try:
            return bitmap.to_pil().copy()
        finally:
            bitmap.close()

    def close(self) -> None:
        """Release the file."""
        with _lock:
            self._document.close()


class OxideReader:
    """A PDF opened with pdf-oxide, which repairs more than PDFium does.

    Raises:
        CorruptFileError: there is nothing to repair, or the package is missing.
    """

    name = "pdf-oxide"

    def __init__(self, file: bytes | Path, password: str | None) -> None:
        library = require("pdf_oxide", package="pdf-oxide", extra="pdf")
        library.disable_logging()
        try:
            if isinstance(file, Path):
                self._document = library.PdfDocument(str(file), password=password)
            else:
                self._document = library.PdfDocument.from_bytes(file, password=password)
            self.page_count = int(self._document.page_count())
        except (RuntimeError, OSError, ValueError) as exc:
            raise CorruptFileError(
                "The PDF is damaged and cannot be opened.", context={"cause": str(exc)}
            ) from exc

    def text(self, page: int) -> str:
        """Return the text of a page, or raise `PageUnreadableError`.

        A page whose own content shows no character is blank, even if an annotation has words:
        in a damaged file those are no page of the document.
        """
        try:
            if not self._document.extract_chars(page):
                return ""
            return str(self._document.extract_text(page))
        except (RuntimeError, OSError, ValueError, IndexError) as exc:
            raise PageUnreadableError from exc
