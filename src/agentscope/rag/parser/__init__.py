"""Parsers: a file in, sections in document order out."""

from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.text import TextParser

# Parsers of office, e-book, mail and picture formats are added below this line.

__all__ = ["PDFParser", "ParserBase", "TextParser"]
