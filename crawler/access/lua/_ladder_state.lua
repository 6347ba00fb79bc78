-- _ladder_state: one domain's place on the ladder; _clock comes before it.
local KEEP = 30 * 86400000 -- a domain's state expires after a month without a visit, ms
local D = P .. 'd:' .. ARGV[2]
local FIELDS = { 'step', 'since', 'good', 'bad', 'probe', 'pgood', 'pbad', 'probed', 'rests', 'reason', 'stuck' }

-- The domain's state as in the reply: now ms, units spent this hour, then FIELDS ('' = none).
local function view()
    local spent = redis.call('GET', P .. 'spent:' .. math.floor(now / 3600000))
    local out = { now, number(spent) or 0 }
    for _, value in ipairs(redis.call('HMGET', D, unpack(FIELDS))) do
        out[#out + 1] = value or ''
    end
    return out
end
