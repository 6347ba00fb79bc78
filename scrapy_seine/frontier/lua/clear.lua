-- clear: the crawl drops its requests and its memory; limits, tokens, workers and totals stay (I7).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _seen_exact _seen_bloom _seen_window _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- reply: how many requests there were, dead ones too
local n = redis.call('HLEN', REQUESTS)
for _, id in ipairs(redis.call('HKEYS', HELD)) do
    local hold = holding(id)
    if hold then
        let_go(id, hold)
    end
end
free_slots()
local g = recall()
for _, o in ipairs({ retired(g), unpack(g.old) }) do
    redis.call('RPUSH', SEEN .. ':drop', cjson.encode(o))
end
redis.call('HSET', SEEN, 'gen', g.gen)
redis.call('HDEL', SEEN, 'n', 'since', 'kind', 'now', 'old')
for part = 0, LAST do
    n = n + redis.call('XLEN', outbox_of(part))
    redis.call('UNLINK', outbox_of(part))
end
redis.call('UNLINK', REQUESTS, LEASES, HELD, READY, WAITING, DELAYED, DEAD, AUTOPSY, DELIVERIES)
redis.call('HSET', CONTROL, 'cleared', control[3] or 0) -- ids up to here have no request any more
count('cleared', n)
touched, eased = {}, {}
finish()
redis.call('PUBLISH', P .. 'wake', 'pause') -- workers hand back what they have not sent yet
redis.call('PUBLISH', P .. 'wake', 'forget') -- and what they remember of the seen URLs
return n
