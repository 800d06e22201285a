"""Blob stores: local files; S3, Google and Azure."""

from agentscope.app.rag.blob_store.azure import AzureBlobStore
from agentscope.app.rag.blob_store.base import AsyncReadable, BlobStoreBase, StreamingBlobStore
from agentscope.app.rag.blob_store.documented import as_streaming
from agentscope.app.rag.blob_store.google import GoogleBlobStore
from agentscope.app.rag.blob_store.local import LocalBlobStore
from agentscope.app.rag.blob_store.s3 import S3BlobStore

__all__ = [
    "AsyncReadable",
    "AzureBlobStore",
    "BlobStoreBase",
    "GoogleBlobStore",
    "LocalBlobStore",
    "S3BlobStore",
    "StreamingBlobStore",
    "as_streaming",
]
