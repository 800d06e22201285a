"""Listing the knowledge bases a viewer may see, and reading one."""

import asyncio
from dataclasses import dataclass, replace

from agentscope.app.rag.service.details import KnowledgeBaseDetails, describe
from agentscope.app.rag.service.names import is_id
from agentscope.app.rag.service.opening import (
    OpenedKnowledgeBase,
    open_knowledge_base,
    open_shared,
    shared_with,
)
from agentscope.app.rag.service.parts import KnowledgeBaseService
from agentscope.app.records import KnowledgeBaseRecord, Page
from agentscope.errors import KnowledgeBaseNotFoundError

_OWN_MERGED_MAX = 10_000
_READ_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class KnowledgeBaseQuery:
    """Which knowledge bases to list; None leaves a side open."""

    id: str | None = None
    name_contains: str | None = None
    only: frozenset[str] | None = None  # the caller's key reaches no others


async def get_knowledge_base(
    service: KnowledgeBaseService, viewer_id: str, knowledge_base_id: str
) -> KnowledgeBaseDetails:
    """Return one knowledge base.

    Raises:
        KnowledgeBaseNotFoundError: there is none that the viewer may see.
    """
    opened = await open_knowledge_base(service, viewer_id, knowledge_base_id)
    return (await describe(service, [opened]))[0]


async def list_knowledge_bases(
    service: KnowledgeBaseService, viewer_id: str, query: KnowledgeBaseQuery, page: Page
) -> tuple[list[KnowledgeBaseDetails], int]:
    """Return one page of what the viewer owns or was given access to, and the total."""
    if query.id is not None and not is_id(query.id):
        return [], 0
    if query.id is not None and query.only is None:
        query = replace(query, only=frozenset({query.id}))
    if query.only is not None:
        return await _reached(service, viewer_id, query, page)
    shared = await _shared(service, viewer_id, query)
    whole = Page(1, _OWN_MERGED_MAX, page.order_by, page.descending)
    records, total = await service.storage.knowledge_bases.page(
        viewer_id, whole if shared else page, name_contains=query.name_contains
    )
    own = [OpenedKnowledgeBase(record, editable=True, owned=True) for record in records]
    if not shared:
        return await describe(service, own), total
    return await _paged(service, [*own, *shared], page)


async def _paged(
    service: KnowledgeBaseService, items: list[OpenedKnowledgeBase], page: Page
) -> tuple[list[KnowledgeBaseDetails], int]:
    rows = sorted(items, key=lambda item: _key(item.record, page), reverse=page.descending)
    start = (page.number - 1) * page.size
    return await describe(service, rows[start : start + page.size]), len(rows)


async def _reached(
    service: KnowledgeBaseService, viewer_id: str, query: KnowledgeBaseQuery, page: Page
) -> tuple[list[KnowledgeBaseDetails], int]:
    """Return those of the few knowledge bases that a key names."""
    needle, found = (query.name_contains or "").casefold(), []
    for knowledge_base_id in sorted(query.only or ()):
        if query.id not in (None, knowledge_base_id):
            continue
        try:
            opened = await open_knowledge_base(service, viewer_id, knowledge_base_id)
        except KnowledgeBaseNotFoundError:
            continue  # deleted since the key was made
        if needle in opened.record.name.casefold():
            found.append(opened)
    return await _paged(service, found, page)


def _key(record: KnowledgeBaseRecord, page: Page) -> tuple[object, str]:
    return getattr(record, page.order_by), record.id


async def _shared(
    service: KnowledgeBaseService, viewer_id: str, query: KnowledgeBaseQuery
) -> list[OpenedKnowledgeBase]:
    found: dict[str, OpenedKnowledgeBase] = {}
    needle = (query.name_contains or "").casefold()
    refs = await shared_with(service, viewer_id)
    for start in range(0, len(refs), _READ_AT_ONCE):
        part = refs[start : start + _READ_AT_ONCE]
        for opened in await asyncio.gather(*(open_shared(service, viewer_id, ref) for ref in part)):
            if opened is None or needle not in opened.record.name.casefold():
                continue
            known = found.get(opened.record.id)
            editable = opened.editable or (known is not None and known.editable)
            found[opened.record.id] = replace(opened, editable=editable)
    return list(found.values())
