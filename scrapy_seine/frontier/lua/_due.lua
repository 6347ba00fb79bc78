-- _due: requests and domains whose time has come may be served, and ids without a request are noticed.
local gone = 0

if ARGV[9] == '1' then -- by a clock that stepped forward each pause seems over: a whole one follows
    redis.call('HSET', CONTROL, 'rolled', string.format('%.0f', now))
end

-- An id without a request is left behind by `clear`, or its request was lost by the server (I12).
local function missing(id)
    local cleared = tonumber(redis.call('HGET', CONTROL, 'cleared')) or math.huge
    local number = tonumber(string.match(id, '^(%d+)%.?%d*$') or '')
    -- An id that no script gave out was never a request: another program wrote it.
    if number and number >= cleared and number <= (tonumber(control[3]) or 0) then
        gone = gone + 1
    end
end

-- A crawl that lost requests loses its identity, because its workers began with another state.
local function lost()
    redis.call('HDEL', CONTROL, 'id')
    return redis.error_reply('STATELOST ' .. gone .. ' requests are missing in ' .. REQUESTS)
end

local function first(key, at)
    return tonumber(redis.call('ZRANGE', key, at or 0, at or 0, 'WITHSCORES')[2])
end

local next_delayed -- when the first of the delayed is due; only a lease's own promotion changes that
local function promote_delayed()
    next_delayed = first(DELAYED)
    if not next_delayed or next_delayed > now then
        return
    end
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', DELAYED, '-inf', now, 'LIMIT', 0, 200)) do
        redis.call('ZREM', DELAYED, id)
        local stored = redis.call('HGET', REQUESTS, id)
        local level, domain = header(stored or '')
        if domain then
            enqueue(domain, level * LEVEL + next_seq(), id)
        elseif stored then -- I8: set aside, with the reason
            redis.call('ZADD', DEAD, now, id)
            redis.call('HSET', AUTOPSY, id, '{"reason":"unreadable","error":"the stored request has no header"}')
            count('buried', 1)
        else
            missing(id)
        end
    end
    for domain in pairs(touched) do
        place(domain)
    end
    touched, next_delayed = {}, first(DELAYED)
end

-- A domain whose time has come, or comes within the lead, joins the ready ones.
local function promote_waiting(lead, most)
    local due = redis.call('ZRANGEBYSCORE', WAITING, '-inf', now + lead, 'LIMIT', 0, most)
    local real = now
    now = now + lead
    for _, domain in ipairs(due) do
        place(domain)
    end
    now = real
end

-- Returns the due time at which this worker asks again. A worker that got half of the requests that it asked
-- for leaves the rest to idle workers. Otherwise the worker is idle, from its first such lease on. Two idle
-- workers ask at each due time, because otherwise the whole fleet would ask for one slot. A worker that
-- asked when no domain waited gets no due time: it sleeps, and the next worker that asks takes its place.
local IDLE_MS = 15000 -- an idle worker asks again within this time; one that does not is gone
local function due_for(worker, lacking)
    if lacking <= 0 then
        local idle = redis.pcall('ZCARD', IDLE)
        if type(idle) == 'number' and idle > 0 then
            redis.call('ZREM', IDLE, worker)
        end
        if idle ~= 0 and redis.call('ZCARD', READY) > 0 then
            slots, special = 1, false
            wake(false)
        end
        return first(WAITING)
    end
    redis.pcall('ZREMRANGEBYSCORE', IDLE, '-inf', now - IDLE_MS)
    redis.pcall('ZREMRANGEBYSCORE', IDLE, ASLEEP, ASLEEP + now - IDLE_MS)
    local since = redis.pcall('ZSCORE', IDLE, worker)
    since = type(since) == 'string' and tonumber(since) or nil
    local comes = since and since < ASLEEP
    local before = redis.pcall('ZCOUNT', IDLE, '-inf', comes and '(' .. digits(since) or ASLEEP)
    local due = first(WAITING, type(before) == 'number' and math.floor(before / 2) or 0)
    if not since or comes ~= (due ~= nil) then
        redis.pcall('ZADD', IDLE, due and now or ASLEEP + now, worker)
    end
    return due
end

-- Returns the number of live workers to a worker that knows of no other (`asks`), and 0 to all others. A lone
-- worker takes the slots that it frees, so that it must notice a second worker before its next heartbeat.
local function company_of_one()
    local live = asks == 'asks' and redis.pcall('ZCOUNT', P .. 'workers', now, '+inf')
    return type(live) == 'number' and live or 0
end

-- What a lease replies, and its last writes.
local function answer(state, out, deaths, waiting)
    local delayed, lease = next_delayed or first(DELAYED), first(LEASES)
    local next_due, wrong = math.min(waiting or math.huge, delayed or math.huge), {}
    for key in pairs(broken) do
        wrong[#wrong + 1] = key
    end
    if #wrong > 0 then
        count('broken_keys', #wrong)
    end
    sign()
    finish()
    if spoilt ~= '' then
        redis.call('HDEL', CONTROL, 'spoilt')
    end
    local seq = block > 0 and string.format('%.0f', block + left) or control[3] or 0
    local shown = control[1] and control[1] .. ' ' .. (string.match(control[2] or '', '^%d+$') or '0') .. ' ' .. seq or ''
    return { state, now, next_due == math.huge and 0 or next_due, undone(), entered(),
        ((lease and lease < now) or look_is_due() or (not lease and stranded())) and 1 or 0, out, shown, wrong,
        company_of_one(), spoilt, deaths }
end
