-- _sequence: numbers that order everything; taken from Redis in blocks, for each command costs a microsecond.
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
