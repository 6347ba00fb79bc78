-- note_late_send: a request left after its time; the pause that follows is counted from then (I5).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] when it left, ms
-- reply: time from which the next request may be sent, ms
local domain = ARGV[2]
local s = limits(domain)
if not s then
    return now
end
-- A clock that is wrong must not stop a site.
local due = math.ceil(math.min(tonumber(ARGV[3]), now) + s.delay)
if due > s.due then
    redis.call('HSET', state_of(domain), 'due', due)
    s.due, touched[domain] = due, true
end
finish()
return s.due
