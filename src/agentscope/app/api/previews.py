"""Routes that show how something would be cut, without indexing it."""

from fastapi import APIRouter, Response

from agentscope.app.api.deps import CallerDep, ServiceDep
from agentscope.app.api.responses import json_response
from agentscope.app.api.schemas import previews as shapes
from agentscope.app.api.schemas.wire import ChunkerConfigBody
from agentscope.app.rag.service.preview import preview_document, preview_text
from agentscope.app.rag.service.previewer import Preview
from agentscope.app.records import ChunkerConfig

router = APIRouter(prefix="/knowledge_bases", tags=["chunk previews"])


@router.post("/chunkers/preview", response_model=shapes.PreviewResponse)
async def post_text_preview(
    caller: CallerDep, service: ServiceDep, body: shapes.PreviewTextRequest
) -> Response:
    """Show how a text would be cut."""
    del caller
    preview = await preview_text(
        service,
        body.text,
        filename=body.filename,
        content_type=body.content_type,
        chunker_config=_wanted(body.chunker_config),
    )
    return _shown(preview)


@router.post(
    "/{knowledge_base_id}/documents/{document_id}/chunks/preview",
    response_model=shapes.PreviewResponse,
)
async def post_document_preview(
    caller: CallerDep,
    service: ServiceDep,
    knowledge_base_id: str,
    document_id: str,
    body: shapes.PreviewDocumentRequest,
) -> Response:
    """Show how a stored document would be cut by another chunker."""
    preview = await preview_document(
        service,
        caller.user_id,
        knowledge_base_id,
        document_id,
        _wanted(body.chunker_config),
    )
    return _shown(preview)


def _wanted(body: ChunkerConfigBody | None) -> ChunkerConfig | None:
    return ChunkerConfig(body.type, body.parameters) if body else None


def _shown(preview: Preview) -> Response:
    return json_response(
        {
            "chunks": preview.chunks,
            "total": preview.total,
            "media_type": preview.report.media_type,
            "warnings": preview.report.warnings,
        }
    )
