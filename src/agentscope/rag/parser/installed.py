"""Every parser of this package whose libraries are installed here."""

from agentscope.rag.parser.attachments import AttachmentReader
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.email import EmailParser
from agentscope.rag.parser.epub import EPUBParser
from agentscope.rag.parser.excel import ExcelParser
from agentscope.rag.parser.image import ImageParser
from agentscope.rag.parser.msg import OutlookParser
from agentscope.rag.parser.ocr import RapidPageOcr, is_installed
from agentscope.rag.parser.opendocument import OpenDocumentParser
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.ppt import PPTParser
from agentscope.rag.parser.ppt97 import LegacyPPTParser
from agentscope.rag.parser.registry import can_run
from agentscope.rag.parser.rtf import RTFParser
from agentscope.rag.parser.svg import SVGParser
from agentscope.rag.parser.text import TextParser
from agentscope.rag.parser.word import WordParser
from agentscope.rag.parser.word97 import LegacyWordParser


def default_parsers() -> list[ParserBase]:
    """Return one instance of each parser that can run here and now."""
    parsers: list[ParserBase] = [
        TextParser(),
        PDFParser(ocr=RapidPageOcr() if is_installed() else None),
        WordParser(),
        PPTParser(),
        ExcelParser(separate_sheet=True),
        OpenDocumentParser(),
        RTFParser(),
        LegacyWordParser(),
        LegacyPPTParser(),
        EPUBParser(),
        ImageParser(),
        SVGParser(),
    ]
    parsers = [parser for parser in parsers if can_run(parser)]
    attachments = AttachmentReader(parsers)
    messages: list[ParserBase] = [EmailParser(attachments), OutlookParser(attachments)]
    return [*parsers, *(parser for parser in messages if can_run(parser))]
