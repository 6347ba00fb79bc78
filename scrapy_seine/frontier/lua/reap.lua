-- reap: leases whose worker went silent return to their place; too many deliveries bury them.
-- A worker that is killed from outside dies with all that it holds, so that such a death says little of
-- each request. After half of the deliveries a request is tried alone (`isolate`), and the other half
-- has to be deaths of workers that had no other request. Where workers do not get as far, FAR times the
-- deliveries suffice.
-- Requests and domains that are in no place are sought and queued again (I1): see _stranded.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _undone _held _look_is_due _all_placed _stranded
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] leases to look at, at most
-- ARGV[3] deliveries after which a request is buried
-- ARGV[4] how many of them must have been tried alone
-- reply: {returned, buried}
local FAR = 4

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
elseif returned + buried == 0 and look_is_due() then
    look()
end
redis.pcall('ZREMRANGEBYSCORE', P .. 'workers', '-inf', now - 3600000)
count('reaped', returned)
free_slots()
finish()
if buried > 0 then
    announce_end()
end
return { returned, buried }
