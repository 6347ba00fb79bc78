-- _next_send: when a domain's next request may be sent (I5).
-- Reserves the next slot of a domain; the guard keeps two sends apart although senders jitter, or
-- are as late as the slack that they asked for.
local function reserve(s, slack)
    local slot = math.max(now, s.until_ms)
    if s.delay == 0 then
        return slot, 0
    end
    local guard = math.min(s.delay * 0.05, math.max(5, s.delay * 0.02), 100)
    guard = math.max(guard, math.min(tonumber(slack) or 0, s.delay * 0.5))
    local spread = s.delay * s.jitter * math.random()
    return slot, math.ceil(slot + s.delay + guard + spread)
end
