-- _core: counting, the limits of a domain, and the one function that decides where a domain stands.
local counted, touched, jobs = {}, {}, {}
local defaults
local unfit = unlike('ZCARD', { READY, WAITING, DELAYED, LEASES, DEAD })
    or unlike('HLEN', { REQUESTS, HELD, DELIVERIES, AUTOPSY, COUNTERS, P .. 'seen' })
if unfit then
    return unfit
end
local had_ready = redis.call('ZCARD', READY) > 0

local function count(name, n)
    counted[name] = (counted[name] or 0) + n
end

-- A request that belongs to a job counts for it: total, done, ignored, failed, cancelled.
local function count_job(job, name, n)
    if job ~= '' then
        jobs[job] = jobs[job] or {}
        jobs[job][name] = (jobs[job][name] or 0) + n
    end
end

local function queue_of(domain)
    return P .. 'q:' .. domain
end

local function state_of(domain)
    return P .. 'd:' .. domain
end

-- The limits of a domain: an operator's, else its site file's, else the crawl's. Times in ms.
-- False where its state is no hash. An older state knows nothing of the last sends: a pause follows.
local function limits(domain)
    if not defaults then
        local of = redis.call('HMGET', CONTROL, 'cap', 'delay', 'jitter', 'throttle', 'rolled')
        defaults = { cap = number(of[1]) or 16, delay = number(of[2]) or 0, jitter = number(of[3]) or 0,
            throttle = of[4] == '1', rolled = number(of[5]) }
    end
    local key = state_of(domain)
    local s = redis.pcall('HMGET', key, 'delay', 'cap', 'due', 'active', 'paused', 'served',
        'blocked', 'jitter', 'robots', 'measured', 'lane', 'site_delay', 'site_cap', 'spread', 'spread_until')
    if s.err then
        try(key, 'HGET', 'due')
        return false
    end
    local due = s[3] and number(s[3]) or 0
    local blocked = s[7] and number(s[7]) or 0
    local asked = s[9] and number(s[9]) or 0
    if s[10] and defaults.throttle then
        asked = math.max(asked, number(s[10]) or 0)
    end
    -- Our own limits may be kept by each address that we ask from; what the site asks for is its own.
    local each = s[14] and asked == 0 and (number(s[15]) or 0) > now
    local spread = each and number(s[14]) or 1
    local own = s[1] and number(s[1]) or s[12] and number(s[12]) or defaults.delay
    local cap = s[2] and number(s[2]) or s[13] and number(s[13]) or defaults.cap
    local guard = each and math.min(10, own * 0.05) or 0 -- as the addresses keep it: none is to wait
    local delay = math.max((own + guard) / spread, asked)
    local rolled = defaults.rolled and defaults.rolled + delay or 0
    return {
        delay = delay, cap = cap * spread,
        each = each and string.format('%.0f %.0f', own, cap), due = due, until_ms = math.max(due, blocked, rolled),
        active = s[4] and number(s[4]) or 0, paused = s[5], served = s[6] and number(s[6]) or 0,
        jitter = s[8] and number(s[8]) or asked == 0 and defaults.jitter or 0, lane = s[11] or '',
    }
end

-- A key of the domain is of the wrong type: the domain is looked at again in a while.
local function set_aside(domain)
    redis.call('ZREM', READY, domain)
    redis.call('ZADD', WAITING, now + AGAIN_MS, domain)
end

-- An id goes into its domain's queue, or among the delayed where that cannot take it (I1).
local function enqueue(domain, score, id)
    if not try(queue_of(domain), 'ZADD', score, id) then
        redis.call('ZADD', DELAYED, now + AGAIN_MS, id)
    end
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
    elseif not s or s.paused or s.active >= s.cap then
        redis.call('ZREM', READY, domain)
        redis.call('ZREM', WAITING, domain)
    elseif s.until_ms > now then
        redis.call('ZREM', READY, domain)
        redis.call('ZADD', WAITING, s.until_ms, domain)
    else
        local class = math.floor(tonumber(head[2]) / LEVEL)
        redis.call('ZREM', WAITING, domain)
        redis.call('ZADD', READY, class * LEVEL + s.served, domain)
        slots = slots + (s.delay > 0 and 1 or s.cap - s.active)
        special = special or s.lane ~= ''
    end
end

-- Ends a script: places what it touched, writes its counters, wakes idle workers.
local function finish()
    write_batches()
    for domain in pairs(touched) do
        place(domain)
    end
    for name, n in pairs(counted) do
        redis.call('HINCRBY', COUNTERS, name, n)
    end
    for job, totals in pairs(jobs) do
        for name, n in pairs(totals) do
            try(P .. 'job:' .. job, 'HINCRBY', name, n)
        end
    end
    if not had_ready and redis.call('ZCARD', READY) > 0 then
        wake(true)
    end
end
