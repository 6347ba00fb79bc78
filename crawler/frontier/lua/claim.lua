-- claim: takes seeds from a list, set or sorted set, keeping them claimed until they are settled.
-- KEYS[1] start_urls, as users fill it
-- KEYS[2] claimed seeds by claim (hash), in the same slot
-- KEYS[3] claims by expiry (sorted set), in the same slot
-- ARGV[1] seeds wanted, at most
-- ARGV[2] lifetime of a claim, ms
-- reply: claim, seed, claim, seed …
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local wanted, out = tonumber(ARGV[1]), {}
local function take(claim, seed)
    redis.call('HSET', KEYS[2], claim, seed)
    redis.call('ZADD', KEYS[3], now + tonumber(ARGV[2]), claim)
    out[#out + 1] = claim
    out[#out + 1] = seed
end
for _, claim in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, wanted)) do
    local seed = redis.call('HGET', KEYS[2], claim)
    if seed then
        take(claim, seed)
    else
        redis.call('ZREM', KEYS[3], claim)
    end
end
local kind = redis.call('TYPE', KEYS[1]).ok
local left = wanted - #out / 2
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
    take(t[1] .. '.' .. t[2] .. '.' .. i, seed)
end
return out
