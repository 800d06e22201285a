"""Quotas in Redis: judged by the script that writes."""

from agentscope.app.records import Limits, Usage
from agentscope.app.storage import totals
from agentscope.app.storage.redis import scripts
from agentscope.app.storage.redis.commit import Commit
from agentscope.app.storage.redis.server import ConflictOnCommit, RedisServer
from agentscope.app.transitions import quota

_COUNTERS = {
    quota.PENDING: ("unfinished",),
    quota.DOCUMENTS: ("unfinished", "ready", "error"),
    quota.STORED_BYTES: ("size_bytes", "arriving_bytes"),
}


async def usage(server: RedisServer, user_id: str) -> Usage:
    """Return what counts against the quotas of the user."""
    keys = server.keys
    places = [keys.user(user_id), keys.user_knowledge_bases(user_id), keys.user_creating(user_id)]
    *found, held = await server.run(scripts.USAGE, places, *totals.HELD)
    counters = dict(zip(totals.HELD, map(int, found), strict=True))
    return totals.usage(counters, knowledge_bases=int(held))


def check(commit: Commit, user_id: str, limits: Limits, adds: Usage) -> None:
    """Write only if the user has room for that much more."""
    keys = commit.keys
    for name, counters in _COUNTERS.items():
        limit, added = quota.limit_of(limits, name), getattr(adds, name)
        if added > 0 and limit:
            commit.check_sum(keys.user(user_id), counters, limit - added)
    if adds.knowledge_bases and limits.knowledge_bases_per_user:
        most = limits.knowledge_bases_per_user - adds.knowledge_bases
        owned, creating = keys.user_knowledge_bases(user_id), keys.user_creating(user_id)
        commit.check_sizes(owned, creating, most)


async def write(
    server: RedisServer, commit: Commit, user_id: str, limits: Limits, adds: Usage
) -> None:
    """Write if the user has room for that much more.

    Raises:
        QuotaExceededError: there is none.
        ConflictOnCommit: something checked does not stand any more, or room was made meanwhile.
    """
    check(commit, user_id, limits, adds)
    if await server.commit(commit):
        return
    refused = quota.exceeded(await usage(server, user_id), limits, adds=adds)
    if refused is None:
        raise ConflictOnCommit
    raise refused
