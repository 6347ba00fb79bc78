-- robots: replies with the fleet's stored robots.txt of a site, or lets one worker at a time fetch it.
-- include: _named_errors
-- KEYS[1] hash of the site
-- KEYS[2] lock of the site
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] token of the worker that asks
-- ARGV[3] lifetime of the lock, ms; its holder renews it by asking again
-- reply: {'KNOWN', state, ms that it may be believed, body, 1 if the site was public} or
-- {'FETCH', failures in a row, 1 if the site was public} or {'WAIT'}
local now = tonumber(ARGV[1])
if now == 0 then
    local t = redis.call('TIME')
    now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local s = redis.call('HMGET', KEYS[1], 'state', 'until', 'body', 'failures', 'public')
local left = (tonumber(s[2]) or 0) - now
if s[1] and left > 0 then
    return { 'KNOWN', s[1], left, s[3] or '', tonumber(s[5]) or 0 }
end
local held = redis.call('GET', KEYS[2])
if not held or held == ARGV[2] then
    redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
    return { 'FETCH', tonumber(s[4]) or 0, tonumber(s[5]) or 0 }
end
return { 'WAIT' }
