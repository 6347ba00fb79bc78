-- fleet_limits: sums up the counts of a crawl's workers, since the first of them joined.
-- A worker sends its whole count, so that a call may be repeated. The count of a worker that left, or whose
-- time ran out, stays in the sum until no worker is left; the next worker then begins at 0.
-- include: _named_errors
-- KEYS[1] hash of the crawl: by worker `until ms, counts`; under '' the counts of those that are gone
-- ARGV[1] worker
-- ARGV[2] ms for which it counts as there; 0: it leaves
-- ARGV[3] then its counts, always of the same kinds
-- reply: the fleet's counts
local me, life = ARGV[1], tonumber(ARGV[2])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

-- Another program may have written here: a word that is no count is left out.
local function counts_of(words)
    local counts = {}
    for n in string.gmatch(words, '%S+') do
        counts[#counts + 1] = tonumber(n) or 0
    end
    return counts
end

local function add(sums, counts)
    for i = 1, #ARGV - 2 do
        sums[i] = (sums[i] or 0) + (counts[i] or 0)
    end
end

local gone, there, others, known = {}, {}, 0, false
local rows = redis.call('HGETALL', KEYS[1])
for i = 1, #rows, 2 do
    local worker, words = rows[i], rows[i + 1]
    local till, counts = string.match(words, '^(%d+) ?(.*)$')
    if worker == '' then
        add(gone, counts_of(words))
    elseif worker == me then
        known = true
    elseif (tonumber(till) or 0) > now then
        others = others + 1
        add(there, counts_of(counts))
    else
        redis.call('HDEL', KEYS[1], worker)
        add(gone, counts_of(counts or ''))
    end
end
if others == 0 and not known then -- the first of a fleet begins anew
    gone = {}
end
local mine, sums = counts_of(table.concat({ unpack(ARGV, 3) }, ' ')), {}
add(sums, gone)
add(sums, there)
add(sums, mine)
if life > 0 then
    redis.call('HSET', KEYS[1], me, string.format('%.0f ', now + life) .. table.concat(mine, ' '))
elseif others > 0 then
    redis.call('HDEL', KEYS[1], me)
    add(gone, mine)
else
    redis.call('DEL', KEYS[1])
    return sums
end
redis.call('HSET', KEYS[1], '', table.concat(gone, ' '))
redis.call('PEXPIRE', KEYS[1], 86400000)
return sums
