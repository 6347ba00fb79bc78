-- block_until: no request to a domain before a time (Retry-After, 429, 503); never shortens a block.
-- include: _core
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] wait from now, ms
-- reply: time until which the domain is blocked, ms
local wanted = now + tonumber(ARGV[3])
local blocked = tonumber(redis.call('HGET', state_of(ARGV[2]), 'blocked')) or 0
blocked = math.max(wanted, blocked)
redis.call('HSET', state_of(ARGV[2]), 'blocked', string.format('%.0f', blocked))
touched[ARGV[2]] = true
count('blocked', 1)
finish()
return blocked
