-- _numbers: counts in Redis, where somebody may have written something else; any package's scripts include it.
-- Reads a number that a script wrote; other texts, NaN and infinity are nil.
local function number(text)
    local n = tonumber(text)
    return n and n > -1e15 and n < 1e15 and n or nil
end

-- Reads an argument as a number, or nil; cached, because a call has few different arguments, and reading one
-- takes as long as sixteen look-ups.
local read_before = {}
local function argument(text)
    local n = read_before[text]
    if n == nil then
        n = tonumber(text) or false
        read_before[text] = n
    end
    return n or nil
end

-- Adds to a number, and returns the sum. If another program wrote a text, a fraction or the largest number of
-- Redis there, the number is begun anew and *spoilt* is true, because an error at the end of a script would
-- hide the work that the script has done. Any other error is returned behind nil, for the caller to handle.
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
