"""Every parser of this package whose libraries are installed here."""

from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.registry import can_run
from agentscope.rag.parser.text import TextParser


def default_parsers() -> list[ParserBase]:
    """Return one instance of each parser that can run here and now."""
    parsers: list[ParserBase] = [
        TextParser(),
        PDFParser(),
        # Parsers of office, e-book, mail and picture formats are added here.
    ]
    return [parser for parser in parsers if can_run(parser)]
