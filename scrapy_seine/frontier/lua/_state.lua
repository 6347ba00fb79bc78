-- _state: key names, the crawl's identity, and its clock: every script of the frontier begins here.
-- Every key of a crawl starts with KEYS[1], which carries the hash tag: one script, one slot.
-- A caller that remembers the crawl's state names it behind the time: `now id turn seq name calls`,
-- where `calls` is how many of its own calls it knows to be counted here under its name, and then
-- `asks` where it asks for leases next, and is the only worker that it knows of. Where the
-- server has no crawl of that id (FLUSHALL, a new server), or an older state of it (failover,
-- restore), the script changes nothing and replies STATELOST or ROLLEDBACK (I12).
-- `turn` counts how often a crawl fell back. Each time `seq` moves on by GAP, so that no number that
-- was given out before is given out again: ids, places in queues, numbers of outboxes.
-- The crawl's clock never goes back (I6): `shift` is what the server's own has lost.
local P = KEYS[1]
local REQUESTS, LEASES, HELD = P .. 'requests', P .. 'leases', P .. 'held'
local READY, WAITING, DELAYED = P .. 'ready', P .. 'waiting', P .. 'delayed'
local DEAD, AUTOPSY, DELIVERIES = P .. 'dead', P .. 'autopsy', P .. 'deliveries'
local COUNTERS, CONTROL = P .. 'counters', P .. 'control'
local LEVEL = 1099511627776 -- 2^40: a queue's score is level * LEVEL + sequence, so FIFO in a level
local GAP, STEP_MS = 1048576, 2000

local given, known_id, known_turn, known_seq, me, known_calls, asks =
    string.match(ARGV[1], '^(%d+) ?(%S*) ?(%d*) ?(%d*) ?(%S*) ?(%d*) ?(%S*)$')
local control = redis.pcall('HMGET', CONTROL, 'id', 'turn', 'seq', 'shift', 'clock', 'paused', 'w:' .. me, 'look', 'spoilt')
if control.err then
    return unlike('HLEN', { CONTROL }) or control
end
local clock = number(control[5]) or 0
local now = tonumber(given)
if now == 0 then
    local t = redis.call('TIME')
    now = t[1] * 1000 + math.floor(t[2] / 1000)
end
now = now + (number(control[4]) or 0)

-- Notes that a field held no number, because another program wrote to it, and that it was begun anew; the
-- next `lease` reports the field.
local spoilt = control[9] or ''
local function note_spoilt(key, field)
    local name = key .. ' ' .. field
    if #spoilt < 1000 and not string.find(spoilt .. '\n', name .. '\n', 1, true) then
        spoilt = spoilt == '' and name or spoilt .. '\n' .. name
        redis.call('HSET', CONTROL, 'spoilt', spoilt)
    end
end

-- The sequence is never begun anew, because it orders all requests: it continues above each known number.
if control[3] and not (string.find(control[3], '^[1-9]%d*$') and number(control[3])) then
    local highest, ids = number(known_seq) or 0, redis.pcall('HKEYS', REQUESTS)
    for _, id in ipairs(ids.err and {} or ids) do
        highest = math.max(highest, number(string.match(id, '^%d+')) or 0)
    end
    control[3] = string.format('%.0f', highest + GAP)
    redis.call('HSET', CONTROL, 'seq', control[3])
    note_spoilt(CONTROL, 'seq')
end

if known_id ~= '' then
    if control[1] ~= known_id then
        redis.call('HDEL', CONTROL, 'none') -- a replica without its first copy looks empty, and refuses this
        return redis.error_reply('STATELOST ' .. (control[1] or '-'))
    end
    local turn, mine = tonumber(string.match(control[2] or '', '^%d+$') or 0), tonumber(known_turn) or 0
    local seq, shown = tonumber(control[3]) or 0, tonumber(known_seq) or 0
    local calls = tonumber(string.match(control[7] or '', '^%d+')) or 0
    local behind = seq < shown or turn < mine or (turn == mine and calls < (tonumber(known_calls) or 0))
    if behind or turn ~= mine then
        if behind then -- nobody noticed so far, or others that knew of fewer numbers
            turn, seq = turn > mine and turn or mine + 1, math.max(seq, shown) + GAP
            redis.call('HSET', CONTROL, 'turn', turn, 'seq', string.format('%.0f', seq), 'rolled', now)
            redis.pcall('HINCRBY', COUNTERS, 'rolled_back', 1)
        end
        return redis.error_reply(string.format('ROLLEDBACK %.0f %.0f', turn, seq))
    end
end
-- Counts a call of a caller that remembers the state; its next call states the count that it expects.
local function sign()
    if me ~= '' then
        local calls = tonumber(string.match(control[7] or '', '^%d+')) or 0
        redis.call('HSET', CONTROL, 'w:' .. me, string.format('%.0f %.0f', calls + 1, now))
    end
end

if now < clock - STEP_MS then
    redis.call('HSET', CONTROL, 'shift', string.format('%.0f', (number(control[4]) or 0) + clock - now))
    now = clock
end
