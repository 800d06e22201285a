"""Parsers: a file in, sections in document order out."""

from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.email import EmailParser
from agentscope.rag.parser.epub import EPUBParser
from agentscope.rag.parser.excel import ExcelParser
from agentscope.rag.parser.image import ImageParser
from agentscope.rag.parser.msg import OutlookParser
from agentscope.rag.parser.opendocument import OpenDocumentParser
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.ppt import PPTParser
from agentscope.rag.parser.ppt97 import LegacyPPTParser
from agentscope.rag.parser.rtf import RTFParser
from agentscope.rag.parser.svg import SVGParser
from agentscope.rag.parser.text import TextParser
from agentscope.rag.parser.word import WordParser
from agentscope.rag.parser.word97 import LegacyWordParser

__all__ = [
    "EPUBParser",
    "EmailParser",
    "ExcelParser",
    "ImageParser",
    "LegacyPPTParser",
    "LegacyWordParser",
    "OpenDocumentParser",
    "OutlookParser",
    "PDFParser",
    "PPTParser",
    "ParserBase",
    "RTFParser",
    "SVGParser",
    "TextParser",
    "WordParser",
]
