-- requeue_dead: dead letters go back, spaced so that a replay is no burst.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] wait before the first, ms
-- ARGV[3] pause between two of them, ms
-- ARGV[4] then for each: id, stored request ('' leaves it as it is)
-- reply: how many went back
local back, wait, pause = 0, tonumber(ARGV[2]), tonumber(ARGV[3])
for i = 4, #ARGV, 2 do
    local id = ARGV[i]
    if redis.call('ZREM', DEAD, id) == 1 then
        redis.call('HDEL', AUTOPSY, id)
        count_job(select(3, header(redis.call('HGET', REQUESTS, id) or '')), 'failed', -1)
        redis.call('HDEL', DELIVERIES, id)
        if ARGV[i + 1] ~= '' then
            redis.call('HSET', REQUESTS, id, ARGV[i + 1])
        end
        redis.call('ZADD', DELAYED, now + wait + back * pause, id)
        back = back + 1
    end
end
count('requeued', back)
finish()
return back
