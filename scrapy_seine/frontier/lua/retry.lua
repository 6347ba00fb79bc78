-- retry: failed requests go back, rewritten and not before their time; the lease ends.
-- include: _types _state _write _limits _core _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of requests
-- ARGV[3] then for each: id, token, wait ms, stored request
-- reply: for each request 'OK' or 'LOST'
local replies, at = {}, 3
for i = 1, tonumber(ARGV[2]) do
    local id, hold = ARGV[at], holding(ARGV[at])
    local mine = hold and hold.token == ARGV[at + 1]
    if mine then
        let_go(id, hold)
        redis.call('HSET', REQUESTS, id, ARGV[at + 3])
        redis.call('ZADD', DELAYED, now + tonumber(ARGV[at + 2]), id)
    end
    count(mine and 'retried' or 'lost', 1)
    replies[i] = mine and 'OK' or 'LOST'
    at = at + 4
end
free_slots()
finish()
return replies
