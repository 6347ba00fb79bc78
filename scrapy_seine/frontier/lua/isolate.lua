-- isolate: a worker begins a request while it has no other, because earlier workers died with it.
-- Should the worker die under this token, it was this request that it died of (`reap`).
-- include: _types _state _write _core _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] id
-- ARGV[3] token
-- reply: 'OK', or 'LOST' where the lease is no longer the caller's
local hold = holding(ARGV[2])
if not hold or hold.token ~= ARGV[3] then
    return 'LOST'
end
local deaths, alone = deaths_with(ARGV[2])
redis.call('HSET', DELIVERIES, ARGV[2], deaths .. ' ' .. alone .. ' ' .. hold.token)
return 'OK'
