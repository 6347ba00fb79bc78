-- outbox_receive: requests from another partition's outbox enter this partition once, however often they are sent.
-- The sender reads its outbox from the head, so that each request with a lower number than the last received
-- one has been received.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _seen_exact _seen_bloom _seen_window _budget _admit
-- KEYS[1] prefix of the partition's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] partition that it comes from
-- ARGV[3] number of requests
-- ARGV[4] then for each: its number there, fingerprint ('' skips the filter), not before ms, stored request
-- reply: requests that had not been received before
local ARRIVED = P .. 'arrived'
unfit = unlike('HLEN', { ARRIVED })
if unfit then
    return unfit
end
local kept, new = redis.call('HGET', ARRIVED, ARGV[2]), 0
local last = number(kept) or 0
if kept and not number(kept) then -- received requests have a fingerprint, or enter twice
    note_spoilt(ARRIVED, ARGV[2])
end

-- What another program wrote there becomes a dead letter, because all that is behind it would wait for ever.
local function set_aside_unreadable(stored)
    local id = string.format('%d', next_seq()) .. SUFFIX
    redis.call('HSET', REQUESTS, id, stored)
    redis.call('HSET', AUTOPSY, id, '{"reason":"unreadable","error":"the link has no header or no time"}')
    redis.call('ZADD', DEAD, now, id)
    count('buried', 1)
end

for at = 4, 4 * tonumber(ARGV[3]), 4 do
    local number, due, stored = tonumber(ARGV[at]), tonumber(ARGV[at + 2]), ARGV[at + 3]
    if number > last then
        local level, domain, job = header(stored)
        if level and due then
            admit(ARGV[at + 1], domain, level, due, stored)
        else
            set_aside_unreadable(stored)
        end
        count_job(job, 'arrived', 1)
        last, new = number, new + 1
    end
end
if new > 0 then
    redis.call('HSET', ARRIVED, ARGV[2], string.format('%.0f', last))
    count('arrived', new)
end
memorise()
write_spent()
finish()
return new
