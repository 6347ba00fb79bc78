-- _outbox: requests on their way to other partitions of the crawl; one that is not split has none.
-- Each way has a stream of its own, with growing numbers, so that the partition at its end can tell
-- what it has already (see receive), and a server that is away holds up nobody else.
local PART, PARTS = string.match(P, '/(%d+)of(%d+)')
local SUFFIX = PART and '.' .. PART or '' -- of ids, so that they are the only ones in the crawl
local LAST = PARTS and PARTS - 1 or -1

local function outbox_of(part)
    return P .. 'outbox:' .. part
end

local outboxes = {}
for part = 0, LAST do
    outboxes[#outboxes + 1] = outbox_of(part)
end
unfit = unlike('XLEN', outboxes)
if unfit then
    return unfit
end

-- Requests of this partition that are neither done nor dead.
local function undone()
    local n = redis.call('HLEN', REQUESTS) - redis.call('ZCARD', DEAD)
    for part = 0, LAST do
        n = n + redis.call('XLEN', outbox_of(part))
    end
    if n <= 0 then -- what is leased or delayed is not done, even if the server lost the requests (I12)
        n = redis.call('ZCARD', LEASES) + redis.call('ZCARD', DELAYED) + redis.call('ZCARD', READY)
    end
    return n
end

-- Something is left to do, and no key tells where it is.
local function stranded()
    for _, key in ipairs({ LEASES, DELAYED, WAITING, READY }) do
        if redis.call('ZCARD', key) > 0 then
            return false
        end
    end
    return undone() > 0
end

-- Whatever makes undone() more is counted here, and nothing is ever taken off.
local function entered()
    local n = 0
    for _, times in ipairs(redis.call('HMGET', COUNTERS, 'pushed', 'requeued', 'sent')) do
        n = n + (number(times or '') or 0)
    end
    return n
end

-- Tells the workers that wait when nothing is left to do.
local function announce_end()
    if undone() == 0 then
        redis.call('HSET', CONTROL, 'ended', now)
        redis.call('PUBLISH', P .. 'wake', 'done')
    end
end
