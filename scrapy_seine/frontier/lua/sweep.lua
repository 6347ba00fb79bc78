-- sweep: deletes a bounded number of keys of generations whose window is over.
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (not used: what is on the list is over)
-- ARGV[2] keys to delete, at most
-- reply: how many keys, or entries that name none, were deleted; 0: nothing is left to sweep
local SEEN = KEYS[1] .. 'seen'
local most, deleted = tonumber(ARGV[2]), 0

-- Number of a generation's keys; nil where somebody wrote what names none.
local function size(g)
    if type(g) ~= 'table' or not tonumber(g.gen) then
        return nil
    elseif g.kind == 'exact' then
        return tonumber(g.bits) and tonumber(g.split) and 2 ^ g.bits + g.split
    end
    local n = g.kind == 'bf' and 1 or 0
    for _, layer in ipairs(type(g.layers) == 'table' and g.layers or {}) do
        n = n + layer.s
    end
    return n
end

-- Name of the i-th key of a generation, from 0.
local function name(g, i)
    local stem = SEEN .. ':' .. g.gen .. ':'
    for number, layer in ipairs(g.layers or {}) do
        if i < layer.s then
            return stem .. number .. ':' .. i
        end
        i = i - layer.s
    end
    return stem .. i
end

local text = redis.call('LINDEX', SEEN .. ':drop', 0)
if not text then
    return 0
end
local readable, g = pcall(cjson.decode, text)
local last = readable and size(g)
if not last then
    redis.call('LPOP', SEEN .. ':drop')
    return 1
end
local from = g.at or 0
while from < last and deleted < most do
    redis.call('UNLINK', name(g, from))
    from, deleted = from + 1, deleted + 1
end
if from == last then
    redis.call('LPOP', SEEN .. ':drop')
else
    g.at = from
    redis.call('LSET', SEEN .. ':drop', 0, cjson.encode(g))
end
return deleted
