-- _ready_domains: counting, and the one function that decides where a domain stands.
local counted, touched, jobs = {}, {}, {}
local unfit = unlike('ZCARD', { READY, WAITING, DELAYED, LEASES, DEAD })
    or unlike('HLEN', { REQUESTS, HELD, DELIVERIES, AUTOPSY, COUNTERS, P .. 'seen' })
if unfit then
    return unfit
end
local had_ready = redis.call('ZCARD', READY) > 0

-- Adds to a number. Where somebody wrote a text there, a fraction or the end of Redis' numbers, it is
-- begun anew, because a script that fails at its end has done its work and tells nobody.
local function add(key, field, n)
    local reply = redis.pcall('HINCRBY', key, field, n)
    if number(reply) then
        return reply
    elseif type(reply) == 'table' and not string.find(reply.err, 'integer') and not string.find(reply.err, 'overflow') then
        return try(key, 'HINCRBY', field, n)
    end
    redis.call('HSET', key, field, string.format('%.0f', n))
    note_spoilt(key, field)
    return n
end

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

-- Ends a script: places what it touched, writes its counters, wakes idle workers. A caller that is
-- alone and asks for leases next needs no waking: it would come a second time, for nothing.
local function finish()
    write_batches()
    for domain in pairs(touched) do
        place(domain)
    end
    for name, n in pairs(counted) do
        add(COUNTERS, name, n)
    end
    for job, totals in pairs(jobs) do
        for name, n in pairs(totals) do
            add(P .. 'job:' .. job, name, n)
        end
    end
    if not had_ready and asks ~= 'asks' and redis.call('ZCARD', READY) > 0 then
        wake(true)
    end
end
