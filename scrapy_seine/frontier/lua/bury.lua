-- bury: requests that shall not be tried again become dead letters, with the reason.
-- include: _types _state _write _limits _core _outbox _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of requests
-- ARGV[3] then for each: id, token, note (JSON: reason, error, worker, history)
-- reply: for each request 'OK' or 'LOST'
local replies, at = {}, 3
for i = 1, tonumber(ARGV[2]) do
    local id, hold = ARGV[at], holding(ARGV[at])
    local mine = hold and hold.token == ARGV[at + 1]
    if mine then
        let_go(id, hold)
        to_dead(id, ARGV[at + 2])
    else
        count('lost', 1)
    end
    replies[i] = mine and 'OK' or 'LOST'
    at = at + 3
end
free_slots()
finish()
announce_end()
return replies
