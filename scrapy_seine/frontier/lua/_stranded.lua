-- _stranded: requests and domains that are in no place: somebody deleted a key, or a server dropped one to
-- save memory. Where nothing else is left to do they are sought at once, beside other work in turns.
local SOUGHT = 1000 -- stored requests that one call looks at, about
local LOOKED = 500 -- the same beside other work
local LOOK_MS = 250 -- between two such turns: below 1 % of the server's time
local returned, buried = 0, 0

-- Nothing tells who has a request: where it is in no other place, it is queued again (I1).
local function put_back(id, stored)
    redis.call('ZREM', LEASES, id)
    redis.call('HDEL', HELD, id)
    local level, domain = header(stored or '')
    if not stored or redis.call('ZSCORE', DELAYED, id) or redis.call('ZSCORE', DEAD, id) then
        return
    end
    if redis.call('HEXISTS', AUTOPSY, id) == 1 then -- it was given up, and is not tried again
        redis.call('ZADD', DEAD, now, id)
        return
    end
    if not domain then
        to_dead(id, '{"reason":"unreadable","error":"the stored request has no header"}')
        buried = buried + 1
        return
    end
    touched[domain] = true -- its queue may be known to nobody
    if not try(queue_of(domain), 'ZSCORE', id) then
        enqueue(domain, level * LEVEL + next_seq(), id)
        freed[domain] = (freed[domain] or 0) + 1
        returned = returned + 1
    end
end

-- Nobody has anything of a crawl that is not complete: what is stored is looked through, in turns.
local function seek()
    local state = redis.call('HMGET', CONTROL, 'sought', 'passed')
    local from, passed = state[1] or '0', number(state[2]) or 0
    if from == '0' and now < passed + PASS_MS then
        return
    end
    local found = redis.pcall('HSCAN', REQUESTS, from, 'COUNT', SOUGHT)
    if found.err then -- the cursor is none
        return redis.call('HDEL', CONTROL, 'sought')
    end
    for at = 1, #found[2], 2 do
        put_back(found[2][at], found[2][at + 1])
    end
    for domain in pairs(touched) do
        freed[domain] = 1e9 -- without a lease no slot is in use
    end
    redis.call('HSET', CONTROL, 'sought', found[1])
    if found[1] == '0' then
        redis.call('HSET', CONTROL, 'passed', string.format('%.0f', now))
    end
end

-- Whether somebody has a request; a hold that nobody would ever miss expires like others.
local function is_held(id)
    local leased = redis.call('ZSCORE', LEASES, id)
    if not leased and holding(id) then
        redis.call('ZADD', LEASES, now + PASS_MS, id)
        return true
    end
    return leased
end

-- The slots in use are those of requests in flight, whatever was counted. Returns how many these are.
local function recount(domains)
    local flying, active = redis.call('HLEN', HELD), {}
    if redis.call('ZCARD', LEASES) ~= flying then
        return 0 -- some requests are in flight of which nothing tells the domain
    end
    for _, held in ipairs(redis.call('HVALS', HELD)) do
        local domain = string.match(held, '^%d+ %S* %d+ F (.*)$') or ''
        active[domain] = (active[domain] or 0) + 1
    end
    for domain in pairs(domains) do
        local counted = number(try(state_of(domain), 'HGET', 'active') or '') or 0
        if counted > (active[domain] or 0) then
            redis.call('HSET', state_of(domain), 'active', active[domain] or 0)
        end
    end
    return flying
end

-- Beside other work: what is stored is looked through a part at a time, and nobody's slot is given back.
local function look()
    local from, unplaced, looked = redis.call('HGET', CONTROL, 'looked') or '0', {}, {}
    if from == '0' and all_placed() then
        return redis.call('HSET', CONTROL, 'look', string.format('%.0f', now + PASS_MS))
    end
    local found = redis.pcall('HSCAN', REQUESTS, from, 'COUNT', LOOKED)
    if found.err then -- the cursor is none
        return redis.call('HDEL', CONTROL, 'looked')
    end
    for at = 1, #found[2], 2 do
        local id, stored = found[2][at], found[2][at + 1]
        local domain = select(2, header(stored))
        local queued = domain and try(queue_of(domain), 'ZSCORE', id)
        if not queued and not is_held(id) then
            put_back(id, stored)
        end
        if domain and not looked[domain] then
            looked[domain], unplaced[domain] = true, is_missing(domain) or nil
        end
    end
    for domain in pairs(unplaced) do
        touched[domain] = true
    end
    freed = {}
    local flying = next(unplaced) and recount(unplaced) or 0
    local next_ms = found[1] == '0' and PASS_MS or math.max(LOOK_MS, flying / 10) -- 1 % of the time at most
    redis.call('HSET', CONTROL, 'looked', found[1], 'look', string.format('%.0f', now + next_ms))
end
