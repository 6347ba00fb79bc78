-- release: a worker hands leases back unfinished; they keep their place in the queue.
-- include: _types _state _write _limits _core _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of requests
-- ARGV[3] then for each: id, token
-- reply: for each request 'OK' or 'LOST'
local replies, at = {}, 3
for i = 1, tonumber(ARGV[2]) do
    local id, hold = ARGV[at], holding(ARGV[at])
    local mine = hold and hold.token == ARGV[at + 1]
    if mine then
        let_go(id, hold)
        enqueue(hold.domain, hold.score, id)
    end
    count(mine and 'released' or 'lost', 1)
    replies[i] = mine and 'OK' or 'LOST'
    at = at + 2
end
free_slots()
finish()
return replies
