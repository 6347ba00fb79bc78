-- _next_use: the next time at which an address may be used for a domain; _proxy_keys comes before it.
-- The margin separates two uses even if a worker is late or the latency of a proxy varies.
local function next_use(domain, id, each)
    local last = number(redis.call('HGET', domain_key('pace', domain), id)) or 0
    -- No use is reserved that far ahead, so the server's clock was set back since.
    if last > now + 60000 + 10 * each then last = now end
    return math.ceil(last + each + math.min(10, each * 0.05))
end

local function reserve_use(domain, id, at)
    redis.call('HSET', domain_key('pace', domain), id, string.format('%.0f', at))
    redis.call('PEXPIRE', domain_key('pace', domain), 86400000)
end
