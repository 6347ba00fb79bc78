-- set_priority: queued requests get another priority; those in flight and the dead keep theirs.
-- A request that changed since it was read (a worker took it and sent it back) stays as it is now.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] then for each: id, SHA-1 of the stored request that was read, stored request with the new level
-- reply: how many have it
local changed = 0
for i = 2, #ARGV, 3 do
    local id, stored = ARGV[i], ARGV[i + 2]
    local level, domain = header(stored)
    local old = redis.call('HGET', REQUESTS, id)
    if level and old and redis.sha1hex(old) == ARGV[i + 1] and select(2, header(old)) == domain then
        local score = try(queue_of(domain), 'ZSCORE', id)
        if score then -- FIFO among its new equals: the sequence stays
            redis.call('HSET', REQUESTS, id, stored)
            redis.call('ZADD', queue_of(domain), level * LEVEL + tonumber(score) % LEVEL, id)
            touched[domain] = true
            changed = changed + 1
        elseif redis.call('ZSCORE', DELAYED, id) then -- its level counts when its time has come
            redis.call('HSET', REQUESTS, id, stored)
            changed = changed + 1
        end
    end
end
count('reprioritised', changed)
finish()
return changed
