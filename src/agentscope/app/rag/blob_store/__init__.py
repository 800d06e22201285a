"""Blob stores: local files; S3 and alike."""

from agentscope.app.rag.blob_store.base import AsyncReadable, BlobStoreBase, StreamingBlobStore

__all__ = ["AsyncReadable", "BlobStoreBase", "StreamingBlobStore"]
