-- _slot: when a domain's next request may be sent (I5).
-- Reserves the next slot of a domain; the guard keeps two sends apart although senders jitter.
local function reserve(s)
    local slot = math.max(now, s.until_ms)
    if s.delay == 0 then
        return slot, 0
    end
    local guard = math.min(s.delay * 0.05, math.max(5, s.delay * 0.02), 100)
    local spread = s.delay * s.jitter * math.random()
    return slot, math.ceil(slot + s.delay + guard + spread)
end
