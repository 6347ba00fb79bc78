-- _limits: a domain's concurrency and pause (I5).
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
    local s = redis.pcall('HMGET', key, 'delay', 'cap', 'due', 'active', 'paused', 'served',
        'blocked', 'jitter', 'robots', 'measured', 'lane', 'site_delay', 'site_cap', 'spread', 'spread_until')
    if s.err then
        try(key, 'HGET', 'due')
        return false
    end
    local due = s[3] and number(s[3]) or 0
    local blocked = s[7] and number(s[7]) or 0
    local asked = s[9] and number(s[9]) or 0
    if s[10] and defaults.throttle then
        asked = math.max(asked, number(s[10]) or 0)
    end
    -- Our own limits may be kept by each address that we ask from; what the site asks for is its own.
    local each = s[14] and asked == 0 and (number(s[15]) or 0) > now
    local spread = each and number(s[14]) or 1
    local own = s[1] and number(s[1]) or s[12] and number(s[12]) or defaults.delay
    local cap = s[2] and number(s[2]) or s[13] and number(s[13]) or defaults.cap
    local guard = each and math.min(10, own * 0.05) or 0 -- as the addresses keep it: none is to wait
    local delay = math.max((own + guard) / spread, asked)
    local rolled = defaults.rolled and defaults.rolled + delay or 0
    return {
        delay = delay, cap = cap * spread,
        each = each and string.format('%.0f %.0f', own, cap), due = due, until_ms = math.max(due, blocked, rolled),
        active = s[4] and number(s[4]) or 0, paused = s[5], served = s[6] and number(s[6]) or 0,
        jitter = s[8] and number(s[8]) or asked == 0 and defaults.jitter or 0, lane = s[11] or '',
    }
end

-- Whether a domain takes no further request, because as many as it may have are in flight across the fleet.
local function is_full(s)
    return s.active >= s.cap
end
