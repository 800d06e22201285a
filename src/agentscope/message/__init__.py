"""Content blocks: what sections, chunks and messages are made of."""

from agentscope.message.blocks import Base64Source, DataBlock, TextBlock, URLSource

__all__ = ["Base64Source", "DataBlock", "TextBlock", "URLSource"]
