-- begin: who joins a crawl learns its identity; one that has none yet gets it now.
-- include: _types _state
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (not used)
-- ARGV[2] identity for a crawl that has none: random, from the caller, for Lua's own repeats
-- reply: `id turn seq`, the crawl's state
local id = control[1]
if not id then
    id = ARGV[2]
    -- Ids up to here may be left of something older: a missing request says nothing.
    redis.call('HSET', CONTROL, 'id', id, 'cleared', control[3] or 0)
end
-- Callers that said nothing for a day are gone.
local fields = redis.call('HGETALL', CONTROL)
for i = 1, #fields, 2 do
    local at = string.match(fields[i], '^w:') and tonumber(string.match(fields[i + 1], ' (%d+)$'))
    if at and at < now - 86400000 then
        redis.call('HDEL', CONTROL, fields[i])
    end
end
local function whole(text)
    return string.match(text or '', '^%d+$') or '0'
end
return id .. ' ' .. whole(control[2]) .. ' ' .. whole(control[3])
