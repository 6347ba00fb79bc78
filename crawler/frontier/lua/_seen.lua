-- _seen: the exact memory of fingerprints: integer sets, addressed by linear hashing.
-- A set below 512 integers stays in Redis' compact encoding (8 bytes a fingerprint). Linear hashing
-- (Litwin 1980) splits one set at a time, so growth never pauses and no set outgrows the encoding:
-- an unsplit set holds 1 to 2 times SHARD_FILL on average. Generations give the rolling window.
local SEEN = P .. 'seen'
local SHARD_FILL = 200
local BILLION = 1000000000
local memory

local function recall()
    if memory then
        return memory
    end
    local m = redis.call('HMGET', SEEN, 'gen', 'bits', 'split', 'n', 'since', 'half_ms', 'old')
    memory = {
        gen = tonumber(m[1]) or 1, bits = tonumber(m[2]) or 4, split = tonumber(m[3]) or 0,
        n = tonumber(m[4]) or 0, since = tonumber(m[5]) or now, half = tonumber(m[6]) or 302400000,
        old = m[7] and m[7] ~= '' and cjson.decode(m[7]) or {}, dirty = not m[1],
    }
    local g = memory
    if now - g.since > g.half then
        local drop = {}
        table.insert(g.old, 1, { gen = g.gen, bits = g.bits, split = g.split, since = g.since })
        while #g.old > 0 and now - g.old[#g.old].since > 3 * g.half do
            table.insert(drop, table.remove(g.old))
        end
        for _, d in ipairs(drop) do
            redis.call('RPUSH', SEEN .. ':drop', cjson.encode(d))
        end
        g.gen, g.bits, g.split, g.n, g.since, g.dirty = g.gen + 1, 4, 0, 0, now, true
    end
    return memory
end

-- Exact although a fingerprint has 64 bits and Lua's numbers 53: the modulus is taken in two parts.
local function shard(fp, bits, split)
    local digits = string.byte(fp) == 45 and string.sub(fp, 2) or fp
    local hi, lo = tonumber(string.sub(digits, 1, -10)) or 0, tonumber(string.sub(digits, -9))
    local wide = 2 ^ (bits + 1)
    local h = ((hi % wide) * (BILLION % wide) + lo) % wide
    local narrow = h % 2 ^ bits
    return narrow < split and h or narrow
end

local function seen_key(gen, n)
    return SEEN .. ':' .. gen .. ':' .. n
end

local function split_shard(g)
    local from, to = g.split, g.split + 2 ^ g.bits
    local moving = {}
    for _, fp in ipairs(redis.call('SMEMBERS', seen_key(g.gen, from))) do
        if shard(fp, g.bits, from + 1) == to then
            moving[#moving + 1] = fp
        end
    end
    if #moving > 0 then
        redis.call('SADD', seen_key(g.gen, to), unpack(moving))
        redis.call('SREM', seen_key(g.gen, from), unpack(moving))
    end
    g.split = g.split + 1
    if g.split == 2 ^ g.bits then
        g.bits, g.split = g.bits + 1, 0
    end
end

-- Remembers a fingerprint; true when it was not known in the window.
local function unseen(fp)
    local g = recall()
    for _, o in ipairs(g.old) do
        if redis.call('SISMEMBER', seen_key(o.gen, shard(fp, o.bits, o.split)), fp) == 1 then
            return false
        end
    end
    if redis.call('SADD', seen_key(g.gen, shard(fp, g.bits, g.split)), fp) == 0 then
        return false
    end
    g.n, g.dirty = g.n + 1, true
    if g.n > (2 ^ g.bits + g.split) * SHARD_FILL then
        split_shard(g)
    end
    return true
end

local function forget(fp)
    local g, gone = recall(), 0
    gone = redis.call('SREM', seen_key(g.gen, shard(fp, g.bits, g.split)), fp)
    if gone == 1 then
        g.n, g.dirty = g.n - 1, true
    end
    for _, o in ipairs(g.old) do
        gone = gone + redis.call('SREM', seen_key(o.gen, shard(fp, o.bits, o.split)), fp)
    end
    return gone
end

local function memorise()
    local g = memory
    if g and g.dirty then
        redis.call('HSET', SEEN, 'gen', g.gen, 'bits', g.bits, 'split', g.split, 'n', g.n,
            'since', g.since, 'old', cjson.encode(g.old))
    end
end
