"""Knowledge bases with what a list shows beside the record: counts and the credential's name."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentscope.app.rag.service.opening import OpenedKnowledgeBase
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.rag.service.pauses import paused_reasons
from agentscope.app.records import Counts, KnowledgeBaseRecord
from agentscope.credential.local import LOCAL_CREDENTIAL_ID, LocalCredential


@dataclass(frozen=True, slots=True)
class KnowledgeBaseDetails:
    """One row of a list of knowledge bases."""

    record: KnowledgeBaseRecord
    editable: bool
    owned: bool
    counts: Counts
    credential_name: str | None  # None: the credential is gone
    paused_reason: str | None = None  # why nothing is indexed now


async def describe(
    service: KnowledgeBaseService, opened: Sequence[OpenedKnowledgeBase]
) -> list[KnowledgeBaseDetails]:
    """Return the details of each, in order, from one read of the counters."""
    if not opened:
        return []
    counts = await service.storage.knowledge_bases.counts([item.record.id for item in opened])
    names = await _credential_names(service, {item.record.user_id for item in opened})
    paused = await paused_reasons(service.storage, [item.record for item in opened])
    return [
        KnowledgeBaseDetails(
            record=item.record,
            editable=item.editable,
            owned=item.owned,
            counts=counts[item.record.id],
            credential_name=names.get(
                (item.record.user_id, item.record.embedding_model_config.credential_id)
            ),
            paused_reason=paused.get(item.record.id),
        )
        for item in opened
    ]


async def _credential_names(
    service: KnowledgeBaseService, owners: set[str]
) -> dict[tuple[str, str], str]:
    names: dict[tuple[str, str], str] = {}
    for owner in owners:
        if service.credentials.local_embedding:
            names[owner, LOCAL_CREDENTIAL_ID] = LocalCredential().name
        for record in await service.storage.credentials.list(owner):
            names[owner, record.id] = str(record.data.get("name") or record.data.get("type") or "")
    return names
