-- set_spread: a domain is asked from several addresses, each of which keeps its limits by itself (I5).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] number of addresses; 1: the limits are the domain's again
-- ARGV[4] for how long this is believed, ms
-- reply: 'OK'
redis.call('HSET', state_of(ARGV[2]), 'spread', ARGV[3], 'spread_until', now + tonumber(ARGV[4]))
touched[ARGV[2]] = true
finish()
return 'OK'
