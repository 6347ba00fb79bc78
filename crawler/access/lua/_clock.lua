-- _clock: the keys' prefix, which carries their hash tag, and the time on the server's clock, ms.
local P = KEYS[1]
local now = tonumber(ARGV[1])
if now == 0 then
    local t = redis.call('TIME')
    now = t[1] * 1000 + math.floor(t[2] / 1000)
end
