-- report_use: how a use of a proxy ended; a ban sends it to rest for the domain, several for all.
-- include: _clock _proxy_keys _ban
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] id of the proxy
-- ARGV[4] token of the use
-- ARGV[5] outcome: good, ban or unknown
-- ARGV[6] first quarantine, ms; it doubles with each ban in a row
-- ARGV[7] longest quarantine, ms
-- ARGV[8] number of domains whose bans within the first quarantine make it rest everywhere
-- reply: 'GOOD', 'UNKNOWN', 'BANNED' (for the domain), 'RESTING' (everywhere), 'AGAIN' (it rests already)
local domain, id, outcome = ARGV[2], ARGV[3], ARGV[5]
local first, longest = tonumber(ARGV[6]), tonumber(ARGV[7])
local resting, proven = domain_key('rest', domain), domain_key('good', domain)
local strikes, uses, bans = domain_key('bans', domain), P .. 'uses:' .. id, P .. 'banned:' .. id
redis.call('HDEL', domain_key('try', domain), id)
redis.call('ZREM', uses, ARGV[4])
redis.call('ZREM', uses_key(domain, id), ARGV[4])
if redis.call('HEXISTS', INFO, id) == 0 then return 'UNKNOWN' end
add(HEALTH, id .. ' ' .. outcome, 1)

if outcome == 'good' then
    redis.call('ZADD', proven, now, id)
    redis.call('PEXPIRE', proven, KEEP)
    redis.call('ZREM', resting, id)
    redis.call('HDEL', strikes, id)
    redis.call('ZREM', bans, domain)
    redis.call('ZREM', RESTING, id)
    return 'GOOD'
end
if outcome ~= 'ban' then return 'UNKNOWN' end
redis.call('ZREM', proven, id)
-- Uses that were under way together fail together; they are one ban.
local again = tonumber(redis.call('ZSCORE', resting, id) or 0) > now
if not again then
    rest(resting, id, add(strikes, id, 1), first, longest)
end
redis.call('PEXPIRE', resting, KEEP)
redis.call('PEXPIRE', strikes, KEEP)
redis.call('SADD', P .. 'domains', domain)
redis.call('ZREMRANGEBYSCORE', bans, '-inf', now - first)
redis.call('ZADD', bans, now, domain)
redis.call('PEXPIRE', bans, first)
if redis.call('ZCARD', bans) < tonumber(ARGV[8]) then return again and 'AGAIN' or 'BANNED' end
rest(RESTING, id, 1, first, longest)
return again and 'AGAIN' or 'RESTING'
