-- settle_seeds: claimed seeds are in the frontier, or rejected with their reason.
-- include: _types
-- KEYS[1] claimed seeds by claim (hash)
-- KEYS[2] claims by expiry (sorted set)
-- KEYS[3] rejected seeds (list of JSON)
-- KEYS[4] times that a claim was handed out and not read to its end (hash)
-- ARGV[1] rejects kept, at most
-- ARGV[2] then for each: claim, note ('' for a good seed, else JSON: seed, reason)
-- reply: 'OK'
local unfit = unlike('HLEN', { KEYS[1], KEYS[4] }) or unlike('ZCARD', { KEYS[2] }) or unlike('LLEN', { KEYS[3] })
if unfit then
    return unfit
end
for at = 2, #ARGV, 2 do
    if redis.call('HDEL', KEYS[1], ARGV[at]) == 1 and ARGV[at + 1] ~= '' then
        redis.call('LPUSH', KEYS[3], ARGV[at + 1])
        redis.call('LTRIM', KEYS[3], 0, tonumber(ARGV[1]) - 1)
    end
    redis.call('ZREM', KEYS[2], ARGV[at])
    redis.call('HDEL', KEYS[4], ARGV[at])
end
return 'OK'
