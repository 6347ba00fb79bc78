-- _leases: writes who got what, and until when.
-- Redis keeps a small key as a list, which is searched from its beginning for each id that is added or taken
-- off, until it has held a text of more than 64 bytes: the search took an eighth of a lease and its commit.
local LONG, FEW = string.rep('-', 65), 8

-- Takes pairs as HSET and ZADD do.
local function write_leases(holds, expiries)
    local begins = sizes[LEASES] == 0 and #holds > 2 * FEW
    if begins then
        redis.call('HSET', HELD, LONG, '')
        redis.call('ZADD', LEASES, 0, LONG)
    end
    write_all('HSET', HELD, holds)
    write_all('ZADD', LEASES, expiries)
    if begins then
        redis.call('HDEL', HELD, LONG)
        redis.call('ZREM', LEASES, LONG)
    end
end
