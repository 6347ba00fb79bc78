-- usable_proxies: count the proxies of a pool that do not rest for a domain.
-- include: _named_errors _numbers _clock _count _proxy_keys
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] pool ('' = any)
-- ARGV[4] country ('' = any)
-- ARGV[5] name of the worker's list ('' = any)
-- reply: the number
local function resting(key)
    local ids = {}
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, now, '+inf')) do
        ids[id] = true
    end
    return ids
end
local everywhere, for_domain, usable = resting(RESTING), resting(domain_key('rest', ARGV[2])), 0
for _, id in ipairs(redis.call('ZRANGE', pool_key(ARGV[3], ARGV[4]), 0, -1)) do
    local is_listed = ARGV[5] == '' or redis.call('SISMEMBER', list_key(ARGV[5]), id) == 1
    if is_listed and not everywhere[id] and not for_domain[id] then
        usable = usable + 1
    end
end
return usable
