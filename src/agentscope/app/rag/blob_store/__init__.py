"""Blob stores: local files; S3 and alike."""

from agentscope.app.rag.blob_store.base import AsyncReadable, BlobStoreBase, StreamingBlobStore
from agentscope.app.rag.blob_store.documented import as_streaming
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.blob_store.s3 import S3BlobStore

__all__ = [
    "AsyncReadable",
    "BlobStoreBase",
    "LocalBlobStore",
    "S3BlobStore",
    "StreamingBlobStore",
    "as_streaming",
]
