"""Where the points of a knowledge base lie: told by the name of the collection, never by settings.

So a knowledge base stays where it was made, and works on and is removed whole, whichever kind of
manager a process has.
"""

import re
from typing import Any

from agentscope.app.records import KnowledgeBaseRecord
from agentscope.rag.vector_store.base import RunVectorStore
from agentscope.rag.vector_store.filter import Equals

KB_FIELD = "kb_id"
_OWN_NAME = re.compile(r"kb_.+_\d+")


def own_name(knowledge_base_id: str, generation: int) -> str:
    """Return the name of a collection that belongs to one knowledge base."""
    return f"kb_{knowledge_base_id}_{generation}"


def is_own(name: str) -> bool:
    """Say whether the collection belongs to one knowledge base."""
    return _OWN_NAME.fullmatch(name) is not None


def restriction(record: KnowledgeBaseRecord) -> dict[str, Any] | None:
    """Return the filter for a search in the collection of the knowledge base."""
    return None if is_own(record.collection_name) else {KB_FIELD: record.id}


async def remove_points(store: RunVectorStore, record: KnowledgeBaseRecord, name: str) -> None:
    """Remove what the knowledge base has in a collection; its own goes as a whole."""
    if is_own(name):
        await store.delete_collection(name)
    else:
        await store.delete_where(name, Equals(KB_FIELD, record.id))
