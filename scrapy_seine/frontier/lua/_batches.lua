-- _batches: how what is stored is spelled, and writes collected while a script runs.
-- They are sent as few commands: each costs about a microsecond.
-- One list for each command and key; finish() sends them. No script reads what it has collected,
-- and none collects two writes that undo each other.
local AGAIN_MS = 60000 -- a domain with a key of the wrong type is looked at again after this
local batches, broken = {}, {}

-- Servers spell a large score by an exponent, or do not.
local function digits(score)
    return string.find(score, '^%d+$') and score or string.format('%.0f', tonumber(score))
end

local function hold_text(token, worker, score, state, domain)
    return token .. ' ' .. worker .. ' ' .. score .. ' ' .. state .. ' ' .. domain
end

-- A stored request starts with `level domain`, its job if it has one, and a newline.
local function header(stored)
    local level, domain, job = string.match(stored, '^(%-?%d+) ([^ \n]*) ?([^\n]*)\n')
    return tonumber(level), domain, job or ''
end

-- How many workers died with a request, how many of them had no other request (`isolate`), and under
-- which token a worker has it so now.
local function deaths_with(id)
    local deaths, alone, token = string.match(redis.call('HGET', DELIVERIES, id) or '', '^(%d+) ?(%d*) ?(%d*)$')
    return number(deaths) or 0, number(alone) or 0, token
end

local function job_of(stored)
    return string.match(stored, '^%-?%d+ [^ \n]* ([^\n]*)\n') or ''
end

-- Numbers that order everything; taken from Redis in blocks, for each command costs a microsecond.
local block, left = 0, 0
local function reserve_seq(n)
    block, left = redis.call('HINCRBY', CONTROL, 'seq', n) - n, n
end

local function next_seq()
    if left == 0 then
        reserve_seq(16)
    end
    block, left = block + 1, left - 1
    return block - 1
end

-- Calls a command on a key of one domain, job or set of fingerprints. Where somebody put something of
-- another type there, the reply is nil: it costs that domain only, and the key's name is kept.
local function try(key, command, ...)
    local reply = redis.pcall(command, key, ...)
    if type(reply) == 'table' and reply.err then
        if not string.find(reply.err, 'WRONGTYPE', 1, true) then
            return redis.call(command, key, ...) -- fails as it should
        end
        broken[key] = true
        return nil
    end
    return reply
end

local function batch(command, key, one, two)
    local of = batches[command]
    if not of then
        of = {}
        batches[command] = of
    end
    local args = of[key]
    if not args then
        args = {}
        of[key] = args
    end
    local n = #args
    args[n + 1], args[n + 2] = one, two
end

-- A request is always somewhere (I1): what its domain's queue cannot take waits among the delayed.
local function put_off(args, from)
    for i = from + 1, math.min(from + 999, #args), 2 do
        redis.call('ZADD', DELAYED, now + AGAIN_MS, args[i])
    end
end

local function write_batches()
    for command, of in pairs(batches) do
        for key, args in pairs(of) do
            local queue = command == 'ZADD' and key ~= DELAYED and key ~= LEASES
            for from = 1, #args, 1000 do -- Lua's stack is short; the step is even, for pairs
                local last = math.min(from + 999, #args)
                if not queue then
                    redis.call(command, key, unpack(args, from, last))
                elseif not try(key, command, unpack(args, from, last)) then
                    put_off(args, from)
                end
            end
        end
    end
    batches = {}
end

local IDLE = P .. 'idle' -- workers that got less than half of what they asked for, by the time since when
local ASLEEP = 1e13 -- added to the time since when a worker is idle that is to come for nothing
local AT_A_TIME = 4 -- slots of a domain that a lease takes at least in one turn, where it wants as many
local slots, special = 0, false -- that domains offer which became ready here; whether to some lanes only

-- Tells as many idle workers as can use the slots: to tell all of a large fleet of each slot costs more
-- than the slot, and who comes first takes AT_A_TIME of them. A worker that got all it asked for tells
-- the next one (`due_for`). Where nobody idle is known (all are busy, or of an older version), *anyone* may ask.
local function wake(anyone)
    local named = not special and redis.pcall('ZPOPMIN', IDLE, math.max(1, math.min(math.ceil(slots / AT_A_TIME), 1000))) or {}
    local names = {}
    for at = 1, named.err and 0 or #named, 2 do
        names[#names + 1] = named[at]
    end
    if #names > 0 then
        redis.call('PUBLISH', P .. 'wake', 'ready ' .. table.concat(names, ' '))
    elseif anyone then
        redis.call('PUBLISH', P .. 'wake', 'ready')
    end
end
