-- _next_use: when an address was or will be used for a domain last; _proxy_keys comes before it.
-- The guard keeps two uses apart although a worker may be late, and the way through a proxy varies.
local function next_use(domain, id, each)
    local last = number(redis.call('HGET', domain_key('pace', domain), id)) or 0
    return math.ceil(last + each + math.min(10, each * 0.05))
end

local function reserve_use(domain, id, at)
    redis.call('HSET', domain_key('pace', domain), id, string.format('%.0f', at))
    redis.call('PEXPIRE', domain_key('pace', domain), 86400000)
end
