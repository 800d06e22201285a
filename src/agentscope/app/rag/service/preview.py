"""How a text or a document would be cut, without indexing it."""

from agentscope.app.rag.service.opening import open_document, open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.rag.service.previewer import Preview, Previewer, PreviewSource
from agentscope.app.records import ChunkerConfig
from agentscope.errors import ConflictError


async def preview_text(
    service: KnowledgeBaseService,
    text: str,
    *,
    filename: str,
    content_type: str | None,
    chunker_config: ChunkerConfig | None,
) -> Preview:
    """Return how a text would be cut that nothing keeps.

    Raises:
        InvalidInputError: the chunker is unknown, or its parameters do not fit.
        ConflictError: this process reads no documents.
        What `Previewer.preview` raises.
    """
    chunker = service.chunkers.build(service.chunkers.config(chunker_config))
    source = PreviewSource(filename, content_type, text=text)
    return await _previewer(service).preview(source, chunker)


async def preview_document(
    service: KnowledgeBaseService,
    viewer_id: str,
    knowledge_base_id: str,
    document_id: str,
    chunker_config: ChunkerConfig | None,
) -> Preview:
    """Return how a stored original would be cut; without a wish by its knowledge base's chunker.

    Raises:
        KnowledgeBaseNotFoundError, DocumentNotFoundError: not visible to the viewer.
        InvalidInputError: the chunker is unknown, or its parameters do not fit.
        ConflictError: this process reads no documents.
        What `Previewer.preview` raises.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id)
    document = await open_document(service, opened, document_id)
    wanted = opened.record.chunker_config
    if chunker_config is not None:
        wanted = service.chunkers.config(chunker_config)
    source = PreviewSource(
        document.filename,
        document.content_type,
        blob_uri=document.blob_uri,
        encoding=document.encoding,
    )
    return await _previewer(service).preview(source, service.chunkers.build(wanted))


def _previewer(service: KnowledgeBaseService) -> Previewer:
    if service.previewer is None:
        raise ConflictError("This part of the service reads no documents, so it has no previews.")
    return service.previewer
