-- _all_placed: whether each request is in a place, by counts: far cheaper than to look at each request.
local MANY = 5000 -- ready and waiting domains, beyond which that is not worked out
local FULL_MS = 1800000 -- between two looks at all requests: for faults that make up for each other

-- A domain that has requests and is neither ready nor waiting: paused, all its slots in use, or forgotten.
local function is_missing(domain)
    return not (redis.call('ZSCORE', READY, domain) or redis.call('ZSCORE', WAITING, domain))
end

-- Whether as many places are taken as there are requests, each of which is in one place (I1).
local function all_placed()
    local full = number(redis.call('HGET', CONTROL, 'looked_all') or '') or 0
    if now < full or now >= full + FULL_MS then
        redis.call('HSET', CONTROL, 'looked_all', string.format('%.0f', now))
        return false
    end
    local flying, placed = {}, redis.call('HLEN', HELD)
    if placed ~= redis.call('ZCARD', LEASES)
        or redis.call('ZCARD', READY) + redis.call('ZCARD', WAITING) > MANY then
        return false
    end
    placed = placed + redis.call('ZCARD', DELAYED) + redis.call('ZCARD', DEAD)
    for _, key in ipairs({ READY, WAITING }) do
        for _, domain in ipairs(redis.call('ZRANGE', key, 0, -1)) do
            placed = placed + (try(queue_of(domain), 'ZCARD') or 0)
        end
    end
    for _, held in ipairs(redis.call('HVALS', HELD)) do
        local state, domain = string.match(held, '^%d+ %S* %d+ ([FL]) (.*)$')
        if domain and is_missing(domain) then
            flying[domain] = (flying[domain] or 0) + (state == 'F' and 1 or 0)
        end
    end
    for domain, n in pairs(flying) do
        local queued = try(queue_of(domain), 'ZCARD') or 0
        local s = queued > 0 and limits(domain)
        if queued > 0 and not (s and (s.paused or n >= s.cap)) then
            return false -- its requests wait for nothing
        end
        placed = placed + queued
    end
    return placed == redis.call('HLEN', REQUESTS)
end
