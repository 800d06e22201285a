"""Which of equally scored hits comes first."""

from collections.abc import Sequence
from typing import Any

from agentscope.embedding.base import EmbeddingInput, EmbeddingModelBase, EmbeddingResponse
from agentscope.message.blocks import TextBlock
from agentscope.rag.document import Chunk
from agentscope.rag.knowledge_base import KnowledgeBase
from agentscope.rag.vector_store.memory import InMemoryVectorStore


class Blind(EmbeddingModelBase):
    """Finds everything alike but the text with the identifier, which it finds far off."""

    model = "blind"
    dimensions = 2
    context_size = 1000
    batch_size = 64

    async def __call__(self, inputs: Sequence[EmbeddingInput], **kwargs: Any) -> EmbeddingResponse:
        texts = [item if isinstance(item, str) else getattr(item, "text", "") for item in inputs]
        far = [text.startswith("note") for text in texts]
        return EmbeddingResponse(embeddings=[[0.0, 1.0] if f else [1.0, 0.0] for f in far])


async def test_the_text_with_the_identifier_does_not_drown_among_ties() -> None:
    """Twenty texts are nearest in meaning, all with one score; one text has the word."""
    async with InMemoryVectorStore() as store:
        base = KnowledgeBase("b", "", Blind(), store, "b")
        await base.ensure_collection()
        texts = {f"a{n:02}": f"something else {n}" for n in range(20)}
        texts["z"] = "note on ERR-0x19 and more"
        for name, text in texts.items():
            chunk = Chunk(content=TextBlock(text=text), source=name, chunk_index=0, total_chunks=1)
            await base.insert_document([chunk], document_id=name)
        hits = await base.search(["ERR-0x19"], top_k=3)
        again = await base.search(["ERR-0x19"], top_k=3)
    assert hits[0].document_id == "z"
    assert [hit.document_id for hit in hits] == [hit.document_id for hit in again]
