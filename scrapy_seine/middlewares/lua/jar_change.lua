-- jar_change: sets and removes cookies of a jar that the fleet shares, and counts its version up.
-- include: _named_errors
-- KEYS[1] hash of the jar: cookie by its place, and the version under an empty name
-- ARGV[1] lifetime of the jar, s
-- ARGV[2] cookies at most; what is more stays with its worker
-- ARGV[3] how many cookies are set; their places and values follow, then places that are empty now
-- reply: the jar's version
local set = tonumber(ARGV[3])
local room = tonumber(ARGV[2]) - redis.call('HLEN', KEYS[1])
for at = 4, 2 + 2 * set, 2 do
    if room > 0 or redis.call('HEXISTS', KEYS[1], ARGV[at]) == 1 then
        room = room - redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1])
    end
end
for at = 4 + 2 * set, #ARGV do
    redis.call('HDEL', KEYS[1], ARGV[at])
end
local version = redis.pcall('HINCRBY', KEYS[1], '', 1)
if type(version) == 'table' then -- what somebody else wrote there is no number
    redis.call('HSET', KEYS[1], '', 1)
    version = 1
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return version
