-- _ban: a proxy's bans, for a domain or everywhere: start, duration and end; _proxy_keys comes before it.
-- The later end of its bans for the domain of *resting* and everywhere, ms; 0: it was never banned.
local function ban_ends(id, resting)
    local everywhere = tonumber(redis.call('ZSCORE', RESTING, id) or 0)
    return math.max(everywhere, tonumber(redis.call('ZSCORE', resting, id) or 0))
end

-- Starts a proxy's quarantine: the first one, ms, doubles with each ban in a row, up to the longest.
local function rest(key, id, in_a_row, first, longest)
    local ms = math.min(longest, first * 2 ^ math.min(in_a_row - 1, 20))
    redis.call('ZADD', key, now + ms, id)
end

-- Bans a proxy for a domain; everywhere, if *limit* domains ban it within the first quarantine.
-- Returns 'BANNED', 'RESTING' everywhere, or 'AGAIN', because concurrent uses that fail together are
-- one ban.
local function ban(domain, id, first, longest, limit)
    local resting, strikes, bans = domain_key('rest', domain), domain_key('bans', domain), P .. 'banned:' .. id
    local again = tonumber(redis.call('ZSCORE', resting, id) or 0) > now
    if not again then
        rest(resting, id, add(strikes, id, 1), first, longest)
    end
    redis.call('PEXPIRE', resting, KEEP)
    redis.call('PEXPIRE', strikes, KEEP)
    redis.call('SADD', P .. 'domains', domain)
    redis.call('ZREMRANGEBYSCORE', bans, '-inf', now - first)
    redis.call('ZADD', bans, now, domain)
    redis.call('PEXPIRE', bans, first)
    if redis.call('ZCARD', bans) < limit then
        return again and 'AGAIN' or 'BANNED'
    end
    rest(RESTING, id, 1, first, longest)
    return again and 'AGAIN' or 'RESTING'
end

-- Ends the bans of a proxy after a good use, for the domain and everywhere.
local function forgive(domain, id)
    redis.call('ZREM', domain_key('rest', domain), id)
    redis.call('HDEL', domain_key('bans', domain), id)
    redis.call('ZREM', P .. 'banned:' .. id, domain)
    redis.call('ZREM', RESTING, id)
end
