"""The route that takes a file in."""

from typing import Any

from fastapi import APIRouter, Request, Response

from agentscope.app.api.deps import ServiceDep, WriterDep
from agentscope.app.api.multipart import UploadForm
from agentscope.app.api.responses import json_response
from agentscope.app.api.schemas.documents import UploadKnowledgeDocumentResponse
from agentscope.app.rag.service.opening import open_knowledge_base
from agentscope.app.rag.service.upload import upload

router = APIRouter(prefix="/knowledge_bases/{knowledge_base_id}/documents", tags=["documents"])

FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "content_type": {
                            "type": "string",
                            "maxLength": 200,
                            "description": "Media type to read the file as.",
                        },
                        "encoding": {
                            "type": "string",
                            "maxLength": 40,
                            "description": "Text encoding, for text formats.",
                        },
                        "metadata": {
                            "type": "string",
                            "description": "A flat JSON object, for metadata filters.",
                        },
                        "on_duplicate": {
                            "type": "string",
                            "enum": ["keep", "skip", "replace", "reject"],
                            "default": "keep",
                            "description": "What to do if the same content is there already.",
                        },
                        "on_same_name": {
                            "type": "string",
                            "enum": ["keep", "replace", "reject"],
                            "default": "keep",
                            "description": "What to do about documents of the same name; `replace` "
                            "makes this their new version: they go once it is searchable.",
                        },
                    },
                }
            }
        },
    }
}


@router.post(
    "", status_code=201, response_model=UploadKnowledgeDocumentResponse, openapi_extra=FORM
)
async def post_document(
    request: Request, caller: WriterDep, service: ServiceDep, knowledge_base_id: str
) -> Response:
    """Upload a file; it is indexed in the background."""
    idle = service.policy.timings.upload_ttl.total_seconds()
    form = UploadForm(request, service.limits, idle_seconds=idle)
    try:
        await open_knowledge_base(service, caller.user_id, knowledge_base_id, edit=True)
        await form.begin()
        result = await upload(
            service,
            caller.user_id,
            knowledge_base_id,
            form,
            expected_bytes=form.expected_bytes,
        )
    except Exception:
        await form.discard()
        raise
    document = result.document
    return json_response(
        {
            "document_id": document.id,
            "filename": document.filename,
            "status": str(document.status),
            "duplicate_of": document.duplicate_of,
            "stored": result.stored,
        },
        201,
    )
