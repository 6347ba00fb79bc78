-- robots_store: stores the result of fetching a robots.txt; only the holder of the lock may, which releases it.
-- include: _named_errors
-- KEYS[1] hash of the site
-- KEYS[2] lock of the site
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] token of the worker that fetched
-- ARGV[3] state: rules, free or away
-- ARGV[4] for how long to believe it, ms
-- ARGV[5] failures in a row, this one included
-- ARGV[6] body, deflated
-- ARGV[7] 1 if the site was at a public address: it is kept as long as the entry is
-- reply: 'OK' or 'LOST'
if redis.call('GET', KEYS[2]) ~= ARGV[2] then
    return 'LOST'
end
local now = tonumber(ARGV[1])
if now == 0 then
    local t = redis.call('TIME')
    now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local life = tonumber(ARGV[4])
redis.call('HSET', KEYS[1], 'state', ARGV[3], 'until', string.format('%.0f', now + life),
    'failures', ARGV[5], 'body', ARGV[6])
if ARGV[7] == '1' then
    redis.call('HSET', KEYS[1], 'public', 1)
end
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', life + 3600000))
redis.call('DEL', KEYS[2])
return 'OK'
