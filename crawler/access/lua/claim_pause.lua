-- claim_pause: remember that one source's answer names a long pause of a domain; a second source confirms it.
-- include: _named_errors _numbers _clock _proxy_keys
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] who stands behind the proxy
-- ARGV[4] for how long it counts, ms
-- reply: the number of sources that name a pause now
local claims = domain_key('pauses', ARGV[2]) -- sorted set: source -> until when its answer counts, ms
redis.call('ZREMRANGEBYSCORE', claims, '-inf', now)
redis.call('ZADD', claims, 'GT', now + tonumber(ARGV[4]), ARGV[3])
redis.call('PEXPIRE', claims, math.max(redis.call('PTTL', claims), tonumber(ARGV[4])))
return redis.call('ZCARD', claims)
