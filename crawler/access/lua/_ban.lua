-- _ban: when a ban of a proxy ends; _proxy_keys comes before it.
-- When the ban that ends last does, for the domain of *resting* or for all, ms; 0: none is known.
local function ban_ends(id, resting)
    local everywhere = tonumber(redis.call('ZSCORE', RESTING, id) or 0)
    return math.max(everywhere, tonumber(redis.call('ZSCORE', resting, id) or 0))
end

-- Bans a proxy: the first quarantine, ms, doubles with each ban in a row, up to the longest.
local function rest(key, id, in_a_row, first, longest)
    local ms = math.min(longest, first * 2 ^ math.min(in_a_row - 1, 20))
    redis.call('ZADD', key, now + ms, id)
end
