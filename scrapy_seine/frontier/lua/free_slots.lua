-- free_slots: downloads are over; their domains' slots are free while the pages are parsed and stored (I5).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] then for each: id, token
-- reply: how many slots were freed
local n = 0
for at = 2, #ARGV, 2 do
    local hold = holding(ARGV[at])
    if hold and hold.token == ARGV[at + 1] and not hold.landed then
        redis.call('HSET', HELD, ARGV[at], hold_text(hold.token, hold.worker, hold.score, 'L', hold.domain))
        freed[hold.domain] = (freed[hold.domain] or 0) + 1
        eased[hold.domain] = true
        n = n + 1
    end
end
free_slots()
finish()
return n
