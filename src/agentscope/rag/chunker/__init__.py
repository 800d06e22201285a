"""Chunkers: sections in, chunks of embeddable size out."""

from agentscope.rag.chunker.approx_token import ApproxTokenChunker
from agentscope.rag.chunker.base import ChunkerBase
from agentscope.rag.chunker.structure import StructureChunker

__all__ = ["ApproxTokenChunker", "ChunkerBase", "StructureChunker"]
