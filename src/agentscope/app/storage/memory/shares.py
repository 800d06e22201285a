"""Shares in memory."""

from agentscope.app.shares import ResourcePermission, ShareRecord
from agentscope.app.storage.base import ShareStorage
from agentscope.app.storage.memory.state import State
from agentscope.errors import KnowledgeBaseNotFoundError, QuotaExceededError


class InMemoryShares(ShareStorage):
    """Shares of one process."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def put(
        self,
        user_id: str,
        knowledge_base_id: str,
        viewer_id: str,
        permission: ResourcePermission,
        *,
        limit: int,
    ) -> ShareRecord:
        state, now = self._state, self._state.now()
        if state.active(user_id, knowledge_base_id) is None:
            raise KnowledgeBaseNotFoundError
        viewers = state.shares.setdefault(knowledge_base_id, {})
        old = viewers.get(viewer_id)
        if old is None and len(viewers) >= limit:
            raise QuotaExceededError("The knowledge base is shared with too many users.")
        record = ShareRecord(
            knowledge_base_id=knowledge_base_id,
            owner_id=user_id,
            viewer_id=viewer_id,
            permission=permission,
            created_at=old.created_at if old else now,
            updated_at=now,
        )
        viewers[viewer_id] = record
        state.shared_with.setdefault(viewer_id, {})[knowledge_base_id] = record
        return record

    async def get(self, viewer_id: str, knowledge_base_id: str) -> ShareRecord | None:
        return self._state.shares.get(knowledge_base_id, {}).get(viewer_id)

    async def of_knowledge_base(self, user_id: str, knowledge_base_id: str) -> list[ShareRecord]:
        if self._state.active(user_id, knowledge_base_id) is None:
            return []
        viewers = self._state.shares.get(knowledge_base_id, {})
        return [viewers[viewer_id] for viewer_id in sorted(viewers)]

    async def with_viewer(self, viewer_id: str, *, limit: int) -> list[ShareRecord]:
        found = list(self._state.shared_with.get(viewer_id, {}).values())
        found.sort(key=lambda record: (record.created_at, record.knowledge_base_id))
        return found[:limit]

    async def delete(self, user_id: str, knowledge_base_id: str, viewer_id: str) -> bool:
        record = await self.get(viewer_id, knowledge_base_id)
        if record is None or record.owner_id != user_id:
            return False
        del self._state.shares[knowledge_base_id][viewer_id]
        del self._state.shared_with[viewer_id][knowledge_base_id]
        return True
