-- _numbers: counts in Redis, where somebody may have written something else; any package's scripts include it.
-- A number as it was written here; junk of others, NaN and infinity count as none.
local function number(text)
    local n = tonumber(text)
    return n and n > -1e15 and n < 1e15 and n or nil
end

-- The number that an argument is, or nil: a call has few different ones, and to read one takes as long as
-- sixteen look-ups.
local read_before = {}
local function argument(text)
    local n = read_before[text]
    if n == nil then
        n = tonumber(text) or false
        read_before[text] = n
    end
    return n or nil
end

-- Adds to a number, and returns the sum. Where somebody wrote a text there, a fraction or the end of
-- Redis' numbers, it is begun anew, because a script that fails at its end has done its work and tells
-- nobody: then *spoilt* is true. Any other error is returned behind nil, and is the caller's.
local function add_to(key, field, n)
    local reply = redis.pcall('HINCRBY', key, field, n)
    if number(reply) then
        return reply
    elseif type(reply) == 'table' and not string.find(reply.err, 'integer') and not string.find(reply.err, 'overflow') then
        return nil, reply
    end
    redis.call('HSET', key, field, string.format('%.0f', n))
    return tonumber(n), nil, true
end
