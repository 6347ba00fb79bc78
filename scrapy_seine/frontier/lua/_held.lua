-- _held: who holds a request, and how a hold ends.
-- A hold is `token worker score state domain`; only the holder of the current token may end it (I2).
-- State F: in flight. L: landed, the download is over and the domain's slot was given back already.
local freed, ended, fetched = {}, {}, {}
local let, dropped = {}, {} -- ids whose leases ended, and those whose requests go

-- Reads many holds at once; `holding` then finds them here.
local function fetch_holds(ids)
    for from = 1, #ids, 1000 do
        local texts = redis.call('HMGET', HELD, unpack(ids, from, math.min(from + 999, #ids)))
        for i, text in ipairs(texts) do
            fetched[ids[from + i - 1]] = text
        end
    end
end

local function holding(id)
    local held = fetched[id]
    if held == nil then
        held = redis.call('HGET', HELD, id)
    end
    if not held or ended[id] then
        return nil
    end
    local token, worker, score, state, domain = string.match(held, '^(%d+) (%S*) (%d+) ([FL]) (.*)$')
    if not token then
        return nil -- not written by any script: nobody holds it
    end
    return { token = token, worker = worker, score = score, domain = domain, landed = state == 'L' }
end

-- Ends the hold; the request itself stays, and the caller says where it goes next.
local function let_go(id, hold)
    ended[id] = true
    let[#let + 1] = id
    if not hold.landed then
        freed[hold.domain] = (freed[hold.domain] or 0) + 1
    end
    eased[hold.domain] = true
end

local function drop(id)
    dropped[#dropped + 1] = id
end

local function to_dead(id, note)
    count_job(select(3, header(redis.call('HGET', REQUESTS, id) or '')), 'failed', 1)
    redis.call('ZADD', DEAD, now, id)
    redis.call('HSET', AUTOPSY, id, note)
    count('buried', 1)
end

-- Writes what ended and gives the freed slots back; runs before finish(), which places the domains.
local function free_slots()
    write_all('ZREM', LEASES, let)
    write_all('HDEL', HELD, let)
    write_all('HDEL', REQUESTS, dropped)
    if sizes[DELIVERIES] > 0 then
        write_all('HDEL', DELIVERIES, dropped)
    end
    let, dropped = {}, {}
    for domain, n in pairs(freed) do
        if (add(state_of(domain), 'active', -n) or 0) < 0 then
            redis.call('HSET', state_of(domain), 'active', 0)
        end
    end
end

-- Ends the holds of a list of requests, each with *width* arguments from its id and its token on.
-- *place* puts a request whose hold was this worker's where it goes, and counts that.
local function end_each(width, place)
    local replies, at = {}, 3
    for i = 1, tonumber(ARGV[2]) do
        local id, hold = ARGV[at], holding(ARGV[at])
        local mine = hold and hold.token == ARGV[at + 1]
        if mine then
            let_go(id, hold)
            place(id, hold, at)
        else
            count('lost', 1)
        end
        replies[i] = mine and 'OK' or 'LOST'
        at = at + width
    end
    free_slots()
    finish()
    return replies
end
