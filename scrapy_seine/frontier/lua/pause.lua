-- pause: the crawl, or one domain, hands nothing out until resume.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain ('' for the whole crawl)
-- reply: 'OK'
if ARGV[2] == '' then
    redis.call('HSET', CONTROL, 'paused', string.format('%.0f', now))
else
    redis.call('HSET', state_of(ARGV[2]), 'paused', string.format('%.0f', now))
    touched[ARGV[2]] = true
end
redis.call('PUBLISH', P .. 'wake', 'pause')
finish()
return 'OK'
