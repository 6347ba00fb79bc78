-- release: a worker hands leases back unfinished; they keep their place in the queue.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of requests
-- ARGV[3] then for each: id, token
-- reply: for each request 'OK' or 'LOST'
return end_each(2, function(id, hold)
    enqueue(hold.domain, hold.score, id)
    count('released', 1)
end)
