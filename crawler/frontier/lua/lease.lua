-- lease: hands requests that may be sent now to one worker, with a fencing token each (I2, I5, I6).
-- include: _write _core _outbox _slot
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] worker
-- ARGV[3] wanted, at most
-- ARGV[4] lifetime of a lease, ms
-- ARGV[5] lead ms: how long before its due time a domain may be handed out
-- ARGV[6] lanes that the worker has besides the common ones, each followed by a space
-- ARGV[7] slack ms: how late the worker may be with a request beyond the usual; it may be missing
-- reply: {state 'OK' or 'PAUSED', now ms, next due ms (0: nothing waits), undone requests,
--         requests that came in so far, 1 if a lease has expired, {id, token, slot ms, delay ms,
--         deliveries, stored request, …}}; the delay is followed by the pause (ms) and the requests in
--         flight of each address, where each keeps them by itself
local MOST = 1000 -- a lease's requests go through Lua's stack
local worker = (string.gsub(ARGV[2], '%s', '_'))
local wanted = math.min(tonumber(ARGV[3]), MOST)
local expires, lead = now + tonumber(ARGV[4]), tonumber(ARGV[5])
local out = {}

local function promote_delayed()
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', DELAYED, '-inf', now, 'LIMIT', 0, 200)) do
        redis.call('ZREM', DELAYED, id)
        local stored = redis.call('HGET', REQUESTS, id)
        local level, domain = header(stored or '')
        if domain then
            redis.call('ZADD', queue_of(domain), level * LEVEL + next_seq(), id)
            touched[domain] = true
        elseif stored then -- I8: set aside, with the reason
            redis.call('ZADD', DEAD, now, id)
            redis.call('HSET', AUTOPSY, id, '{"reason":"unreadable","error":"the stored request has no header"}')
            count('buried', 1)
        end
    end
end

-- A domain whose time has come, or comes within the lead, joins the ready ones.
local function promote_waiting()
    local due = redis.call('ZRANGEBYSCORE', WAITING, '-inf', now + lead, 'LIMIT', 0, 2 * wanted)
    local real = now
    now = now + lead
    for _, domain in ipairs(due) do
        place(domain)
    end
    now = real
end

-- How many requests one turn of a domain may take: one where a delay spaces them, else a fair share.
local function share(s)
    if s.delay > 0 then
        return 1
    end
    local fair = math.ceil(wanted / redis.call('ZCARD', READY))
    return math.min(wanted, s.cap - s.active, math.max(fair, 4))
end

-- Pops the first ids of a queue with their requests; an id that `clear` left behind has none.
local function take(domain, most)
    local popped, ids, whole, stored = redis.call('ZPOPMIN', queue_of(domain), most), {}, {}, {}
    for i = 1, #popped, 2 do
        ids[#ids + 1] = popped[i]
    end
    for i, text in ipairs(#ids > 0 and redis.call('HMGET', REQUESTS, unpack(ids)) or {}) do
        if text then
            whole[#whole + 1], whole[#whole + 2], stored[#stored + 1] = popped[2 * i - 1], popped[2 * i], text
        end
    end
    return whole, stored
end

local token, delivered
local function hand_out(domain, s)
    local popped, stored = take(domain, share(s))
    if #popped == 0 then
        return place(domain)
    end
    if not token then
        token = redis.call('HINCRBY', CONTROL, 'token', wanted) - wanted
        delivered = redis.call('EXISTS', DELIVERIES) == 1
    end
    local slot, due = reserve(s, ARGV[7])
    local delay = s.each and math.floor(s.delay) .. ' ' .. s.each or math.floor(s.delay)
    for i, text in ipairs(stored) do
        local id, score = popped[2 * i - 1], string.format('%.0f', tonumber(popped[2 * i]))
        token = token + 1
        local own = string.format('%.0f', token)
        batch('HSET', HELD, id, hold_text(own, worker, score, 'F', domain))
        batch('ZADD', LEASES, expires, id)
        local deaths = delivered and tonumber(redis.call('HGET', DELIVERIES, id)) or 0
        for _, v in ipairs({ id, own, slot, delay, deaths, text }) do
            out[#out + 1] = v
        end
    end
    s.active, s.served, s.until_ms = s.active + #stored, next_seq(), s.delay > 0 and due or s.until_ms
    redis.call('HSET', state_of(domain), 'active', s.active, 'due', due, 'slot', slot, 'served', s.served)
    wanted = wanted - #stored
    place(domain, s)
end

local state = redis.call('HGET', CONTROL, 'paused') and 'PAUSED' or 'OK'
if state == 'OK' then
    promote_delayed()
    for domain in pairs(touched) do
        place(domain)
    end
    touched = {}
    promote_waiting()
    local turns, skipped = 2 * wanted + 100, 0 -- bounds: ids left behind, domains of a lane not had
    while wanted > 0 and turns > 0 do
        turns = turns - 1
        local domain = redis.call('ZRANGE', READY, skipped, skipped)[1]
        if not domain then
            break
        end
        local s = limits(domain)
        local able = s.lane == '' or string.find(ARGV[6], s.lane .. ' ', 1, true)
        if able then hand_out(domain, s) else skipped = skipped + 1 end
    end
    count('leased', #out / 6)
end
write_batches()
local function first(key)
    return tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
end
local waiting, delayed, lease = first(WAITING), first(DELAYED), first(LEASES)
local next_due = math.min(waiting or math.huge, delayed or math.huge)
had_ready = true -- whoever leases knows what is ready; no one needs waking
finish()
return { state, now, next_due == math.huge and 0 or next_due, undone(), entered(), lease and lease < now and 1 or 0, out }
