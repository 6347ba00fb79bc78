-- _core: key names, the clock, and the one function that decides where a domain stands.
-- Every key of a crawl starts with KEYS[1], which carries the hash tag: one script, one slot.
local P = KEYS[1]
local REQUESTS, LEASES, HELD = P .. 'requests', P .. 'leases', P .. 'held'
local READY, WAITING, DELAYED = P .. 'ready', P .. 'waiting', P .. 'delayed'
local DEAD, AUTOPSY, DELIVERIES = P .. 'dead', P .. 'autopsy', P .. 'deliveries'
local COUNTERS, CONTROL = P .. 'counters', P .. 'control'
local LEVEL = 1099511627776 -- 2^40: a queue's score is level * LEVEL + sequence, so FIFO in a level

local now = tonumber(ARGV[1])
if now == 0 then
    local t = redis.call('TIME')
    now = t[1] * 1000 + math.floor(t[2] / 1000)
end

local counted, touched, jobs = {}, {}, {}
local defaults
local had_ready = redis.call('ZCARD', READY) > 0

local function count(name, n)
    counted[name] = (counted[name] or 0) + n
end

-- A request that belongs to a job counts for it: total, done, failed.
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

-- Numbers that order everything; taken from Redis in blocks, for each command costs a microsecond.
local block, left = 0, 0
local function reserve_seq(n)
    block, left = redis.call('HINCRBY', CONTROL, 'seq', n) - n, n
end

local function next_seq()
    if left == 0 then
        reserve_seq(16)
    end
    block, left = block + 1, left - 1
    return block - 1
end

-- A number as it was written here; junk of others, NaN and infinity count as none.
local function number(text)
    local n = tonumber(text)
    return n and n > -1e15 and n < 1e15 and n or nil
end

-- The limits of a domain: an operator's, else its site file's, else the crawl's. Times in ms.
local function limits(domain)
    if not defaults then
        defaults = redis.call('HMGET', CONTROL, 'cap', 'delay', 'jitter', 'throttle')
    end
    local s = redis.call('HMGET', state_of(domain), 'delay', 'cap', 'due', 'active', 'paused', 'served',
        'blocked', 'jitter', 'robots', 'measured', 'lane', 'site_delay', 'site_cap', 'spread', 'spread_until')
    local due = number(s[3]) or 0
    local blocked = number(s[7]) or 0
    local asked = math.max(number(s[9]) or 0, defaults[4] == '1' and number(s[10]) or 0)
    -- Our own limits may be kept by each address that we ask from; what the site asks for is its own.
    local each = s[14] and asked == 0 and (number(s[15]) or 0) > now
    local spread = each and number(s[14]) or 1
    local own = number(s[1]) or number(s[12]) or number(defaults[2]) or 0
    local cap = number(s[2]) or number(s[13]) or number(defaults[1]) or 16
    local guard = each and math.min(10, own * 0.05) or 0 -- as the addresses keep it: none is to wait
    return {
        delay = math.max((own + guard) / spread, asked), cap = cap * spread,
        each = each and string.format('%.0f %.0f', own, cap), due = due, until_ms = math.max(due, blocked),
        active = number(s[4]) or 0, paused = s[5], served = number(s[6]) or 0,
        jitter = number(s[8]) or number(defaults[3]) or 0, lane = s[11] or '',
    }
end

-- Puts a domain where it belongs: ready (may be served now), waiting (sorted by due time),
-- or neither (nothing queued, paused, or all its slots in use).
local function place(domain, known)
    local head = redis.call('ZRANGE', queue_of(domain), 0, 0, 'WITHSCORES')
    local s = head[1] and (known or limits(domain))
    if not s or s.paused or s.active >= s.cap then
        redis.call('ZREM', READY, domain)
        redis.call('ZREM', WAITING, domain)
    elseif s.until_ms > now then
        redis.call('ZREM', READY, domain)
        redis.call('ZADD', WAITING, s.until_ms, domain)
    else
        local class = math.floor(tonumber(head[2]) / LEVEL)
        redis.call('ZREM', WAITING, domain)
        redis.call('ZADD', READY, class * LEVEL + s.served, domain)
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
            redis.call('HINCRBY', P .. 'job:' .. job, name, n)
        end
    end
    if not had_ready and redis.call('ZCARD', READY) > 0 then
        redis.call('PUBLISH', P .. 'wake', 'ready')
    end
end

local function hold_text(token, worker, score, state, domain)
    return token .. ' ' .. worker .. ' ' .. score .. ' ' .. state .. ' ' .. domain
end

-- A stored request starts with `level domain`, its job if it has one, and a newline.
local function header(stored)
    local level, domain, job = string.match(stored, '^(%-?%d+) ([^ \n]*) ?([^\n]*)\n')
    return tonumber(level), domain, job or ''
end
