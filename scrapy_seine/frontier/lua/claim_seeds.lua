-- claim_seeds: takes seeds from a list, set or sorted set, keeping them claimed until they are settled.
-- A seed whose worker ended before it was read comes again, alone: it may be what ended the worker.
-- include: _types
-- KEYS[1] start_urls, as users fill it
-- KEYS[2] claimed seeds by claim (hash), in the same slot
-- KEYS[3] claims by expiry (sorted set), in the same slot
-- KEYS[4] times that a claim was handed out and not read to its end (hash), in the same slot
-- ARGV[1] seeds wanted, at most
-- ARGV[2] lifetime of a claim, ms
-- ARGV[3] random: no claim of an older state has the same name
-- reply: claim, seed, times it was handed out before, claim, seed, times …; HELD where there is none
-- and others still read theirs
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'none' and kind ~= 'list' and kind ~= 'set' and kind ~= 'zset' then
    return wrong_type(KEYS[1], 'a list, a set or a sorted set')
end
local unfit = unlike('HLEN', { KEYS[2], KEYS[4] }) or unlike('ZCARD', { KEYS[3] })
if unfit then
    return unfit
end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local wanted, out = tonumber(ARGV[1]), {}
local function take(claim, seed)
    redis.call('HSET', KEYS[2], claim, seed)
    redis.call('ZADD', KEYS[3], now + tonumber(ARGV[2]), claim)
    local tries = tonumber(redis.call('HGET', KEYS[4], claim)) or 0
    redis.call('HSET', KEYS[4], claim, string.format('%.0f', tries + 1))
    for _, v in ipairs({ claim, seed, string.format('%.0f', tries) }) do
        out[#out + 1] = v
    end
end
-- None is away for longer than its lifetime, unless the server's clock was set back.
for _, claim in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], now + tonumber(ARGV[2]) + 2000, '+inf', 'LIMIT', 0, wanted)) do
    redis.call('ZADD', KEYS[3], now + tonumber(ARGV[2]), claim)
end
for _, claim in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, wanted)) do
    local seed = redis.call('HGET', KEYS[2], claim)
    local suspect = redis.call('HEXISTS', KEYS[4], claim) == 1
    if not seed then
        redis.call('ZREM', KEYS[3], claim)
        redis.call('HDEL', KEYS[4], claim)
    elseif not suspect then
        take(claim, seed)
    elseif #out == 0 then
        take(claim, seed)
        return out
    end
end
local left = wanted - #out / 3
local seeds = {}
if left <= 0 then
    seeds = {}
elseif kind == 'list' then
    seeds = redis.call('LPOP', KEYS[1], left)
elseif kind == 'set' then
    seeds = redis.call('SPOP', KEYS[1], left)
elseif kind == 'zset' then
    local popped = redis.call('ZPOPMAX', KEYS[1], left)
    for i = 1, #popped, 2 do
        seeds[#seeds + 1] = popped[i]
    end
end
for i, seed in ipairs(seeds) do
    take(t[1] .. '.' .. t[2] .. '.' .. i .. '.' .. ARGV[3], seed)
end
if #out == 0 and redis.call('ZCARD', KEYS[3]) > 0 then
    return { 'HELD' }
end
return out
