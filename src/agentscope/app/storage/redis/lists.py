"""Pages, filters and orders in Redis."""

from collections.abc import Sequence

from agentscope.app.records import DocumentQuery, Page
from agentscope.app.storage.codec import folded
from agentscope.app.storage.redis import scripts
from agentscope.app.storage.redis.keys import Keys
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
    server: RedisServer, keys: Keys, ids: Sequence[str], query: DocumentQuery, page: Page
) -> list[str]:
    """Return ids of the documents that match, in the order of the page."""
    field = _FIELDS[page.order_by]
    needle = folded(query.filename_contains or "")
    statuses = None if query.statuses is None else {str(status) for status in query.statuses}
    rows: list[tuple[str | int, str]] = []
    for start in range(0, len(ids), SLICE):
        part = ids[start : start + SLICE]
        answer = await server.run(
            scripts.FIELDS,
            [keys.document(name) for name in part],
            *("name", "status", "type", field),
        )
        for name, (title, status, content_type, value) in zip(part, answer, strict=True):
            if (
                title is not None
                and needle in title
                and (statuses is None or status in statuses)
                and query.content_type in (None, content_type)
            ):
                rows.append((value if field == "name" else int(value), name))
    rows.sort(key=lambda row: (row[0], row[1]), reverse=page.descending)
    return [name for _, name in rows]
