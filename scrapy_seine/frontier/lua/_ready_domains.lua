-- _ready_domains: where a domain stands: ready to be served, waiting for its time, or neither.
local touched = {} -- domains to place anew: their queue, their time or their limits changed
local eased = {} -- domains that only have fewer requests in flight: those that stand ready stay where they are
local unfit = unlike('ZCARD', { READY, WAITING, DELAYED, LEASES, DEAD })
    or unlike('HLEN', { REQUESTS, HELD, DELIVERIES, AUTOPSY, COUNTERS, P .. 'seen' })
if unfit then
    return unfit
end
local had_ready = sizes[READY] > 0
local none_waits = sizes[WAITING] == 0 -- and none was added here

local function queue_of(domain)
    return P .. 'q:' .. domain
end

local function waits(domain, until_ms)
    none_waits = false
    redis.call('ZADD', WAITING, until_ms, domain)
end

local function waits_no_more(domain)
    if not none_waits then
        redis.call('ZREM', WAITING, domain)
    end
end

-- A key of the domain is of the wrong type: the domain is looked at again in a while.
local function set_aside(domain)
    redis.call('ZREM', READY, domain)
    waits(domain, now + AGAIN_MS)
end

-- An id goes into its domain's queue, or among the delayed where that cannot take it (I1).
local function enqueue(domain, score, id)
    if not try(queue_of(domain), 'ZADD', score, id) then
        redis.call('ZADD', DELAYED, now + AGAIN_MS, id)
    end
    touched[domain] = true
end

-- Puts a domain where it belongs: ready (may be served now), waiting (sorted by due time),
-- or neither (nothing queued, paused, or all its slots in use).
local function place(domain, known)
    local key = queue_of(domain)
    local head = redis.pcall('ZRANGE', key, 0, 0, 'WITHSCORES')
    if head.err then
        try(key, 'ZCARD')
        return set_aside(domain)
    end
    local s = head[1] and (known or limits(domain))
    if s == false then
        set_aside(domain)
    elseif not s or s.paused or is_full(s) then
        redis.call('ZREM', READY, domain)
        waits_no_more(domain)
    elseif s.until_ms > now then
        redis.call('ZREM', READY, domain)
        waits(domain, s.until_ms)
    else
        local class = math.floor(tonumber(head[2]) / LEVEL)
        waits_no_more(domain)
        redis.call('ZADD', READY, class * LEVEL + s.served, domain)
        slots = slots + (s.delay > 0 and 1 or s.cap - s.active)
        special = special or s.lane ~= ''
    end
end
