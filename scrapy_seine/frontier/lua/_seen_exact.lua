-- _seen_exact: fingerprints in integer sets, addressed by linear hashing.
-- A set below 512 integers stays in Redis' compact encoding (8 bytes a fingerprint). Linear hashing
-- (Litwin 1980) splits one set at a time, so growth never pauses and no set outgrows the encoding:
-- an unsplit set holds 1 to 2 times SHARD_FILL on average.
local SHARD_FILL = 200
local BILLION = 1000000000
local DIGITS = 15 -- of a fingerprint that one of Lua's numbers holds
local exact = {}

-- A fingerprint has 64 bits and Lua's numbers 53: it is worked on in two parts, both exact.
local function parts_of(fp)
    local digits = string.byte(fp) == 45 and string.sub(fp, 2) or fp
    return tonumber(string.sub(digits, 1, -10)) or 0, tonumber(string.sub(digits, -9))
end

local function shard_key(gen, n)
    return P .. string.format('seen:%d:%d', gen, n) -- '..' would spell numbers as floats, which is slow
end

local of_bits, half -- 2 ^ of_bits: most fingerprints of a call are looked up in sets of one generation
local function shard(fp, bits, split)
    if bits ~= of_bits then
        of_bits, half = bits, 2 ^ bits
    end
    local wide, h = 2 * half, nil
    if bits < DIGITS and #fp > DIGITS then -- 10^15 is a multiple of `wide`: what is before it says nothing
        h = (tonumber(string.sub(fp, -DIGITS)) or 0) % wide
    else
        local hi, lo = parts_of(fp)
        h = ((hi % wide) * (BILLION % wide) + lo) % wide
    end
    local narrow = h % half
    return narrow < split and h or narrow
end

local function shard_of(g, fp)
    return shard_key(g.gen, shard(fp, g.bits, g.split))
end

local function split_shard(g)
    local from, to = g.split, g.split + 2 ^ g.bits
    local moving = {}
    for _, fp in ipairs(try(shard_key(g.gen, from), 'SMEMBERS') or {}) do
        if shard(fp, g.bits, from + 1) == to then
            moving[#moving + 1] = fp
        end
    end
    if #moving > 0 and try(shard_key(g.gen, to), 'SADD', unpack(moving)) then
        redis.call('SREM', shard_key(g.gen, from), unpack(moving))
    end
    g.split = g.split + 1
    if g.split == 2 ^ g.bits then
        g.bits, g.split = g.bits + 1, 0
    end
end

function exact.begin(g)
    g.bits, g.split = 4, 0
end

function exact.known(g, fp)
    return try(shard_of(g, fp), 'SISMEMBER', fp) == 1
end

-- True when it is new.
function exact.remember(g, fp)
    local key = shard_of(g, fp)
    local added = redis.pcall('SADD', key, fp)
    if added == 0 then
        return false
    elseif added ~= 1 then
        try(key, 'SADD', fp)
    end
    if g.n + 1 > (2 ^ g.bits + g.split) * SHARD_FILL then
        split_shard(g)
    end
    return true
end

function exact.forget(g, fp)
    return try(shard_of(g, fp), 'SREM', fp) or 0
end
