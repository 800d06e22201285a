"""Binds the chunker suite to every implementation."""

from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.chunker.structure import StructureChunker
from agentscope.testing.chunker import ChunkerSuite


class TestApproxTokenChunker(ChunkerSuite):
    """Windows of bytes."""

    def chunker(self, chunk_size: int, overlap: int) -> ChunkerBase:
        return ApproxTokenChunker(chunk_size=chunk_size, overlap=overlap)


class TestStructureChunker(ChunkerSuite):
    """Headings, paragraphs, rows."""

    def chunker(self, chunk_size: int, overlap: int) -> ChunkerBase:
        return StructureChunker(chunk_size=chunk_size, overlap=overlap)
