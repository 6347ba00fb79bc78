-- set_lane: which workers may lease a domain's requests.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] lane that they must have ('' = any worker)
-- reply: 'OK'
local before = redis.call('HGET', state_of(ARGV[2]), 'lane') or ''
if ARGV[3] ~= before then
    redis.call('HSET', state_of(ARGV[2]), 'lane', ARGV[3])
    announce('ready')
end
return 'OK'
