-- activity: whether anything is left to do here, and whether anything came in since the last look.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _undone
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (not used)
-- reply: {requests neither done nor dead, requests that came in so far}
return { undone(), entered() }
