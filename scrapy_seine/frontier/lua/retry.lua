-- retry: failed requests go back, rewritten and not before their time; the lease ends.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of requests
-- ARGV[3] then for each: id, token, wait ms, stored request
-- reply: for each request 'OK' or 'LOST'
return end_each(4, function(id, _, at)
    redis.call('HSET', REQUESTS, id, ARGV[at + 3])
    redis.call('ZADD', DELAYED, now + tonumber(ARGV[at + 2]), id)
    count('retried', 1)
end)
