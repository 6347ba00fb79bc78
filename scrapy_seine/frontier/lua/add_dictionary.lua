-- add_dictionary: what requests are packed with enters the crawl, where the caller has tried all others.
-- It stands in `control` beside the crawl's identity, so that a server that loses it has lost the crawl (I12).
-- include: _numbers _types _state _sequence
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] id of the dictionary (hex)
-- ARGV[3] its text
-- ARGV[4] dictionaries of a crawl, at most
-- ARGV[5] then the ids of those that the caller has tried
-- reply: {'THERE' (it is, now or before), 'OTHERS' (to be tried first), 'FULL' or 'WAIT' (a live worker is of
--         a version that reads none), a number of the crawl's sequence that no state without them has,
--         then of each that the caller does not name: id, text}
local id, tried, others, ids, mine = ARGV[2], {}, {}, {}, nil
for at = 5, #ARGV do
    tried[ARGV[at]] = true
end

-- What a worker says of itself is JSON without spaces.
local function all_unpack()
    local alive = redis.pcall('ZRANGEBYSCORE', P .. 'workers', string.format('%.0f', now), '+inf')
    for from = 1, alive.err and 0 or #alive, 1000 do
        local infos = redis.pcall('HMGET', P .. 'worker_info', unpack(alive, from, math.min(from + 999, #alive)))
        for _, about in ipairs(infos.err and {} or infos) do
            if about and not string.find(about, '"unpacks":true', 1, true) then
                return false
            end
        end
    end
    return true
end

local list = redis.call('HGET', CONTROL, 'dictionaries') or ''
for one in string.gmatch(list, '%x+') do
    local text = #ids < tonumber(ARGV[4]) and redis.call('HGET', CONTROL, 'dictionary:' .. one)
    if text then
        ids[#ids + 1] = one
        if one ~= id and not tried[one] then
            others[#others + 1], others[#others + 2] = one, text
        end
        if one == id then
            mine = text
        end
    end
end

reserve_seq(1)
local word
if not all_unpack() then
    word = 'WAIT'
elseif mine then
    word = mine == ARGV[3] and 'THERE' or 'FULL' -- another text under its id is not to be used
elseif #others > 0 then
    word = 'OTHERS'
elseif #ids >= tonumber(ARGV[4]) then
    word = 'FULL'
else
    ids[#ids + 1] = id
    redis.call('HSET', CONTROL, 'dictionary:' .. id, ARGV[3], 'dictionaries', table.concat(ids, ' '))
    word = 'THERE'
end
sign()
return { word, next_seq() + 1, unpack(others) }
