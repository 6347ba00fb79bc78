-- report_use: report the outcome of a proxy's use; a ban rests it for the domain, several bans everywhere.
-- include: _named_errors _numbers _clock _count _proxy_keys _ban
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] id of the proxy
-- ARGV[4] token of the use
-- ARGV[5] outcome: good, ban or unknown
-- ARGV[6] first quarantine, ms; it doubles with each ban in a row
-- ARGV[7] longest quarantine, ms
-- ARGV[8] number of domains whose bans within the first quarantine rest it everywhere
-- reply: 'GOOD', 'UNKNOWN', 'BANNED' (for the domain), 'RESTING' (everywhere), 'AGAIN' (it rests already)
local domain, id, outcome = ARGV[2], ARGV[3], ARGV[5]
local proven = domain_key('good', domain)
redis.call('HDEL', domain_key('try', domain), id)
redis.call('ZREM', P .. 'uses:' .. id, ARGV[4])
redis.call('ZREM', uses_key(domain, id), ARGV[4])
if redis.call('HEXISTS', INFO, id) == 0 then return 'UNKNOWN' end
add(HEALTH, id .. ' ' .. outcome, 1)

if outcome == 'good' then
    redis.call('ZADD', proven, now, id)
    redis.call('PEXPIRE', proven, KEEP)
    forgive(domain, id)
    return 'GOOD'
end
if outcome ~= 'ban' then return 'UNKNOWN' end
redis.call('ZREM', proven, id)
return ban(domain, id, tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]))
