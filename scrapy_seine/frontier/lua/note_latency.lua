-- note_latency: how long sites took to answer; the pause of each follows, for the whole fleet (I5).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _autothrottle
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] requests under way at one site that are aimed at
-- ARGV[3] shortest pause, ms
-- ARGV[4] longest pause, ms
-- ARGV[5] then for each domain: its name, good answers, their mean latency ms, bad answers, theirs
-- reply: the number of domains
local target, least, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

for at = 5, #ARGV, 5 do
    local domain, good, bad = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 3])
    local mean, pause = throttle(
        tonumber(try(state_of(domain), 'HGET', 'latency') or ''), good, tonumber(ARGV[at + 2]),
        bad, tonumber(ARGV[at + 4]), target, least, most
    )
    try(state_of(domain), 'HSET', 'latency', string.format('%.1f', mean), 'measured', pause)
    touched[domain] = true
end
finish()
return (#ARGV - 4) / 5
