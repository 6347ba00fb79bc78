-- _seen_bloom: fingerprints as bits: 2 bytes a URL, and of a thousand new URLs less than one is taken for
-- known. Layers follow Almeida et al. 2007: each is twice the size of the one before and errs a
-- quarter as often, so the errors of all together stay bounded however far a crawl grows.
-- A layer is cut into segments, so that no command is slow and no allocation is large; a fingerprint
-- has all its bits in one of them. `bf` leaves all this to the server's own BF commands.
local BITS, PROBES = 15.82, 8 -- per URL in the first layer: errs six times in 10,000
local SMALL, LARGE = 65500, 1048500 -- with Redis' header just below sizes that its allocator has
local bloom, bf = {}, {}

local function segment_key(g, layer, segment)
    return P .. 'seen:' .. g.gen .. ':' .. layer .. ':' .. segment
end

local function add_layer(g)
    local at = #g.layers
    local cap = at == 0 and g.capacity or 2 * g.layers[at].cap
    local bytes = cap * (BITS + 2.8854 * at) / 8
    local segments = math.ceil(bytes / (bytes > 1000 * SMALL and LARGE or SMALL))
    g.layers[at + 1] = { cap = cap, n = 0, k = PROBES + 2 * at, s = segments,
        bytes = math.ceil(bytes / segments), made = string.rep('0', segments) }
end

-- Segment of a fingerprint, and the places of its bits: enhanced double hashing (Dillinger 2004).
local function places(layer, fp)
    local hi, lo = parts_of(fp)
    local bits = layer.bytes * 8
    local at, step = lo % bits, math.floor(hi / layer.s) % (bits - 1) + 1
    local found = {}
    for i = 1, layer.k do
        found[i] = at
        at, step = (at + step) % bits, (step + i) % bits
    end
    return hi % layer.s, found
end

local function in_layer(g, number, fp)
    local layer = g.layers[number]
    local segment, found = places(layer, fp)
    local key = segment_key(g, number, segment)
    for _, at in ipairs(found) do
        if try(key, 'GETBIT', at) ~= 1 then
            return false
        end
    end
    return true
end

-- The whole segment is written at once: Redis gives a string that grows twice the room it needs.
local function make_segment(layer, segment, key)
    if string.byte(layer.made, segment + 1) == 48 then
        redis.call('SET', key, string.rep('\0', layer.bytes))
        layer.made = string.sub(layer.made, 1, segment) .. '1' .. string.sub(layer.made, segment + 2)
    end
end

function bloom.begin(g)
    g.layers = {}
    add_layer(g)
end

function bloom.known(g, fp)
    for number = 1, #g.layers do
        if in_layer(g, number, fp) then
            return true
        end
    end
    return false
end

-- True when it is new. The last layer's bits are set and looked at by one command.
function bloom.remember(g, fp)
    for number = 1, #g.layers - 1 do
        if in_layer(g, number, fp) then
            return false
        end
    end
    local layer = g.layers[#g.layers]
    local segment, found = places(layer, fp)
    local key, set, new = segment_key(g, #g.layers, segment), {}, false
    make_segment(layer, segment, key)
    for _, at in ipairs(found) do
        set[#set + 1], set[#set + 2], set[#set + 3], set[#set + 4] = 'SET', 'u1', at, '1'
    end
    for _, was in ipairs(try(key, 'BITFIELD', unpack(set)) or { 0 }) do
        new = new or was == 0
    end
    if new then
        layer.n = layer.n + 1
        if layer.n >= layer.cap then
            add_layer(g)
        end
    end
    return new
end

function bloom.forget()
    return -1
end

function bf.begin(g)
    redis.call('BF.RESERVE', shard_key(g.gen, 0), 0.001, g.capacity, 'EXPANSION', 2)
end

function bf.known(g, fp)
    return redis.call('BF.EXISTS', shard_key(g.gen, 0), fp) == 1
end

function bf.remember(g, fp)
    return redis.call('BF.ADD', shard_key(g.gen, 0), fp) == 1
end

bf.forget = bloom.forget
