-- _seen_window: which fingerprints the crawl has seen within its window, by generations.
-- A generation takes fingerprints for half a window and is asked until the last of them is a window
-- old; then its keys go to the list `seen:drop`, and `sweep` deletes them in small steps.
-- Each generation has a kind (exact, bloom, bf): another setting counts from the next one on.
local SEEN = P .. 'seen'
local KINDS = { exact = exact, bloom = bloom, bf = bf }
local memory

local function begin(g)
    g.gen, g.kind, g.n, g.since, g.dirty = g.gen + 1, g.wanted, 0, now, true
    KINDS[g.kind].begin(g)
end

-- What a generation has to keep when it is no longer the current one.
local function retired(g)
    return { gen = g.gen, kind = g.kind, n = g.n, since = g.since, bits = g.bits, split = g.split, layers = g.layers }
end

local function turn(g)
    table.insert(g.old, 1, retired(g))
    while #g.old > 0 and now - g.old[#g.old].since > 3 * g.half do
        redis.call('RPUSH', SEEN .. ':drop', cjson.encode(table.remove(g.old)))
    end
    begin(g)
end

-- What is kept as JSON; nil where somebody wrote something else there.
local function kept(text, field)
    local readable, found = pcall(cjson.decode, text or '{}')
    if readable and type(found) == 'table' then
        return found
    end
    note_spoilt(SEEN, field)
end

-- Whether the keys of a generation can be found.
local function is_whole(g)
    return type(g) == 'table' and number(g.gen) and number(g.since) and KINDS[g.kind]
        and (g.kind ~= 'exact' or number(g.bits) and number(g.split)) and (g.kind ~= 'bloom' or type(g.layers) == 'table')
end

local function recall()
    if memory then
        return memory
    end
    local m = redis.call('HMGET', SEEN, 'gen', 'n', 'since', 'kind', 'now', 'old', 'half_ms', 'wanted', 'capacity')
    memory = kept(m[5], 'now') or {}
    local g = memory
    g.gen, g.n, g.since, g.kind = number(m[1] or 0), number(m[2]) or 0, number(m[3]) or now, m[4]
    g.half, g.wanted = number(m[7]) or 302400000, KINDS[m[8]] and m[8] or 'exact'
    g.capacity, g.old = number(m[9]) or 10000000, {}
    for _, o in ipairs(kept(m[6], 'old') or {}) do
        g.old[#g.old + 1] = is_whole(o) and o or nil
    end
    if g.kind and not is_whole(g) then -- pages that it knew may be asked for again
        note_spoilt(SEEN, g.gen and 'kind' or 'gen')
        g.gen, g.kind = g.gen or math.floor(now / 1000), nil
    end
    if not g.kind then
        begin(g)
    elseif now - g.since > g.half or g.kind ~= g.wanted then
        turn(g)
    end
    return g
end

-- Remembers a fingerprint; true when it was not known in the window.
local function unseen(fp)
    local g = recall()
    for _, o in ipairs(g.old) do
        if KINDS[o.kind].known(o, fp) then
            return false
        end
    end
    if not KINDS[g.kind].remember(g, fp) then
        return false
    end
    g.n, g.dirty = g.n + 1, true
    return true
end

-- How many generations knew it; -1: this memory cannot forget.
local function forget(fp)
    local g, gone = recall(), 0
    for _, o in ipairs({ g, unpack(g.old) }) do
        local was = KINDS[o.kind].forget(o, fp)
        if was < 0 then
            return -1
        end
        o.n, gone, g.dirty = o.n - was, gone + was, g.dirty or was > 0
    end
    return gone
end

local function memorise()
    local g = memory
    if g and g.dirty then
        local shape = { bits = g.bits, split = g.split, layers = g.layers }
        redis.call('HSET', SEEN, 'gen', g.gen, 'n', g.n, 'since', string.format('%.0f', g.since), 'kind', g.kind,
            'now', cjson.encode(shape), 'old', cjson.encode(g.old))
    end
end
