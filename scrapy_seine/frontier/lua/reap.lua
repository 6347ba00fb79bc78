-- reap: leases whose worker went silent return to their place; too many deliveries bury them.
-- A worker that is killed from outside dies with all that it holds, so that such a death says little of
-- each request. After half of the deliveries a request is tried alone (`isolate`), and the other half
-- has to be deaths of workers that had no other request. Where workers do not get as far, FAR times the
-- deliveries suffice.
-- Where nothing is ready, waiting, delayed or leased, requests that are in no place are sought and
-- queued again (I1): somebody deleted a key, or a server dropped one to save memory.
-- include: _types _state _write _limits _core _outbox _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] leases to look at, at most
-- ARGV[3] deliveries after which a request is buried
-- ARGV[4] how many of them must have been tried alone
-- reply: {returned, buried}
local SOUGHT = 1000 -- stored requests that one call looks at, about
local PASS_MS = 60000 -- between two looks at all: a crawl whose domains are paused looks the same
local FAR = 4
local returned, buried = 0, 0

local function take_back(id, hold)
    local deliveries, alone, token = deaths_with(id)
    deliveries, alone = deliveries + 1, alone + (token == hold.token and 1 or 0)
    redis.call('HSET', DELIVERIES, id, deliveries .. ' ' .. alone)
    let_go(id, hold)
    local most = tonumber(ARGV[3])
    if deliveries < most or alone < tonumber(ARGV[4]) and deliveries < FAR * most then
        enqueue(hold.domain, hold.score, id)
        returned = returned + 1
        return
    end
    to_dead(id, cjson.encode({
        reason = 'deliveries', worker = hold.worker, domain = hold.domain,
        error = 'its worker stopped ' .. deliveries .. ' times while it held this request, '
            .. alone .. ' of them while it had no other request',
    }))
    buried = buried + 1
end

-- Nothing tells who has a request: where it is in no other place, it is queued again (I1).
local function put_back(id, stored)
    redis.call('ZREM', LEASES, id)
    redis.call('HDEL', HELD, id)
    local level, domain = header(stored or '')
    if not stored or redis.call('ZSCORE', DELAYED, id) or redis.call('ZSCORE', DEAD, id) then
        return
    end
    if redis.call('HEXISTS', AUTOPSY, id) == 1 then -- it was given up, and is not tried again
        redis.call('ZADD', DEAD, now, id)
        return
    end
    if not domain then
        to_dead(id, '{"reason":"unreadable","error":"the stored request has no header"}')
        buried = buried + 1
        return
    end
    touched[domain] = true -- its queue may be known to nobody
    if not try(queue_of(domain), 'ZSCORE', id) then
        enqueue(domain, level * LEVEL + next_seq(), id)
        freed[domain] = (freed[domain] or 0) + 1
        returned = returned + 1
    end
end

-- Nobody has anything of a crawl that is not complete: what is stored is looked through, in turns.
local function seek()
    local state = redis.call('HMGET', CONTROL, 'sought', 'passed')
    local from, passed = state[1] or '0', number(state[2]) or 0
    if from == '0' and now < passed + PASS_MS then
        return
    end
    local found = redis.pcall('HSCAN', REQUESTS, from, 'COUNT', SOUGHT)
    if found.err then -- the cursor is none
        return redis.call('HDEL', CONTROL, 'sought')
    end
    for at = 1, #found[2], 2 do
        put_back(found[2][at], found[2][at + 1])
    end
    for domain in pairs(touched) do
        freed[domain] = 1e9 -- without a lease no slot is in use
    end
    redis.call('HSET', CONTROL, 'sought', found[1])
    if found[1] == '0' then
        redis.call('HSET', CONTROL, 'passed', string.format('%.0f', now))
    end
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, tonumber(ARGV[2]))) do
    local hold = holding(id)
    if hold then
        take_back(id, hold)
    else
        put_back(id, redis.call('HGET', REQUESTS, id))
    end
end
if stranded() then
    seek()
end
redis.pcall('ZREMRANGEBYSCORE', P .. 'workers', '-inf', now - 3600000)
count('reaped', returned)
free_slots()
finish()
if buried > 0 then
    announce_end()
end
return { returned, buried }
