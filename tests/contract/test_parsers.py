"""Binds the parser suite to the parsers of text formats and PDF."""

import io

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.text import TextParser
from agentscope.testing.parser import ParserSuite


def pdf_of(*pages: str) -> bytes:
    """Return a PDF with one line of text on each page; an empty line leaves the page blank."""
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=A4, invariant=True)
    for text in pages:
        canvas.drawString(72, 720, text)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


class TextSuite(ParserSuite):
    """What all text formats share."""

    def parser(self) -> ParserBase:
        return TextParser()

    def broken(self) -> list[bytes]:
        return [b"", b" \r\n\t", bytes(range(256)) * 8, b"\x89PNG\r\n\x1a\n" + bytes(200)]


class TestPlainText(TextSuite):
    """A plain text in a national encoding."""

    filename, words = "greeting.txt", "こんにちは世界"

    def sample(self) -> bytes:
        return "こんにちは世界。これは短い文章です。\n".encode("shift_jis") + b"nul\x00here\n"


class TestMarkdown(TextSuite):
    """Markdown stays as it is."""

    filename, words = "notes.md", "## Second"

    def sample(self) -> bytes:
        return b"# First\n\ntext\n\n## Second\n\nmore text\n"


class TestHtml(TextSuite):
    """A page without its scripts."""

    filename, words = "page.html", "Visible words"

    def sample(self) -> bytes:
        return b"<title>T</title><script>var hidden</script><p>Visible <b>words</b></p>"


class TestTable(TextSuite):
    """Comma-separated values."""

    filename, words = "cities.csv", "Ulm,126000"

    def sample(self) -> bytes:
        return b"city,people\nUlm,126000\nKiel,247000\n"


class TestJson(TextSuite):
    """JSON with escapes."""

    filename, words = "data.json", "知识"

    def sample(self) -> bytes:
        return b'{"name": "\\u77e5\\u8bc6", "list": [1, 2, {"deep": true}]}'


class TestXml(TextSuite):
    """XML elements."""

    filename, words = "data.xml", "Bread & butter"

    def sample(self) -> bytes:
        return b"<?xml version='1.0'?><menu><dish>Bread &amp; butter</dish></menu>"


class TestPdf(ParserSuite):
    """Pages of a PDF."""

    filename, words = "report.pdf", "Second page speaks"

    def parser(self) -> ParserBase:
        return PDFParser()

    def sample(self) -> bytes:
        return pdf_of("First page", "Second page speaks", "")

    def broken(self) -> list[bytes]:
        return [b"", b"just some words", b"%PDF-1.7\n", pdf_of("x")[:60], pdf_of("")]
