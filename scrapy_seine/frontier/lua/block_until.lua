-- block_until: no request to a domain before a time (Retry-After, 429, 503); never shortens a block.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] wait from now, ms
-- ARGV[4] a block that follows the last one closely is twice as long, up to this; 0: it is not, ms
-- reply: time until which the domain is blocked, ms
local domain, wait, most = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local s = redis.call('HMGET', state_of(domain), 'blocked', 'pause')
local blocked, last = tonumber(s[1]) or 0, tonumber(s[2]) or 0
if most > 0 and blocked > now then
    wait = 0 -- answers that were under way when the block began say nothing new
elseif most > 0 and last > 0 and now - blocked < last then
    wait = math.max(wait, math.min(2 * last, most))
end
if now + wait > blocked then
    blocked = now + wait
    redis.call('HSET', state_of(domain), 'blocked', string.format('%.0f', blocked),
        'pause', string.format('%.0f', wait))
    announce('block ' .. domain)
    touched[domain] = true
    count('blocked', 1)
end
finish()
return blocked
