"""Reading the chunks of a document as a search may show them."""

from agentscope.app.rag.service.opening import open_document, open_knowledge_base
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.rag.document import Chunk


async def list_chunks(
    service: KnowledgeBaseService,
    viewer_id: str,
    knowledge_base_id: str,
    document_id: str,
    *,
    page: int,
    page_size: int,
) -> tuple[list[Chunk], int]:
    """Return one page of the active run, by ascending index, and how many chunks it has.

    Needs no embedding model, so it works after the credential is gone.

    Raises:
        KnowledgeBaseNotFoundError, DocumentNotFoundError: not visible to the viewer.
        NotImplementedError: the vector store cannot list chunks.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id)
    document = await open_document(service, opened, document_id)
    offset = (page - 1) * page_size
    if document.active_run_id is None or offset >= document.chunk_count:
        return [], document.chunk_count
    chunks = await service.manager.store.run_chunks(
        opened.record.collection_name,
        document.id,
        document.active_run_id,
        offset=offset,
        limit=page_size,
    )
    return chunks, document.chunk_count
