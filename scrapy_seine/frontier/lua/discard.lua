-- discard: takes requests of one domain out of the crawl; those in flight end as they would.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] requests of its queue to look at, at most; 0: none
-- ARGV[4] 1: only what is left in the queue of requests that are gone already
-- ARGV[5] then ids of requests that wait in its queue, or are delayed
-- reply: how many were taken out
local domain, looks, gone = ARGV[2], tonumber(ARGV[3]), 0
local function drop(id)
    count_job(select(3, header(redis.call('HGET', REQUESTS, id) or '\n')), 'cancelled', 1)
    redis.call('HDEL', REQUESTS, id)
    redis.call('HDEL', DELIVERIES, id)
    gone = gone + 1
end
local queue = queue_of(domain)
for _, id in ipairs(looks > 0 and redis.call('ZRANGE', queue, 0, looks - 1) or {}) do
    if ARGV[4] ~= '1' or redis.call('HEXISTS', REQUESTS, id) == 0 then
        redis.call('ZREM', queue, id)
        drop(id)
    end
end
for i = 5, #ARGV do
    if redis.call('ZREM', DELAYED, ARGV[i]) + redis.call('ZREM', queue, ARGV[i]) > 0 then
        drop(ARGV[i])
    end
end
if gone > 0 and redis.call('HEXISTS', state_of(domain), 'pages') == 1 then
    add(state_of(domain), 'pages', -gone) -- they no longer count for its budget
end
touched[domain] = true
count('cleared', gone)
finish()
return gone
