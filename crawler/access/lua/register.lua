-- register: make the fleet's list of proxies this one; what is known of those that stay is kept.
-- include: _clock _core
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of proxies
-- ARGV[3] then for each: id, pool, country, provider
-- reply: number of proxies that left the list
local stay, at, left = {}, 3, 0
for _ = 1, tonumber(ARGV[2]) do
    local id, pool, country = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    stay[id] = true
    redis.call('HSET', INFO, id, cjson.encode({ pool = pool, country = country, provider = ARGV[at + 3] }))
    for _, key in ipairs(pools_of(pool, country)) do
        redis.call('ZADD', key, 'NX', 0, id)
    end
    at = at + 4
end
for _, id in ipairs(redis.call('HKEYS', INFO)) do
    if not stay[id] then
        local info = cjson.decode(redis.call('HGET', INFO, id))
        for _, key in ipairs(pools_of(info.pool, info.country)) do
            redis.call('ZREM', key, id)
        end
        redis.call('HDEL', INFO, id)
        redis.call('ZREM', RESTING, id)
        left = left + 1
    end
end
return left
