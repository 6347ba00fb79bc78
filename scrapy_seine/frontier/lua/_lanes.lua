-- _lanes: which workers serve a domain that needs a lane: those that have it, or any where no live one has.
-- Workers report their lanes in `worker_info`. `lane:<lane>` in control caches the result:
-- `<time of the next look> <time since when no live worker has the lane, or 0>` (ms).
local LANE_MS, LACKED_MS = 10000, 60000 -- between two looks; a worker that restarts is back by then

-- A worker that names no lanes is of an older version, and may have any of them.
local function has(about, lane)
    local readable, worker = pcall(cjson.decode, about or '')
    local lanes = readable and type(worker) == 'table' and worker.lanes
    if type(lanes) ~= 'table' then
        return true
    end
    for _, name in ipairs(lanes) do
        if name == lane then
            return true
        end
    end
    return false
end

local function somebody_has(lane)
    local alive = redis.pcall('ZRANGEBYSCORE', P .. 'workers', string.format('%.0f', now), '+inf')
    for from = 1, alive.err and 0 or #alive, 1000 do
        local infos = redis.pcall('HMGET', P .. 'worker_info', unpack(alive, from, math.min(from + 999, #alive)))
        for _, about in ipairs(infos.err and { '' } or infos) do
            if has(about, lane) then
                return true
            end
        end
    end
    return alive.err ~= nil
end

-- Since when no live worker has a lane; 0 where one has it.
local function lacked_since(lane)
    local kept = redis.call('HGET', CONTROL, 'lane:' .. lane) or ''
    local at, since = string.match(kept, '^(%d+) (%d+)$')
    at, since = number(at) or 0, number(since) or 0
    if now < at and at <= now + LANE_MS then
        return since
    end
    since = not somebody_has(lane) and (since > 0 and math.min(since, now) or now) or 0
    redis.call('HSET', CONTROL, 'lane:' .. lane, string.format('%.0f %.0f', now + LANE_MS, since))
    return since
end

-- If no live worker has a lane, any worker takes the requests that need it, and logs that the lane is missing.
local anybodys = {}
local function is_anybodys(lane)
    if anybodys[lane] == nil then
        local since = lacked_since(lane)
        anybodys[lane] = since > 0 and now >= since + LACKED_MS
    end
    return anybodys[lane]
end

-- Whether a worker with these lanes, each followed by a space, serves a domain that needs one.
local function serves_lane(lane, lanes)
    return lane == '' or string.find(lanes, lane .. ' ', 1, true) ~= nil or is_anybodys(lane)
end

-- The place of the next ready domain, from *at* on, that a worker with these lanes serves; nil where none is near.
-- Domains of a lane that few workers have stand first among the ready ones, because they wait the longest, and may
-- be thousands. A call looks at LOOKS of them, the second half from a place that changes with the time.
local BLOCK, LOOKS = 25, 1000
local looked, jumped = 0, false
local function pass_lanes(at, lanes)
    while looked < LOOKS do
        local block = redis.call('ZRANGE', READY, at, at + BLOCK - 1)
        if #block == 0 then
            return nil
        end
        for i, domain in ipairs(block) do
            looked = looked + 1
            local lane = redis.pcall('HGET', state_of(domain), 'lane')
            if type(lane) ~= 'string' or serves_lane(lane, lanes) then
                return at + i - 1
            end
        end
        at = at + BLOCK
        if not jumped and 2 * looked >= LOOKS then
            jumped, at = true, math.max(at, now % redis.call('ZCARD', READY))
        end
    end
end
