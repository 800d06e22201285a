"""Retrieval as a library: parse, chunk, embed, store and search, without the service.

parser/        a file in, sections out
chunker/       sections in, chunks out
vector_store/  chunks with vectors, per collection and run
knowledge_base the handle that puts them together
"""

from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.document import (
    Chunk,
    DocumentSummary,
    SearchHit,
    SearchMode,
    Section,
    VectorRecord,
    VectorSearchResult,
)
from agentscope.rag.federation import search_many
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.parser.base import ParserBase
from agentscope.rag.parser.excel import ExcelParser
from agentscope.rag.parser.image import ImageParser
from agentscope.rag.parser.pdf import PDFParser
from agentscope.rag.parser.ppt import PPTParser
from agentscope.rag.parser.text import TextParser
from agentscope.rag.parser.word import WordParser
from agentscope.rag.vector_store.base import RunVectorStore, VectorStoreBase
from agentscope.rag.vector_store.embedded import EmbeddedVectorStore
from agentscope.rag.vector_store.memory import InMemoryVectorStore
from agentscope.rag.vector_store.pgvector import PgVectorStore
from agentscope.rag.vector_store.qdrant import QdrantStore

__all__ = [
    "ApproxTokenChunker",
    "Chunk",
    "ChunkerBase",
    "DocumentSummary",
    "EmbeddedVectorStore",
    "ExcelParser",
    "ImageParser",
    "InMemoryVectorStore",
    "KnowledgeBase",
    "PDFParser",
    "PPTParser",
    "ParserBase",
    "PgVectorStore",
    "QdrantStore",
    "RunVectorStore",
    "SearchHit",
    "SearchMode",
    "Section",
    "TextParser",
    "VectorRecord",
    "VectorSearchResult",
    "VectorStoreBase",
    "WordParser",
    "search_many",
]
