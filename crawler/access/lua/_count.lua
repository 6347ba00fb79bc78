-- _count: adds to a count of access; _numbers comes before it.
-- Where somebody wrote something else there it begins anew; other errors are the caller's.
local function add(key, field, n)
    local sum, failure = add_to(key, field, n)
    return failure and redis.call('HINCRBY', key, field, n) or sum
end
