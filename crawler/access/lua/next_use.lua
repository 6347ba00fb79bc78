-- next_use: a new time for a use of an address for a domain, because it missed its time or had none.
-- include: _named_errors _numbers _clock _count _proxy_keys _next_use
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] id of the proxy, or another name for an address
-- ARGV[4] pause between two uses, ms
-- ARGV[5] time that was missed, ms ('' = none)
-- reply: {now ms, time of the use ms}
local at = math.max(now, next_use(ARGV[2], ARGV[3], tonumber(ARGV[4])))
if ARGV[5] ~= '' and redis.call('HGET', domain_key('pace', ARGV[2]), ARGV[3]) == ARGV[5] then
    at = now -- no later time was reserved, so the pause begins with this late use
end
reserve_use(ARGV[2], ARGV[3], at)
return { now, at }
