-- register_proxies: store a worker's list of proxies; the fleet has the proxies of all its workers.
-- Proxies that stay keep their state. The list of a silent worker expires.
-- include: _named_errors _numbers _clock _count _proxy_keys
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] worker
-- ARGV[3] name of the list: the same for the same proxies
-- ARGV[4] ms until the worker's list expires
-- ARGV[5] number of proxies
-- ARGV[6] then for each: id, pool, country, provider
-- reply: {proxies removed from the fleet, lists in the fleet, ids that only others list: at most 5, how many,
--         ids that only this worker's list has: at most 5, how many}
local NAMED = 5
local worker, name = ARGV[2], ARGV[3]
redis.call('ZREMRANGEBYSCORE', WORKERS, '-inf', now)
redis.call('ZADD', WORKERS, now + tonumber(ARGV[4]), worker)
for _, gone in ipairs(redis.call('HKEYS', LISTS)) do
    if not redis.call('ZSCORE', WORKERS, gone) then redis.call('HDEL', LISTS, gone) end
end
redis.call('HSET', LISTS, worker, name)

local mine, at = {}, 6
redis.call('DEL', list_key(name))
for _ = 1, tonumber(ARGV[5]) do
    local id, pool, country = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    mine[id] = true
    redis.call('SADD', list_key(name), id)
    redis.call('HSET', INFO, id, cjson.encode({ pool = pool, country = country, provider = ARGV[at + 3] }))
    for _, key in ipairs(pools_of(pool, country)) do
        redis.call('ZADD', key, 'NX', 0, id)
    end
    at = at + 4
end

local names, others, lists = {}, {}, 1
names[name] = true
for _, other in ipairs(redis.call('HVALS', LISTS)) do
    if not names[other] then
        names[other], lists = true, lists + 1
        for _, id in ipairs(redis.call('SMEMBERS', list_key(other))) do
            others[id] = true
        end
    end
end
for _, stored_name in ipairs(redis.call('SMEMBERS', NAMES)) do
    if not names[stored_name] then redis.call('DEL', list_key(stored_name)) end
end
redis.call('DEL', NAMES)
for used_name in pairs(names) do
    redis.call('SADD', NAMES, used_name)
end

-- The first ids of one set that another set lacks, and their number.
local function difference(these, those)
    local ids, count = {}, 0
    for id in pairs(these) do
        if not those[id] then
            count = count + 1
            if count <= NAMED then ids[count] = id end
        end
    end
    return ids, count
end

local removed = 0
for _, id in ipairs(redis.call('HKEYS', INFO)) do
    if not mine[id] and not others[id] then
        local info = cjson.decode(redis.call('HGET', INFO, id))
        for _, key in ipairs(pools_of(info.pool, info.country)) do
            redis.call('ZREM', key, id)
        end
        redis.call('HDEL', INFO, id)
        redis.call('ZREM', RESTING, id)
        redis.call('HDEL', HEALTH, id .. ' good', id .. ' ban', id .. ' unknown')
        removed = removed + 1
    end
end
local only_others, n_only_others = difference(others, mine)
local only_mine, n_only_mine = {}, 0
if lists > 1 then only_mine, n_only_mine = difference(mine, others) end
return { removed, lists, only_others, n_only_others, only_mine, n_only_mine }
