-- _wake: which idle workers are woken when domains become ready.
local IDLE = P .. 'idle' -- workers that got less than half of what they asked for, by the time since when
local ASLEEP = 1e13 -- added to the score of an idle worker that has no due time to ask at
local AT_A_TIME = 4 -- slots of a domain that a lease takes at least in one turn, where it wants as many
-- Publishes what workers would find out later by asking. A user who lost the right to publish changes no script's end.
local function announce(message)
    redis.pcall('PUBLISH', P .. 'wake', message)
end
local slots, special = 0, false -- that domains offer which became ready here; whether to some lanes only

-- Wakes as many idle workers as can use the slots, because waking a large fleet for each slot costs more than
-- the slot, and the first worker takes AT_A_TIME of them. A worker that got all that it asked for wakes the
-- next one (`due_for`). If no idle worker is known (all have work, or are of an older version), *anyone* may ask.
local function wake(anyone)
    local named = not special and redis.pcall('ZPOPMIN', IDLE, math.max(1, math.min(math.ceil(slots / AT_A_TIME), 1000))) or {}
    local names = {}
    for at = 1, named.err and 0 or #named, 2 do
        names[#names + 1] = named[at]
    end
    if #names > 0 then
        announce('ready ' .. table.concat(names, ' '))
    elseif anyone then
        announce('ready')
    end
end
