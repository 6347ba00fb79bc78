-- renew: a worker's heartbeat: extends its registration and the leases that it names.
-- The reply has all that an idle worker needs now and then, so that the worker sends no other query.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _undone _held _look_is_due
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] worker
-- ARGV[3] lifetime of a lease, ms
-- ARGV[4] about the worker (JSON: host, pid, pages, started)
-- ARGV[5] then for each lease: id, token
-- reply: {ids of the leases that are no longer the worker's, live workers, undone requests,
--         1 if `sweep` has something to do, cancelled jobs (nil: their key is of the wrong type)}
local expires, lost, ids = now + tonumber(ARGV[3]), {}, {}
for at = 5, #ARGV, 2 do
    ids[#ids + 1] = ARGV[at]
end
fetch_holds(ids)
for at = 5, #ARGV, 2 do
    local hold = holding(ARGV[at])
    if hold and hold.token == ARGV[at + 1] then
        redis.call('ZADD', LEASES, expires, ARGV[at])
    else
        lost[#lost + 1] = ARGV[at]
    end
end
-- Last, because a worker that cannot be registered must keep its leases.
unfit = unlike('ZCARD', { P .. 'workers' }) or unlike('HLEN', { P .. 'worker_info' })
if unfit then
    return unfit
end
if (control[1] or control[3]) and not number(control[8] or '') then
    redis.call('HSET', CONTROL, 'look', string.format('%.0f', now + PASS_MS))
end
redis.call('ZADD', P .. 'workers', expires, ARGV[2])
redis.call('HSET', P .. 'worker_info', ARGV[2], ARGV[4])
local worker = (string.gsub(ARGV[2], '%s', '_'))
local since = redis.pcall('ZSCORE', IDLE, worker)
if type(since) == 'string' and tonumber(since) >= ASLEEP then -- it is idle still
    redis.call('ZADD', IDLE, ASLEEP + now, worker)
end
local swept = redis.pcall('EXISTS', P .. 'seen:drop')
local cancelled = redis.pcall('SMEMBERS', P .. 'cancelled')
return { lost, redis.call('ZCOUNT', P .. 'workers', now, '+inf'), undone(), swept, not cancelled.err and cancelled }
