-- set_delay: limits of one domain, for the whole fleet (I5).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] pause between two requests, ms ('' leaves it)
-- ARGV[4] requests in flight ('' leaves it)
-- ARGV[5] jitter, as a share of the pause ('' leaves it)
-- ARGV[6] pause that robots.txt asks for, ms ('' leaves it); of all pauses the longest counts
-- reply: 'OK'
local asked = tonumber(ARGV[6])
local before = asked and redis.call('HMGET', state_of(ARGV[2]), 'robots', 'due')
if asked and asked > (tonumber(before[1]) or 0) then
    -- Whoever learned of the pause asked the site just now: for robots.txt.
    redis.call('HSET', state_of(ARGV[2]), 'due', math.max(now + asked, tonumber(before[2]) or 0))
end
for i, field in ipairs({ 'delay', 'cap', 'jitter', 'robots' }) do
    if ARGV[i + 2] ~= '' then
        redis.call('HSET', state_of(ARGV[2]), field, ARGV[i + 2])
    end
end
touched[ARGV[2]] = true
finish()
return 'OK'
