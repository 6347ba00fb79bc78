-- isolate: a worker begins a request while it has no other, because earlier workers died with it.
-- Should the worker die before it says that this is over, it was this request that it died of (`reap`).
-- include: _numbers _types _state _spelling _sequence _batches _wake _counts _ready_domains _finish _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] id
-- ARGV[3] token
-- ARGV[4] 1: the worker begins; 0: it is over, though the lease may last on
-- reply: 'OK', or 'LOST' where the lease is no longer the caller's
local hold = holding(ARGV[2])
if not hold or hold.token ~= ARGV[3] then
    return 'LOST'
end
local deaths, alone = deaths_with(ARGV[2])
local mark = ARGV[4] == '1' and ' ' .. hold.token or ''
redis.call('HSET', DELIVERIES, ARGV[2], deaths .. ' ' .. alone .. mark)
return 'OK'
