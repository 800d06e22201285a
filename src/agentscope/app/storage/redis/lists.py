"""Pages, filters and orders in Redis."""

import json

from agentscope.app.records import DocumentQuery, Page
from agentscope.app.storage.codec import folded
from agentscope.app.storage.redis import scripts
from agentscope.app.storage.redis.server import RedisServer

SLICE = 1000  # records per command, so that one list never holds up the server
_FIELDS = {
    "created_at": "created",
    "updated_at": "updated",
    "name": "name",
    "size": "size",
    "chunks": "chunks",
}


async def first_page(
    server: RedisServer,
    ordered: str,
    page: Page,
    *,
    records: str,
    owner: tuple[str, str] | None = None,
) -> tuple[list[str], int]:
    """Return the bodies of one page in order of creation, and the size of the set."""
    start = (page.number - 1) * page.size
    answer = await server.run(
        scripts.PAGE,
        [ordered, owner[0] if owner else ordered],
        records,
        "ZREVRANGE" if page.descending else "ZRANGE",
        start,
        start + page.size - 1,
        owner[1] if owner else "",
    )
    return answer[1:], int(answer[0])


async def first_total(server: RedisServer, user_id: str, knowledge_base_id: str) -> int:
    """Return how many documents the user sees in the knowledge base."""
    keys = server.keys
    _, total = await first_page(
        server,
        keys.visible(knowledge_base_id),
        Page(size=1),
        records=f"{keys.root}doc:",
        owner=(keys.knowledge_base(knowledge_base_id), user_id),
    )
    return total


async def all_ids(server: RedisServer, ordered: str) -> list[str]:
    """Return all members of a sorted set, a slice at a time; changes meanwhile may show."""
    found: dict[str, None] = {}
    start = 0
    while True:
        part = await server.run(scripts.MEMBERS, [ordered], start, start + SLICE - 1)
        found.update(dict.fromkeys(part))
        if len(part) < SLICE:
            return list(found)
        start += SLICE


async def matching(
    server: RedisServer, knowledge_base_id: str, query: DocumentQuery, page: Page
) -> list[str]:
    """Return ids of the visible documents that match, in the order of the page."""
    keys, field = server.keys, _FIELDS[page.order_by]
    statuses = ""
    if query.statuses is not None:
        statuses = f",{','.join(sorted(query.statuses))},"
    found: dict[str, str] = {}
    start, total = 0, 1
    while start < total:
        answer = await server.run(
            scripts.MATCHING,
            [keys.visible(knowledge_base_id)],
            f"{keys.root}doc:",
            start,
            start + SLICE - 1,
            field,
            folded(query.filename_contains or ""),
            query.content_type or "",
            statuses,
        )
        part = json.loads(answer[1])
        found.update(zip(part[::2], part[1::2], strict=True))
        start, total = start + SLICE, int(answer[0])

    def place(name: str) -> tuple[str | int, str]:
        value = found[name]
        return (value if field == "name" else int(value), name)

    return sorted(found, key=place, reverse=page.descending)
