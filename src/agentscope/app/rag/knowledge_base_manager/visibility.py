"""The hit check: what a search may show is decided by the records, at the moment of the search."""

from collections.abc import Collection, Mapping

from agentscope.app.records import KnowledgeBaseRecord
from agentscope.app.storage.base import StorageBase


class RecordVisibility:
    """◆ visibility: shows the active run of documents that exist in a live knowledge base."""

    def __init__(self, storage: StorageBase, knowledge_base: KnowledgeBaseRecord) -> None:
        self._storage = storage
        self._knowledge_base = knowledge_base

    async def active_runs(self, document_ids: Collection[str]) -> Mapping[str, str]:
        """Return the active run of each visible document, from one read."""
        records = await self._storage.documents.get_many(
            self._knowledge_base.user_id, self._knowledge_base.id, list(document_ids)
        )
        return {
            record.id: record.active_run_id
            for record in records.values()
            if record.active_run_id is not None
        }
