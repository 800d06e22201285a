"""Files go to the parser of their override, type, extension or content, in this order."""

import logging

import pytest

from agentscope.errors import UnsupportedMediaTypeError
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.installed import default_parsers
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.registry import ParserRegistry
from agentscope.rag.parser.text import TextParser
from agentscope.testing.parser import read

TEXT, PDF = TextParser(), PDFParser()
REGISTRY = ParserRegistry([TEXT, PDF])
PDF_HEAD = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3"


def routed(
    filename: str, declared: str | None = None, head: bytes = b"words", explicit: str | None = None
) -> str:
    return REGISTRY.route(filename, declared=declared, explicit=explicit, head=head).media_type


@pytest.mark.parametrize(
    ("filename", "declared", "media_type"),
    [
        ("notes.md", "application/octet-stream", "text/markdown"),
        ("notes.md", "text/plain", "text/markdown"),
        ("table.csv", "application/vnd.ms-excel", "text/csv"),
        ("a.txt", "text/plain; charset=gbk", "text/plain"),
        ("SCAN.PDF", None, "application/pdf"),
        ("a.bin", "text/html", "text/html"),
        ("a.yaml", "text/yaml", "application/x-yaml"),
        ("a.xml", "TEXT/XML", "text/xml"),
        ("README", None, "text/plain"),
        ("dir\\a.JSON", "", "application/json"),
        ("x.log", "text/x-log", "text/plain"),
    ],
)
def test_names_and_types_lead_to_the_type(
    filename: str, declared: str | None, media_type: str
) -> None:
    """Generic declared types yield to the extension; parameters and case do not matter."""
    assert routed(filename, declared) == media_type


def test_the_override_goes_first() -> None:
    """Also against name, declaration and content."""
    assert routed("a.pdf", "application/pdf", PDF_HEAD, "text/plain") == "text/plain"
    with pytest.raises(UnsupportedMediaTypeError):
        routed("a.txt", explicit="video/mp4")


def test_a_pdf_named_like_a_text_is_read_as_pdf_and_noted() -> None:
    """The note says what was found."""
    route = REGISTRY.route("a.txt", declared="text/plain", explicit=None, head=PDF_HEAD)
    assert route.parser is PDF
    assert route.note == "The file is named like a text but is a PDF."


def test_content_decides_when_nothing_else_does() -> None:
    """No extension and no useful type."""
    assert routed("upload", "application/octet-stream", PDF_HEAD) == "application/pdf"
    assert routed("upload.weird", None, PDF_HEAD) == "application/pdf"


@pytest.mark.parametrize(
    ("filename", "declared", "head"),
    [
        ("a.xyz", "application/x-xyz", b"words"),
        ("a.xyz", None, b"words"),
        ("a", None, bytes(range(32)) * 4),
        ("a.png", "image/png", b"\x89PNG\r\n\x1a\n"),
        ("a.txt", "text/plain", b"\x89PNG\r\n\x1a\n"),
    ],
)
def test_unknown_types_are_refused_with_what_is_supported(
    filename: str, declared: str | None, head: bytes
) -> None:
    """At upload, not later."""
    with pytest.raises(UnsupportedMediaTypeError) as caught:
        routed(filename, declared, head)
    assert ".pdf" in caught.value.message


class CustomParser(ParserBase):
    """Written against the public contract only."""

    supported_media_types = ["text/markdown", "application/x-custom"]  # noqa: RUF012


def test_a_later_parser_takes_over_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Only the types it shares."""
    custom = type("Custom", (CustomParser,), {"parse": lambda *_: []})()
    with caplog.at_level(logging.WARNING):
        registry = ParserRegistry([TEXT, custom])
    assert registry.parser_for("text/markdown") is custom
    assert registry.parser_for("text/plain") is TEXT
    assert "parser_overridden" in caplog.text


def test_a_mapping_is_taken_as_it_stands() -> None:
    """One parser under any names; extensions follow the names."""
    registry = ParserRegistry({"text/plain": TEXT, "application/x-notes": TEXT, "text/html": TEXT})
    assert registry.supported_media_types() == ["application/x-notes", "text/html", "text/plain"]
    assert {".txt", ".html"} <= set(registry.supported_extensions())
    assert ".pdf" not in registry.supported_extensions()
    route = registry.route("x", declared="application/x-notes", explicit=None, head=b"")
    assert route.media_type == "application/x-notes"


def test_parsers_without_their_libraries_are_not_offered() -> None:
    """What is advertised can be read here and now."""

    class Missing(PDFParser):
        required_modules = ("no_such_module_here",)

    registry = ParserRegistry([TEXT, Missing()])
    assert "application/pdf" not in registry.supported_media_types()


def test_the_default_parsers_can_all_run() -> None:
    """And together they read at least text and PDF."""
    registry = ParserRegistry(default_parsers())
    assert {"text/plain", "application/pdf"} <= set(registry.supported_media_types())


def test_text_named_pdf_is_a_clear_error() -> None:
    """The parser says what is wrong."""
    route = REGISTRY.route("a.pdf", declared="application/pdf", explicit=None, head=b"words")
    with pytest.raises(ValueError, match="not a PDF"):
        read(route.parser, b"just words", "a.pdf")
