"""The version of the keys in Redis: kept beside them, so that no program misreads another's data.

A layout may only gain keys and fields, so that the previous version keeps working beside the new
one. What only the new one understands raises `OLDEST_READER` one release after its last reader.
"""

from agentscope.app.redis_connection import Script
from agentscope.app.storage.redis.server import RedisServer
from agentscope.errors import ConfigurationError

LAYOUT = 1
OLDEST_READER = 1

# Returns layout and oldest reader that stand now; older data becomes that of this version.
# KEYS: layout hash. ARGV: layout, oldest reader.
SEEN = Script(
    """
local layout = tonumber(redis.call('HGET', KEYS[1], 'layout') or '0')
if layout < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'layout', ARGV[1], 'oldest', ARGV[2])
end
return redis.call('HMGET', KEYS[1], 'layout', 'oldest')
"""
)


async def check_layout(server: RedisServer) -> None:
    """Note the layout of this version, or find that data of a newer one may be used.

    Raises:
        ConfigurationError: the data was written by a version that this one cannot work beside.
    """
    _, oldest = await server.run(SEEN, [server.keys.layout], LAYOUT, OLDEST_READER)
    if int(oldest) > LAYOUT:
        raise ConfigurationError("The data was written by a newer version; upgrade this program.")
