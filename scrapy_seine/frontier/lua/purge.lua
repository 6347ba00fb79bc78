-- purge: dead letters go for good; nothing else is touched.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] then ids
-- reply: how many went
local gone = 0
for i = 2, #ARGV do
    if redis.call('ZREM', DEAD, ARGV[i]) == 1 then
        redis.call('HDEL', AUTOPSY, ARGV[i])
        redis.call('HDEL', DELIVERIES, ARGV[i])
        redis.call('HDEL', REQUESTS, ARGV[i])
        gone = gone + 1
    end
end
count('purged', gone)
finish()
return gone
