-- _batches: writes are collected while a script runs, and sent as few commands: each costs about a microsecond.
-- One list for each command and key; finish() sends them. No script reads what it has collected,
-- and none collects two writes that undo each other.
local AGAIN_MS = 60000 -- a domain with a key of the wrong type is looked at again after this
local batches, broken = {}, {}

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

-- Sends a command with many arguments. Lua's stack is short; the step is even, for pairs.
local function write_all(command, key, args)
    for from = 1, #args, 1000 do
        redis.call(command, key, unpack(args, from, math.min(from + 999, #args)))
    end
end

local function write_batches()
    for command, of in pairs(batches) do
        for key, args in pairs(of) do
            if command ~= 'ZADD' or key == DELAYED then
                write_all(command, key, args)
            else
                for from = 1, #args, 1000 do
                    if not try(key, command, unpack(args, from, math.min(from + 999, #args))) then
                        put_off(args, from)
                    end
                end
            end
        end
    end
    batches = {}
end
