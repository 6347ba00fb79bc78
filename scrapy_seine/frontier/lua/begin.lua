-- begin: replies with a crawl's identity to a process that joins it; a new crawl gets its identity here.
-- include: _numbers _types _state
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (not used)
-- ARGV[2] identity for a crawl that has none: random, from the caller, for Lua's own repeats
-- reply: `id turn seq`, the crawl's state
redis.call('PUBLISH', P .. 'wake', 'local ') -- to no worker: whoever may not publish is refused before work begins
local id = control[1]
if not id then
    id = ARGV[2]
    -- Ids up to here may be left from an older crawl, so that a missing request of theirs is no loss.
    redis.call('HSET', CONTROL, 'id', id, 'cleared', control[3] or 0)
end
-- A hash with a value of more than 64 bytes is kept as a table. As the list that a small hash is, it would be
-- read from its beginning for each field that a script asks for: a quarter of a script at 100 workers.
redis.call('HSET', CONTROL, 'about', 'what the scripts of scrapy-seine keep of this crawl: scrapy_seine/frontier/keys.py')

-- Callers that said nothing for a day are gone. Not each of a fleet that joins looks through the others.
local HOUR_MS = 3600000
local function forget_callers()
    local fields = redis.call('HGETALL', CONTROL)
    for i = 1, #fields, 2 do
        local at = string.match(fields[i], '^w:') and tonumber(string.match(fields[i + 1], ' (%d+)$'))
        if at and at < now - 24 * HOUR_MS then
            redis.call('HDEL', CONTROL, fields[i])
        end
    end
    redis.call('HSET', CONTROL, 'swept', string.format('%.0f', now))
end
local swept = tonumber(redis.call('HGET', CONTROL, 'swept') or '')
if not (swept and math.abs(now - swept) < HOUR_MS) then -- junk and NaN count as never
    forget_callers()
end
local function whole(text)
    return string.match(text or '', '^%d+$') or '0'
end
return id .. ' ' .. whole(control[2]) .. ' ' .. whole(control[3])
