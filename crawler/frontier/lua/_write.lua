-- _write: writes collected while a script runs, sent as few commands: each costs about a microsecond.
-- One list for each command and key; finish() sends them. No script reads what it has collected,
-- and none collects two writes that undo each other.
local batches = {}
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

local function write_batches()
    for command, of in pairs(batches) do
        for key, args in pairs(of) do
            for from = 1, #args, 1000 do -- Lua's stack is short; the step is even, for pairs
                redis.call(command, key, unpack(args, from, math.min(from + 999, #args)))
            end
        end
    end
    batches = {}
end
