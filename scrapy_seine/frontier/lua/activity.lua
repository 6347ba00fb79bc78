-- activity: how many requests are left to do in this partition, and how many have entered it so far.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _undone
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (not used)
-- reply: {requests neither done nor dead, requests that entered so far}
return { undone(), entered() }
