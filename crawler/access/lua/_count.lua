-- _count: adds to a count of access; _numbers comes before it.
-- A field that is no number is reset; other errors are raised to the caller.
local function add(key, field, n)
    local sum, failure = add_to(key, field, n)
    return failure and redis.call('HINCRBY', key, field, n) or sum
end
