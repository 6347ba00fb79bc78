-- _undone: requests left to do in this partition; a crawl is complete when no partition has any.
-- Requests of this partition that are neither done nor dead.
local function undone()
    local n = redis.call('HLEN', REQUESTS) - redis.call('ZCARD', DEAD)
    for part = 0, LAST do
        n = n + redis.call('XLEN', outbox_of(part))
    end
    if n <= 0 then -- what is leased or delayed is not done, even if the server lost the requests (I12)
        n = redis.call('ZCARD', LEASES) + redis.call('ZCARD', DELAYED) + redis.call('ZCARD', READY)
    end
    return n
end

-- Whether requests are left to do, but no queue holds them.
local function stranded()
    for _, key in ipairs({ LEASES, DELAYED, WAITING, READY }) do
        if redis.call('ZCARD', key) > 0 then
            return false
        end
    end
    return undone() > 0
end

-- Whatever makes undone() more is counted here, and nothing is ever taken off.
local function entered()
    local n = 0
    for _, times in ipairs(redis.call('HMGET', COUNTERS, 'pushed', 'requeued', 'sent')) do
        n = n + (number(times or '') or 0)
    end
    return n
end

-- Tells the workers that wait when nothing is left to do.
local function announce_end()
    if undone() == 0 then
        redis.call('HSET', CONTROL, 'ended', now)
        announce('done')
    end
end
