"""Shares in Redis: one hash per knowledge base, one sorted set per viewer."""

from agentscope.app.redis_connection import Script
from agentscope.app.shares import ResourcePermission, ShareRecord
from agentscope.app.storage.base import ShareStorage
from agentscope.app.storage.codec import from_micros
from agentscope.app.storage.redis.server import RedisServer
from agentscope.errors import KnowledgeBaseNotFoundError, QuotaExceededError

# Writes one share; the value is permission|created|updated|owner.
# KEYS: knowledge base, its shares, what is shared with the viewer.
# ARGV: owner, viewer, permission, knowledge base, limit, shift in microseconds.
PUT = Script(
    """
local base = redis.call('HMGET', KEYS[1], 'user', 'status')
if base[1] ~= ARGV[1] or base[2] ~= 'active' then return '' end
local old = redis.call('HGET', KEYS[2], ARGV[2])
if not old and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[5]) then return 'full' end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2] + tonumber(ARGV[6]))
local created = old and string.match(old, '^%a+|(%d+)|') or now
local value = ARGV[3] .. '|' .. created .. '|' .. now .. '|' .. ARGV[1]
redis.call('HSET', KEYS[2], ARGV[2], value)
redis.call('ZADD', KEYS[3], created, ARGV[4])
return value
"""
)

GET = Script("return redis.call('HGET', KEYS[1], ARGV[1]) or ''")

# Reads all shares of a knowledge base. KEYS: knowledge base, its shares. ARGV: owner.
ALL = Script(
    """
local base = redis.call('HMGET', KEYS[1], 'user', 'status')
if base[1] ~= ARGV[1] or base[2] ~= 'active' then return {} end
return redis.call('HGETALL', KEYS[2])
"""
)

# Reads what is shared with a viewer; what is gone is forgotten.
# KEYS: set of knowledge bases. ARGV: root, viewer, limit.
WITH_VIEWER = Script(
    """
local found, limit, start = {}, tonumber(ARGV[3]), 0
while #found < limit * 2 do
  local names = redis.call('ZRANGE', KEYS[1], start, start + limit - 1)
  for _, name in ipairs(names) do
    local value = redis.call('HGET', ARGV[1] .. 'shares:' .. name, ARGV[2])
    if not value then
      redis.call('ZREM', KEYS[1], name)
    elseif #found < limit * 2 then
      found[#found + 1] = name
      found[#found + 1] = value
      start = start + 1
    end
  end
  if #names < limit then break end
end
return found
"""
)

# Removes one share. KEYS: knowledge base, its shares, what is shared with the viewer.
# ARGV: owner, viewer, knowledge base.
DELETE = Script(
    """
if redis.call('HGET', KEYS[1], 'user') ~= ARGV[1] then return 0 end
redis.call('ZREM', KEYS[3], ARGV[3])
return redis.call('HDEL', KEYS[2], ARGV[2])
"""
)


class RedisShares(ShareStorage):
    """Shares of one server."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    def _names(self, knowledge_base_id: str, viewer_id: str) -> list[str]:
        keys = self._server.keys
        return [
            keys.knowledge_base(knowledge_base_id),
            keys.shares(knowledge_base_id),
            keys.shared_with(viewer_id),
        ]

    async def put(
        self,
        user_id: str,
        knowledge_base_id: str,
        viewer_id: str,
        permission: ResourcePermission,
        *,
        limit: int,
    ) -> ShareRecord:
        server = self._server
        value = await server.run(
            PUT,
            self._names(knowledge_base_id, viewer_id),
            *(user_id, viewer_id, str(permission), knowledge_base_id, limit, server.shift_micros),
        )
        if value == "full":
            raise QuotaExceededError("The knowledge base is shared with too many users.")
        if not value:
            raise KnowledgeBaseNotFoundError
        return _load(knowledge_base_id, viewer_id, value)

    async def get(self, viewer_id: str, knowledge_base_id: str) -> ShareRecord | None:
        names = [self._server.keys.shares(knowledge_base_id)]
        value = await self._server.run(GET, names, viewer_id)
        return _load(knowledge_base_id, viewer_id, value) if value else None

    async def of_knowledge_base(self, user_id: str, knowledge_base_id: str) -> list[ShareRecord]:
        names = self._names(knowledge_base_id, "")[:2]
        found = await self._server.run(ALL, names, user_id)
        rows = sorted(zip(found[::2], found[1::2], strict=True))
        return [_load(knowledge_base_id, viewer_id, value) for viewer_id, value in rows]

    async def with_viewer(self, viewer_id: str, *, limit: int) -> list[ShareRecord]:
        keys = self._server.keys
        found = await self._server.run(
            WITH_VIEWER, [keys.shared_with(viewer_id)], keys.root, viewer_id, limit
        )
        rows = zip(found[::2], found[1::2], strict=True)
        return [_load(name, viewer_id, value) for name, value in rows]

    async def delete(self, user_id: str, knowledge_base_id: str, viewer_id: str) -> bool:
        names = self._names(knowledge_base_id, viewer_id)
        removed = await self._server.run(DELETE, names, user_id, viewer_id, knowledge_base_id)
        return bool(removed)


def _load(knowledge_base_id: str, viewer_id: str, value: str) -> ShareRecord:
    permission, created, updated, owner = value.split("|", 3)
    return ShareRecord(
        knowledge_base_id=knowledge_base_id,
        owner_id=owner,
        viewer_id=viewer_id,
        permission=ResourcePermission(permission),
        created_at=from_micros(int(created)),
        updated_at=from_micros(int(updated)),
    )
