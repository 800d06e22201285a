"""Routing: any name, type and content gives a route or a clear refusal."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope.errors import UnsupportedMediaTypeError
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.registry import ParserRegistry
from agentscope.rag.parser.text import TextParser

REGISTRY = ParserRegistry([TextParser(), PDFParser()])
NAMES = st.one_of(
    st.text(max_size=20),
    st.builds(
        lambda stem, extension: stem + extension,
        st.text(max_size=8),
        st.sampled_from([".txt", ".PDF", ".Md", ".csv", ".xyz", ".tar.gz", ".", ""]),
    ),
)
TYPES = st.one_of(
    st.none(),
    st.text(max_size=20),
    st.sampled_from(
        [
            "text/plain; charset=gbk",
            "APPLICATION/PDF",
            "application/octet-stream",
            "application/vnd.ms-excel",
            "text/x-unknown",
            "image/png",
        ]
    ),
)
HEADS = st.one_of(st.binary(max_size=64), st.sampled_from([b"%PDF-1.7", b"PK\x03\x04", b"words"]))


@settings(max_examples=300, deadline=None)
@given(NAMES, TYPES, TYPES, HEADS)
def test_every_file_gets_a_parser_or_a_refusal(
    filename: str, declared: str | None, explicit: str | None, head: bytes
) -> None:
    """The route names a supported type; the refusal lists what is supported."""
    try:
        route = REGISTRY.route(filename, declared=declared, explicit=explicit, head=head)
    except UnsupportedMediaTypeError as refusal:
        assert ".pdf" in refusal.message
        return
    assert route.media_type in REGISTRY.supported_media_types()
    assert REGISTRY.parser_for(route.media_type) is route.parser
