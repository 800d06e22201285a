"""Documents on the wire."""

from typing import Any

from pydantic import BaseModel

from agentscope.app.api.schemas.wire import StatusName
from agentscope.rag.document import Chunk


class ErrorDetail(BaseModel):
    """Why the last run did not end in `ready`."""

    code: str
    message: str
    stage: str
    retryable: bool
    attempt: int


class ProgressView(BaseModel):
    """How far the document is; `total` is 0 while unknown."""

    stage: str
    done: int
    total: int
    unit: str


class KnowledgeDocumentView(BaseModel):
    """One document."""

    id: str
    filename: str
    size: int
    content_type: str | None
    status: StatusName
    error: str | None
    chunk_count: int
    created_at: str
    updated_at: str
    error_detail: ErrorDetail | None
    progress: ProgressView
    warnings: list[str]
    content_sha256: str | None
    searchable: bool
    duplicate_of: str | None
    metadata: dict[str, Any]
    paused_reason: str | None


class KnowledgeDocumentInfo(KnowledgeDocumentView):
    """One document with what its last run found out."""

    knowledge_base_id: str
    encoding: str | None
    report: dict[str, Any]
    next_attempt_at: str | None


class ListKnowledgeDocumentsResponse(BaseModel):
    """One page of documents."""

    documents: list[KnowledgeDocumentView]
    total: int
    page: int
    page_size: int


class ListKnowledgeDocumentStatusResponse(BaseModel):
    """The documents asked for, in the order asked for; unknown ones are left out."""

    items: list[KnowledgeDocumentView]


class UploadKnowledgeDocumentResponse(BaseModel):
    """The accepted document; with `on_duplicate=skip` it may be one that was there before."""

    document_id: str
    filename: str
    status: StatusName
    duplicate_of: str | None = None
    stored: bool = True


class ReindexFailedResponse(BaseModel):
    """How many documents were queued again."""

    queued: int


class ListDocumentChunksResponse(BaseModel):
    """One page of chunks, in document order."""

    chunks: list[Chunk]
    total: int
    page: int
    page_size: int


class DocumentDownloadTokenResponse(BaseModel):
    """A token for one document; `expires_at` is in Unix seconds."""

    token: str
    expires_at: float
