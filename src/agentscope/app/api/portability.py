"""Routes that write a knowledge base to one file and read it back; both sides are streams."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from agentscope.app.api.deps import CallerDep, ServiceDep, WriterDep
from agentscope.app.api.disposition import content_disposition
from agentscope.app.api.responses import json_response
from agentscope.app.rag.service.export_knowledge_base import export_knowledge_base
from agentscope.app.rag.service.import_knowledge_base import (
    ImportOptions,
    ImportResult,
    import_knowledge_base,
)
from agentscope.errors import ArchiveIncompleteError, PermissionDeniedError

router = APIRouter(prefix="/knowledge_bases", tags=["portability"])

DISCARD_BYTES = 4 * 1024 * 1024
DISCARD_SECONDS = 2.0
MEDIA_TYPE = "application/x-tar"
_BINARY = {"schema": {"type": "string", "format": "binary"}}
ARCHIVE: dict[str, Any] = {
    "requestBody": {"required": True, "content": {MEDIA_TYPE: _BINARY}},
}


class ImportAsked(BaseModel):
    """What is to be otherwise than the archive says."""

    name: str | None = Field(default=None, max_length=10_000, description="Another name.")
    credential_id: str | None = Field(
        default=None, max_length=200, description="Credential of the embedding model."
    )
    model: str | None = Field(default=None, max_length=1000, description="Another model.")
    dimensions: int | None = Field(default=None, ge=1, le=100_000)
    copy_again: bool = Field(
        default=False, description="Make another knowledge base of an archive imported before."
    )


class ImportedDocuments(BaseModel):
    """What became of the documents."""

    carried: int = Field(description="Searchable at once, with their chunks and vectors.")
    queued: int = Field(description="To be indexed from their original files.")
    present: int = Field(description="There already; left as they are.")


class NotExported(BaseModel):
    """A document that the export had to leave out."""

    id: str
    filename: str
    reason: str


class ImportKnowledgeBaseResponse(BaseModel):
    """Where the archive went and what it brought."""

    knowledge_base_id: str
    name: str
    continued: bool = Field(description="An earlier import of the archive was gone on with.")
    vectors_carried: bool
    documents: ImportedDocuments
    notes: list[str]
    not_exported: list[NotExported]


@router.get(
    "/{knowledge_base_id}/export",
    response_class=Response,
    responses={200: {"description": "The archive.", "content": {MEDIA_TYPE: _BINARY}}},
)
async def get_export(caller: CallerDep, service: ServiceDep, knowledge_base_id: str) -> Response:
    """Download a knowledge base as one file: settings, originals, chunks and vectors."""
    export = await export_knowledge_base(service, caller.user_id, knowledge_base_id)
    first = await anext(export.pieces)
    headers = {
        "Content-Disposition": content_disposition("attachment", f"{export.record.name}.kb.tar"),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(
        _with_first(first, export.pieces), headers=headers, media_type=MEDIA_TYPE
    )


@router.post(
    "/import",
    status_code=201,
    response_model=ImportKnowledgeBaseResponse,
    openapi_extra=ARCHIVE,
)
async def post_import(
    request: Request,
    caller: WriterDep,
    service: ServiceDep,
    asked: Annotated[ImportAsked, Query()],
) -> Response:
    """Make a knowledge base from an exported file; after an interruption send it again."""
    if caller.knowledge_bases is not None:
        raise PermissionDeniedError("A key for certain knowledge bases cannot create others.")
    options = ImportOptions(
        name=asked.name,
        credential_id=asked.credential_id,
        model=asked.model,
        dimensions=asked.dimensions,
        copy=asked.copy_again,
    )
    idle = service.policy.timings.upload_ttl.total_seconds()
    pieces = _body(request, idle_seconds=idle)
    try:
        result = await import_knowledge_base(service, caller.user_id, pieces, options)
    except Exception:
        await _discard(pieces)
        raise
    return json_response(_view(result), 201)


def _view(result: ImportResult) -> dict[str, Any]:
    return {
        "knowledge_base_id": result.record.id,
        "name": result.record.name,
        "continued": result.continued,
        "vectors_carried": result.vectors_carried,
        "documents": {
            "carried": result.carried,
            "queued": result.queued,
            "present": result.present,
        },
        "notes": result.notes,
        "not_exported": [item.model_dump() for item in result.not_exported],
    }


async def _body(request: Request, *, idle_seconds: float) -> AsyncIterator[bytes]:
    stream = request.stream().__aiter__()
    while True:
        try:
            async with asyncio.timeout(idle_seconds):
                piece = await anext(stream, None)
        except (TimeoutError, ClientDisconnect) as exc:
            raise ArchiveIncompleteError(
                "The connection broke or stood still; send the archive again to go on."
            ) from exc
        if piece is None:
            return
        if piece:
            yield piece


async def _discard(pieces: AsyncIterator[bytes]) -> None:
    """Read a little of what is left, so that a client that sends first hears the answer."""
    left = DISCARD_BYTES
    with suppress(Exception):
        async with asyncio.timeout(DISCARD_SECONDS):
            async for piece in pieces:
                left -= len(piece)
                if left <= 0:
                    return


async def _with_first(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece
