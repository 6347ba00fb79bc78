-- _pace_and_limits: a domain's concurrency and pause (I5).
local defaults

local function state_of(domain)
    return P .. 'd:' .. domain
end

-- The limits of a domain: an operator's, else its site file's, else the crawl's. Times in ms.
-- False where its state is no hash. An older state knows nothing of the last sends: a pause follows.
local function limits(domain)
    if not defaults then
        local of = redis.call('HMGET', CONTROL, 'cap', 'delay', 'jitter', 'throttle', 'rolled')
        defaults = { cap = number(of[1]) or 16, delay = number(of[2]) or 0, jitter = number(of[3]) or 0,
            throttle = of[4] == '1', rolled = number(of[5]) }
    end
    local key = state_of(domain)
    local of, s = redis.pcall('HGETALL', key), {} -- few are set, and each field asked for is searched for
    if of.err then
        try(key, 'HGET', 'due')
        return false
    end
    for at = 1, #of, 2 do
        s[of[at]] = of[at + 1]
    end
    local due, blocked, asked = number(s.due or '') or 0, number(s.blocked or '') or 0, number(s.robots or '') or 0
    if s.measured and defaults.throttle then
        asked = math.max(asked, number(s.measured) or 0)
    end
    -- Our own limits may be kept by each address that we ask from; what the site asks for is its own.
    local each = s.spread and asked == 0 and (number(s.spread_until or '') or 0) > now
    local spread = each and number(s.spread) or 1
    local own = s.delay and number(s.delay) or s.site_delay and number(s.site_delay) or defaults.delay
    local fixed = s.delay or s.site_delay or asked > 0 -- the crawl's own pause alone is random
    local cap = s.cap and number(s.cap) or s.site_cap and number(s.site_cap) or defaults.cap
    local guard = each and math.min(10, own * 0.05) or 0 -- as the addresses keep it: none is to wait
    local delay = math.max((own + guard) / spread, asked)
    local rolled = defaults.rolled and defaults.rolled + delay or 0
    return {
        delay = delay, cap = cap * spread,
        each = each and string.format('%.0f %.0f', own, cap), due = due, until_ms = math.max(due, blocked, rolled),
        active = number(s.active or '') or 0, paused = s.paused, served = number(s.served or '') or 0,
        jitter = s.jitter and number(s.jitter) or fixed and 0 or defaults.jitter, lane = s.lane or '',
    }
end

-- Whether a domain takes no further request, because as many as it may have are in flight across the fleet.
local function is_full(s)
    return s.active >= s.cap
end
