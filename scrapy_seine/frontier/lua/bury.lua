-- bury: requests that shall not be tried again become dead letters, with the reason.
-- A request whose page had yielded links is buried by `commit`, which adds the links in the same step (I3).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _undone _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of requests
-- ARGV[3] then for each: id, token, note (JSON: reason, error, worker, history)
-- reply: for each request 'OK' or 'LOST'
local replies = end_each(3, function(id, _, at)
    to_dead(id, ARGV[at + 2])
end)
announce_end()
return replies
