-- agree_on_partitions: in how many partitions a crawl is split; who asks first decides, once and for all.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's own keys
-- ARGV[1] now ms (not used)
-- ARGV[2] partitions that the asker would like
-- reply: partitions that the crawl has
local has = redis.call('HGET', CONTROL, 'partitions')
if not has then
    -- A crawl that is older than this question has one.
    has = redis.call('EXISTS', CONTROL) == 1 and '1' or ARGV[2]
    redis.call('HSET', CONTROL, 'partitions', has)
end
return has
