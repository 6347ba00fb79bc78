-- set_delay: limits of one domain, for the whole fleet (I5).
-- include: _core
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] pause between two requests, ms ('' leaves it)
-- ARGV[4] requests in flight ('' leaves it)
-- ARGV[5] jitter, as a share of the pause ('' leaves it)
-- reply: 'OK'
for i, field in ipairs({ 'delay', 'cap', 'jitter' }) do
    if ARGV[i + 2] ~= '' then
        redis.call('HSET', state_of(ARGV[2]), field, ARGV[i + 2])
    end
end
touched[ARGV[2]] = true
finish()
return 'OK'
