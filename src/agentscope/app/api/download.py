"""The route that hands out originals, whole or in ranges."""

import re
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.responses import StreamingResponse

from agentscope.app.api.deps import ServiceDep, check_reach, identified, state_of
from agentscope.app.api.disposition import content_disposition
from agentscope.app.api.responses import json_response
from agentscope.app.rag.service.download import Original, open_original, viewer_of_token
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.errors import AuthenticationError, BlobNotFoundError
from agentscope.rag.parser.media_types import plain_media_type

router = APIRouter(prefix="/knowledge_bases/{knowledge_base_id}/documents", tags=["documents"])

INLINE = frozenset(
    {
        "text/plain",
        "text/markdown",
        "application/pdf",
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "image/bmp",
    }
)
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_BYTES: dict[str, Any] = {"*/*": {"schema": {"type": "string", "format": "binary"}}}


class NoSuchRangeError(Exception):
    """The range that was asked for lies outside the file."""


@router.get(
    "/{document_id}",
    response_class=Response,
    responses={
        200: {"description": "The original file.", "content": _BYTES},
        206: {"description": "Part of the original file.", "content": _BYTES},
        416: {"description": "The range lies outside the file."},
    },
)
async def get_original(
    request: Request,
    service: ServiceDep,
    knowledge_base_id: str,
    document_id: str,
    download: Annotated[bool, Query(description="Always as an attachment.")] = False,
    token: Annotated[
        str | None, Query(max_length=4000, description="Replaces the identity header.")
    ] = None,
    x_user_id: Annotated[str | None, Header(description="The tenant of the request.")] = None,
) -> Response:
    """Download the original file of a document."""
    del x_user_id
    viewer_id = await _viewer(request, service, token, knowledge_base_id, document_id)
    original = await open_original(service, viewer_id, knowledge_base_id, document_id)
    try:
        start, end = _range_of(request.headers, original)
    except NoSuchRangeError:
        body = {"detail": "The range lies outside the file.", "code": "range_not_satisfiable"}
        return json_response(body, 416, headers={"Content-Range": f"bytes */{original.size}"})
    headers = _headers(original, download=download)
    pieces = service.blobs.read_range(original.document.blob_uri, start, end)
    first = await _first(pieces)
    if original.size is not None:
        stop = original.size if end is None else end
        headers["Content-Length"] = str(stop - start)
        headers["Accept-Ranges"] = "bytes"
    status = 200
    if (start, end) != (0, None):
        status = 206
        headers["Content-Range"] = f"bytes {start}-{(end or 0) - 1}/{original.size}"
    return StreamingResponse(_with_first(first, pieces), status, headers)


async def _viewer(
    request: Request,
    service: KnowledgeBaseService,
    token: str | None,
    knowledge_base_id: str,
    document_id: str,
) -> str:
    if token is not None:
        return viewer_of_token(service, token, knowledge_base_id, document_id)
    caller = await identified(request)
    if caller is None:
        header = state_of(request).identity.header
        raise AuthenticationError(f"{header} header or download token is required.")
    await state_of(request).rates.request(caller.user_id)
    check_reach(caller, request)
    return caller.user_id


def _headers(original: Original, *, download: bool) -> dict[str, str]:
    document = original.document
    media_type = plain_media_type(document.content_type) or "application/octet-stream"
    kind = "inline" if media_type in INLINE and not download else "attachment"
    shown = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
    headers = {
        "Content-Type": shown,
        "Content-Disposition": content_disposition(kind, document.filename),
        "Cache-Control": "private, max-age=60",
        "X-Content-Type-Options": "nosniff",
    }
    if media_type != "application/pdf":  # a sandboxed frame cannot run the browser's PDF viewer
        headers["Content-Security-Policy"] = (
            "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        )
    if document.content_sha256:
        headers["ETag"] = f'"{document.content_sha256}"'
    return headers


def _range_of(headers: Any, original: Original) -> tuple[int, int | None]:
    """Return [start, end) of a single byte range; anything else means the whole file."""
    match = _RANGE.fullmatch(headers.get("range", "").strip())
    size = original.size
    if match is None or size is None or match[1] == match[2] == "":
        return 0, None
    condition = headers.get("if-range")
    if condition is not None and condition != f'"{original.document.content_sha256}"':
        return 0, None
    if match[1] == "":
        start, end = max(0, size - int(match[2])), size
    else:
        start = int(match[1])
        end = min(size, int(match[2]) + 1) if match[2] else size
        if match[2] and int(match[2]) < start:
            return 0, None
    if start >= size:
        raise NoSuchRangeError
    return start, end


async def _first(pieces: AsyncIterator[bytes]) -> bytes:
    """Read the first piece before the answer begins, so that a vanished file is still a 404."""
    try:
        return await anext(pieces, b"")
    except FileNotFoundError as exc:
        raise BlobNotFoundError from exc


async def _with_first(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece
