"""The Lua scripts: each one atomic step on the server.

A transition is two of them around one pure function: `LOAD` reads records with their versions and
the server's time, `COMMIT` writes if those versions still stand. Keys that a script derives share
the hash tag of those it was given.
"""

from agentscope.app.records import PAUSED_KNOWLEDGE_BASE, PAUSED_USER
from agentscope.app.redis_connection import Script

MAX_AGE_MICROS = 5_000_000  # between load and commit; the time that was read is then too old
MAX_LOOKED_AT = 20_000  # due documents of one user that one claim may pass over
MAX_LOOKED_AT_IN_ALL = 60_000

# Reads a document, its knowledge base and the oldest document with the same content.
# KEYS: document. ARGV: root, sha or ''.
LOAD = Script(
    """
local time = redis.call('TIME')
local found = redis.call('HMGET', KEYS[1], 'v', 'b', 'kb')
local base = {false, false}
local twin = {false, false}
local first = ''
if found[3] then
  base = redis.call('HMGET', ARGV[1] .. 'kb:' .. found[3], 'v', 'b')
  if ARGV[2] ~= '' then
    local content = ARGV[1] .. 'content:' .. #found[3] .. ':' .. found[3] .. ARGV[2]
    first = redis.call('ZRANGE', content, 0, 0)[1] or ''
    if first ~= '' then
      twin = redis.call('HMGET', ARGV[1] .. 'doc:' .. string.sub(first, 17), 'v', 'b')
    end
  end
end
return {time[1], time[2], found[1] or '', found[2] or '', base[1] or '', base[2] or '',
  first, twin[1] or '', twin[2] or ''}
"""
)

# Reads one hash. KEYS: hash.
LOAD_ONE = Script(
    """
local time = redis.call('TIME')
local found = redis.call('HMGET', KEYS[1], 'v', 'b')
return {time[1], time[2], found[1] or '', found[2] or ''}
"""
)

# Writes if all checks hold. KEYS: every key, by number. ARGV, read one after the other:
# number of the key that carries the token, the token, time of the load in microseconds;
# count of checks, each: kind, key, field, expected;
# count of commands, each: count of words, name, key, words;
# count of users in turn, each: user hash, due set, turn counter, user, served;
# count of events, each: user hash, outbox, user, time, payload.
COMMIT = Script(
    f"""
local position = 0
local function take() position = position + 1; return ARGV[position] end
local function key() return KEYS[tonumber(take())] end
local main, token = key(), take()
if redis.call('HGET', main, 'v') == token then return 'done' end
local time = redis.call('TIME')
local age = time[1] * 1000000 + time[2] - tonumber(take())
if age > {MAX_AGE_MICROS} or age < -{MAX_AGE_MICROS} then return 'late' end
for _ = 1, tonumber(take()) do
  local kind, name, field, expected = take(), key(), take(), take()
  if kind == 'version' then
    if (redis.call('HGET', name, 'v') or '') ~= expected then return 'conflict' end
  elseif kind == 'first' then
    if (redis.call('ZRANGE', name, 0, 0)[1] or '') ~= expected then return 'conflict' end
  else
    local total = 0
    if kind == 'sizes' then
      total = redis.call('ZCARD', name) + redis.call('ZCARD', KEYS[tonumber(field)])
    else
      for counter in string.gmatch(field, '[^,]+') do
        total = total + tonumber(redis.call('HGET', name, counter) or '0')
      end
    end
    if total > tonumber(expected) then return 'full' end
  end
end
for _ = 1, tonumber(take()) do
  local words, count = {{}}, tonumber(take())
  local command, name = take(), key()
  for number = 1, count do words[number] = take() end
  redis.call(command, name, unpack(words))
end
for _ = 1, tonumber(take()) do
  local user, due, counter, member, served = key(), key(), key(), take(), take()
  if served == '1' then
    redis.call('HSET', user, 'last_served', redis.call('INCR', counter))
  end
  local turns = key()
  if redis.call('ZCARD', due) == 0 then
    redis.call('ZREM', turns, member)
  else
    local state = redis.call('HMGET', user, 'running', 'last_served')
    local score = tonumber(state[1] or '0') * 2199023255552 + tonumber(state[2] or '0')
    redis.call('ZADD', turns, string.format('%.0f', score), member)
  end
end
for _ = 1, tonumber(take()) do
  local user, outbox, known = key(), key(), key()
  local member, at, payload = take(), take(), take()
  local sequence = string.format('%.0f', redis.call('HINCRBY', user, 'sequence', 1))
  redis.call('ZADD', outbox, sequence, sequence .. '|' .. at .. '|' .. payload)
  redis.call('ZADD', known, 'NX', at, member)
end
return 'ok'
"""
)

# Chooses the next document in fair order and keeps other workers off it for a moment, so that
# they do not all try for the same one; the commit decides all the same.
# KEYS: users in turn. ARGV: root, shift in microseconds, largest size or '', may run alone,
# leave out those that must, milliseconds to hold, count of knowledge bases to skip, their ids.
CANDIDATE = Script(
    f"""
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2] + tonumber(ARGV[2]))
local root, largest, may_run_alone = ARGV[1], tonumber(ARGV[3]), ARGV[4] == '1'
local alone_waits = ARGV[5] == '1'
local skipped = {{}}
for number = 1, tonumber(ARGV[7]) do skipped[ARGV[7 + number]] = true end
local active = {{}}
local function claimable(base)
  if skipped[base] then return false end
  if active[base] == nil then
    active[base] = redis.call('HGET', root .. 'kb:' .. base, 'status') == 'active'
      and redis.call('EXISTS', root .. 'entry:{PAUSED_KNOWLEDGE_BASE}' .. base) == 0
  end
  return active[base]
end
local looked_at, page = 0, 0
while true do
  local users = redis.call('ZRANGE', KEYS[1], page * 100, page * 100 + 99)
  for _, user in ipairs(users) do
    local skip = 0
    local paused = redis.call('EXISTS', root .. 'entry:{PAUSED_USER}' .. user) == 1
    while not paused and skip < {MAX_LOOKED_AT} do
      local due = redis.call(
        'ZRANGEBYSCORE', root .. 'due:' .. user, '-inf', now, 'LIMIT', skip, 100)
      for _, member in ipairs(due) do
        looked_at = looked_at + 1
        local id = string.sub(member, 17)
        local name = root .. 'doc:' .. id
        local found = redis.call('HMGET', name, 'kb', 'size', 'alone')
        local alone = found[3] == '1'
        if found[1] and claimable(found[1])
            and (not largest or tonumber(found[2]) <= largest) then
          if alone and not may_run_alone then
            alone_waits = true
          elseif redis.call('SET', root .. 'hold:' .. id, '1', 'PX', ARGV[6], 'NX') then
            local record = redis.call('HMGET', name, 'v', 'b')
            local base = redis.call('HMGET', root .. 'kb:' .. found[1], 'v', 'b')
            return {{time[1], time[2], alone_waits and 1 or 0, id,
              record[1], record[2], base[1], base[2]}}
          end
        end
      end
      if looked_at > {MAX_LOOKED_AT_IN_ALL} then
        return {{time[1], time[2], alone_waits and 1 or 0}}
      end
      if #due < 100 then break end
      skip = skip + 100
    end
  end
  if #users < 100 then return {{time[1], time[2], alone_waits and 1 or 0}} end
  page = page + 1
end
"""
)

# Reads records that are due. KEYS: due set. ARGV: root of the records, shift, limit, hold in ms.
DUE_RECORDS = Script(
    """
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2] + tonumber(ARGV[2]))
local answer = {time[1], time[2]}
local limit = tonumber(ARGV[3])
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, limit * 4)
for _, id in ipairs(due) do
  if #answer >= 2 + 2 * limit then break end
  local name = ARGV[1] .. id
  if redis.call('SET', name .. ':hold', '1', 'PX', ARGV[4], 'NX') then
    local found = redis.call('HMGET', name, 'v', 'b')
    if found[1] then
      answer[#answer + 1] = found[1]
      answer[#answer + 1] = found[2]
    end
  end
end
return answer
"""
)

# Reads the earliest score of each set. KEYS: sets.
SIZE = Script("return redis.call('ZCARD', KEYS[1])")

EARLIEST = Script(
    """
local answer = redis.call('TIME')
for number, name in ipairs(KEYS) do
  answer[2 + number] = redis.call('ZRANGE', name, 0, 0, 'WITHSCORES')[2] or ''
end
return answer
"""
)

# Reads visible documents by id. KEYS: knowledge base. ARGV: root, user, ids.
GET_MANY = Script(
    """
local base = redis.call('HMGET', KEYS[1], 'user', 'status')
if base[1] ~= ARGV[2] or base[2] ~= 'active' then return {} end
local answer = {}
for number = 3, #ARGV do
  local body = redis.call('HGET', ARGV[1] .. 'doc:' .. ARGV[number], 'b')
  if body then answer[#answer + 1] = body end
end
return answer
"""
)

# Reads one page in order of creation. KEYS: set by time, knowledge base or the set again.
# ARGV: root of the records, command, first, last, user or ''.
PAGE = Script(
    """
if ARGV[5] ~= '' then
  local base = redis.call('HMGET', KEYS[2], 'user', 'status')
  if base[1] ~= ARGV[5] or base[2] ~= 'active' then return {'0'} end
end
local answer = {tostring(redis.call('ZCARD', KEYS[1]))}
for _, id in ipairs(redis.call(ARGV[2], KEYS[1], ARGV[3], ARGV[4])) do
  answer[#answer + 1] = redis.call('HGET', ARGV[1] .. id, 'b') or nil
end
return answer
"""
)

# Reads a slice of a knowledge base and returns id and sort value of what matches, as JSON: one
# string is read far faster than many. KEYS: set of visible documents. ARGV: root of the records,
# first, last, field to sort by, needle in the name, content type or '', statuses in commas or ''.
MATCHING = Script(
    """
local found = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3])) do
  local row = redis.call('HMGET', ARGV[1] .. id, 'name', 'status', 'type', ARGV[4])
  if row[1] and (ARGV[5] == '' or string.find(row[1], ARGV[5], 1, true))
      and (ARGV[6] == '' or row[3] == ARGV[6])
      and (ARGV[7] == '' or string.find(ARGV[7], ',' .. row[2] .. ',', 1, true)) then
    found[#found + 1] = id
    found[#found + 1] = row[4]
  end
end
return {tostring(redis.call('ZCARD', KEYS[1])), #found == 0 and '[]' or cjson.encode(found)}
"""
)

# Reads records by id from after one. KEYS: set by id. ARGV: root of the records, after, limit.
AFTER = Script(
    """
local from = ARGV[2] == '' and '-' or '(' .. ARGV[2]
local answer = {}
for _, id in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0, ARGV[3])) do
  answer[#answer + 1] = redis.call('HGET', ARGV[1] .. id, 'b') or nil
end
return answer
"""
)

# Reads a slice of the users in turn: user, documents, running, earliest due time in microseconds.
# KEYS: users in turn. ARGV: root, first, last.
WAITING = Script(
    """
local answer = redis.call('TIME')
local users = redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3])
answer[3] = tostring(#users)
for _, user in ipairs(users) do
  local due = ARGV[1] .. 'due:' .. user
  local first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')[2]
  if first then
    answer[#answer + 1] = user
    answer[#answer + 1] = tostring(redis.call('ZCARD', due))
    answer[#answer + 1] = redis.call('HGET', ARGV[1] .. 'user:' .. user, 'running') or '0'
    answer[#answer + 1] = first
  end
end
return answer
"""
)

# Reads counters. KEYS: hashes. ARGV: fields.
COUNTERS = Script(
    """
local answer = {}
for number, name in ipairs(KEYS) do
  local found = redis.call('HMGET', name, unpack(ARGV))
  for field = 1, #ARGV do found[field] = found[field] or '0' end
  answer[number] = found
end
return answer
"""
)

# Removes old events. KEYS: users with events. ARGV: root, before in microseconds, limit.
TRIM = Script(
    """
local before, left = tonumber(ARGV[2]), tonumber(ARGV[3])
local removed = 0
while left > 0 do
  local user = redis.call(
    'ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[2], 'LIMIT', 0, 1)[1]
  if not user then break end
  local outbox = ARGV[1] .. 'events:' .. user
  local oldest = nil
  for _, member in ipairs(redis.call('ZRANGE', outbox, 0, left)) do
    local at = tonumber(string.match(member, '^%d+|(%d+)|'))
    if at >= before or left == 0 then oldest = at; break end
    redis.call('ZREM', outbox, member)
    removed, left = removed + 1, left - 1
  end
  if oldest then
    redis.call('ZADD', KEYS[1], string.format('%.0f', oldest), user)
  elseif redis.call('ZCARD', outbox) == 0 then
    redis.call('ZREM', KEYS[1], user)
  end
end
return removed
"""
)

# Reads registry entries of a prefix; names whose entry is gone are forgotten.
# KEYS: set of names. ARGV: root, first, end, limit.
ENTRIES = Script(
    """
local answer = redis.call('TIME')
local names = redis.call(
  'ZRANGEBYLEX', KEYS[1], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])
answer[3] = tostring(#names)
answer[4] = names[#names] or ''
for _, name in ipairs(names) do
  local body = redis.call('HGET', ARGV[1] .. 'entry:' .. name, 'b')
  if body then
    answer[#answer + 1] = name
    answer[#answer + 1] = body
  else
    redis.call('ZREM', KEYS[1], name)
  end
end
return answer
"""
)

# Reads what counts against quotas. KEYS: user hash, two sets. ARGV: counters.
USAGE = Script(
    """
local answer = redis.call('HMGET', KEYS[1], unpack(ARGV))
for field = 1, #ARGV do answer[field] = answer[field] or '0' end
answer[#ARGV + 1] = redis.call('ZCARD', KEYS[2]) + redis.call('ZCARD', KEYS[3])
return answer
"""
)

# Reads a slice of a sorted set. KEYS: set. ARGV: first, last.
MEMBERS = Script("return redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2])")

# Reads members from after a score. KEYS: set. ARGV: from, limit.
BY_SCORE = Script(
    "return redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])"
)

# Reads the bodies of some records, in no order: next cursor, bodies. Only for operators.
# KEYS: any, which says where. ARGV: pattern of names, cursor.
SCANNED = Script(
    """
local found = redis.call('SCAN', ARGV[2], 'MATCH', ARGV[1], 'COUNT', 1000)
local answer = {found[1]}
for _, name in ipairs(found[2]) do
  answer[#answer + 1] = redis.call('HGET', name, 'b') or nil
end
return answer
"""
)
