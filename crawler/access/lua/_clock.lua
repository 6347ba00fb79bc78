-- _clock: the keys' prefix, which carries their hash tag, and the time on the server's clock, ms.
local P = KEYS[1]
local now = tonumber(ARGV[1])
if now == 0 then
    local t = redis.call('TIME')
    now = t[1] * 1000 + math.floor(t[2] / 1000)
end

-- A number as it was written here; what somebody else wrote in its place counts as 0.
local function number(text)
    local n = tonumber(text)
    return n and n > -1e15 and n < 1e15 and n or 0
end

-- Adds to a number, which begins anew where Redis cannot add to it; other errors are the caller's.
local function add(key, field, n)
    local reply = redis.pcall('HINCRBY', key, field, n)
    if type(reply) == 'table' and string.find(reply.err, 'WRONGTYPE', 1, true) then
        return redis.call('HINCRBY', key, field, n)
    elseif type(reply) == 'table' then
        redis.call('HSET', key, field, n)
        return tonumber(n)
    end
    return reply
end
