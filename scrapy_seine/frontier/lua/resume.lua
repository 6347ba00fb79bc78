-- resume: what pause stopped goes on.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain ('' for the whole crawl)
-- reply: 'OK', or 'NOT PAUSED'
local was
if ARGV[2] == '' then
    was = redis.call('HDEL', CONTROL, 'paused')
else
    was = redis.call('HDEL', state_of(ARGV[2]), 'paused')
    touched[ARGV[2]] = true
end
redis.call('PUBLISH', P .. 'wake', 'resume')
finish()
return was == 1 and 'OK' or 'NOT PAUSED'
