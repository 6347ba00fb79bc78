-- reschedule: a worker missed the time at which it should have sent, and asks for another (I5).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _held _next_send
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] id
-- ARGV[3] token; '' for a download of a project's own code, which no request of the crawl stands for
-- ARGV[4] time it was given, ms
-- ARGV[5] how long ago it asked for something else in its place (robots.txt), ms; '' if it did not
-- ARGV[6] patience: give no time further away than this, ms
-- ARGV[7] slack ms, as in lease
-- ARGV[8] domain, where the token is ''
-- reply: {now ms, time at which it may send, delay ms}; time 0: hand the lease back, it takes too long
local domain = ARGV[8]
if ARGV[3] ~= '' then
    local hold = holding(ARGV[2])
    if not hold or hold.token ~= ARGV[3] then
        return { now, 0, 0 }
    end
    domain = hold.domain
end
local s = limits(domain)
if not s then
    return { now, 0, 0 }
end
if ARGV[3] == '' and (control[6] or s.paused) then -- "stop asking" holds for files as well
    return { now, 0, s.delay }
end
if ARGV[5] ~= '' then
    s.until_ms = math.max(s.until_ms, now - tonumber(ARGV[5]) + s.delay)
elseif redis.call('HGET', state_of(domain), 'slot') == ARGV[4] then
    -- Nobody got a later time yet: the pause simply begins with this late request.
    s.until_ms = math.max(now, tonumber(ARGV[4]), tonumber(redis.call('HGET', state_of(domain), 'blocked')) or 0)
end
local slot, due = reserve(s, ARGV[7])
if slot - now > tonumber(ARGV[6]) then
    return { now, 0, s.delay }
end
redis.call('HSET', state_of(domain), 'due', due, 'slot', slot)
touched[domain] = true
finish()
return { now, slot, math.floor(s.delay) }
