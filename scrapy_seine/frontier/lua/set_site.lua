-- set_site: limits that a domain's site file asks for; what an operator set for the domain comes first.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] pause between two requests, ms ('': the crawl's own)
-- ARGV[4] requests in flight ('': the crawl's own)
-- reply: 'OK'
for i, field in ipairs({ 'site_delay', 'site_cap' }) do
    if ARGV[i + 2] == '' then
        redis.call('HDEL', state_of(ARGV[2]), field)
    else
        redis.call('HSET', state_of(ARGV[2]), field, ARGV[i + 2])
    end
end
touched[ARGV[2]] = true
finish()
return 'OK'
