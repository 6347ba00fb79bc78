-- lease: hands requests that may be sent now to one worker, with a fencing token each (I2, I5, I6).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _undone _next_send _look_is_due _lanes _due _leases
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] worker
-- ARGV[3] wanted, at most
-- ARGV[4] lifetime of a lease, ms
-- ARGV[5] lead ms: how long before its due time a domain may be handed out
-- ARGV[6] lanes that the worker has besides the common ones, each followed by a space
-- ARGV[7] slack ms: how late the worker may be with a request beyond the usual
-- ARGV[8] random digits: the part of the tokens that nobody guesses and no older state repeats
-- ARGV[9] 1 where the caller saw the server's clock step forward since its last lease, else 0 or nothing
-- reply: {state 'OK' or 'PAUSED', now ms, next due ms that this worker is to come for (0: none), undone requests,
--         requests that came in so far, 1 if `reap` has something to do, for each domain's turn {slot ms, delay ms,
--         then of each request id, token, stored request}, 'id turn seq' of the crawl's state, keys of the wrong
--         type, workers where the caller knows of no other, numbers that were begun anew, a line each, {id, workers
--         that died with it, …}}; the pause (ms) and the requests in flight of each address follow the delay, where
--         each keeps them by itself
local MOST = 1000 -- a lease's requests go through Lua's stack
local worker = (string.gsub(ARGV[2], '%s', '_'))
local wanted = math.min(tonumber(ARGV[3]), MOST)
local expires, lead = string.format('%.0f', now + tonumber(ARGV[4])), tonumber(ARGV[5])
local out, taken, deaths = {}, {}, {}
local holds, expiries = {}, {} -- what is written of the leases, in pairs

-- How many requests one turn of a domain may take: one where a delay spaces them, else a fair share.
local fair
local function share(s)
    if s.delay > 0 then
        return 1
    end
    fair = fair or math.ceil(wanted / redis.call('ZCARD', READY))
    return math.min(wanted, s.cap - s.active, math.max(fair, AT_A_TIME))
end

-- Pops the first ids of a queue with their requests; nil where the queue is none.
local function take(domain, active, most)
    local popped, ids, whole, stored = try(queue_of(domain), 'ZPOPMIN', most), {}, {}, {}
    if not popped then
        return nil
    end
    taken[#taken + 1] = { domain, active, popped }
    for i = 1, #popped, 2 do
        ids[#ids + 1] = popped[i]
    end
    for i, text in ipairs(#ids > 0 and redis.call('HMGET', REQUESTS, unpack(ids)) or {}) do
        if text then
            whole[#whole + 1], whole[#whole + 2], stored[#stored + 1] = popped[2 * i - 1], popped[2 * i], text
        else
            missing(ids[i])
        end
    end
    return whole, stored
end

local given_out = 0
local function hand_out(domain, s)
    if not s then
        return set_aside(domain)
    elseif s.until_ms > now + lead or is_full(s) then -- its limits changed since it was placed
        return place(domain)
    end
    local popped, stored = take(domain, s.active, share(s))
    if not popped or #popped == 0 then
        return place(domain)
    end
    local slot, due = reserve(s, ARGV[7])
    local turn = { slot, s.each and math.floor(s.delay) .. ' ' .. s.each or math.floor(s.delay) }
    for i, text in ipairs(stored) do
        local id, score = popped[2 * i - 1], digits(popped[2 * i])
        given_out = given_out + 1
        local own, h, n = ARGV[8] .. string.format('%04d', given_out), #holds, #turn
        holds[h + 1], holds[h + 2] = id, hold_text(own, worker, score, 'F', domain)
        expiries[h + 1], expiries[h + 2] = expires, id
        if sizes[DELIVERIES] > 0 then
            deaths[#deaths + 1], deaths[#deaths + 2] = id, (deaths_with(id))
        end
        turn[n + 1], turn[n + 2], turn[n + 3] = id, own, text
    end
    out[#out + 1] = turn
    s.active, s.served, s.until_ms = s.active + #stored, next_seq(), s.delay > 0 and due or s.until_ms
    redis.call('HSET', state_of(domain), 'active', s.active, 'due', due, 'slot', slot, 'served', s.served)
    wanted = wanted - #stored
    place(domain, s)
end

local function serve()
    promote_delayed()
    promote_waiting(lead, 2 * wanted)
    local turns, at = 2 * wanted + 100, 0 -- a bound: ids left behind
    while wanted > 0 and turns > 0 do
        turns = turns - 1
        local domain = at and redis.call('ZRANGE', READY, at, at)[1]
        if not domain then
            break
        end
        local s = limits(domain)
        if not s or serves_lane(s.lane, ARGV[6]) then hand_out(domain, s) else at = pass_lanes(at + 1, ARGV[6]) end
    end
    count('leased', given_out)
    write_leases(holds, expiries)
end

-- Nothing was handed out: what was popped goes back, so that no id is in no queue and no lease (I1).
local function undo()
    for at = #taken, 1, -1 do
        local domain, active, popped = unpack(taken[at])
        for i = 1, #popped, 2 do
            redis.pcall('HDEL', HELD, popped[i])
            redis.pcall('ZREM', LEASES, popped[i])
            redis.pcall('ZADD', queue_of(domain), popped[i + 1], popped[i])
        end
        redis.pcall('HSET', state_of(domain), 'active', active)
        place(domain)
    end
end

local state = control[6] and 'PAUSED' or 'OK'
if state == 'OK' then
    local ok, failure = pcall(serve)
    if not ok or gone > 0 then
        undo()
        return ok and lost() or type(failure) == 'table' and failure or redis.error_reply(failure)
    end
end
if now > clock + 1000 then
    redis.call('HSET', CONTROL, 'clock', string.format('%.0f', now))
end
had_ready = true -- finish() wakes no worker, because due_for does
return answer(state, out, deaths, due_for(worker, 2 * wanted - tonumber(ARGV[3])))
