-- measure: how long sites took to answer; the pause of each follows, for the whole fleet (I5).
-- A site that answers in L ms and is to have C requests under way is asked every L / C ms.
-- include: _numbers _types _state _spelling _sequence _batches _wake _limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] requests under way at one site that are aimed at
-- ARGV[3] shortest pause, ms
-- ARGV[4] longest pause, ms
-- ARGV[5] then for each domain: its name, good answers, their mean latency ms, bad answers, theirs
-- reply: the number of domains
local target, least, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

-- The mean moves a tenth of the way with each answer; a bad one (an error page is quick) never
-- makes it shorter.
local function moved(mean, n, latency)
    return mean + (latency - mean) * (1 - 0.9 ^ n)
end

for at = 5, #ARGV, 5 do
    local domain, good, bad = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 3])
    local first = good > 0 and ARGV[at + 2] or ARGV[at + 4]
    local mean = tonumber(try(state_of(domain), 'HGET', 'latency') or first)
    if good > 0 then
        mean = moved(mean, good, tonumber(ARGV[at + 2]))
    end
    if bad > 0 then
        mean = math.max(mean, moved(mean, bad, tonumber(ARGV[at + 4])))
    end
    local pause = math.floor(math.min(math.max(mean / target, least), most))
    try(state_of(domain), 'HSET', 'latency', string.format('%.1f', mean), 'measured', pause)
    touched[domain] = true
end
finish()
return (#ARGV - 4) / 5
