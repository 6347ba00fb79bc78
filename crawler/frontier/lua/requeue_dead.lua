-- requeue_dead: dead letters go back, spaced so that a replay is no burst.
-- include: _core
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] pause between two of them, ms
-- ARGV[3] then ids
-- reply: how many went back
local back = 0
for i = 3, #ARGV do
    if redis.call('ZREM', DEAD, ARGV[i]) == 1 then
        redis.call('HDEL', AUTOPSY, ARGV[i])
        redis.call('HDEL', DELIVERIES, ARGV[i])
        redis.call('ZADD', DELAYED, now + back * tonumber(ARGV[2]), ARGV[i])
        back = back + 1
    end
end
count('requeued', back)
finish()
return back
