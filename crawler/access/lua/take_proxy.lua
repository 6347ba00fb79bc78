-- take_proxy: take the proxy that was idle longest and may be used for a domain; an unproven one is used once.
-- include: _named_errors _numbers _clock _count _proxy_keys _proxy_info _ban _next_use
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] pool ('' = any)
-- ARGV[4] country ('' = any)
-- ARGV[5] id of the proxy to keep, if it may be used ('' = none)
-- ARGV[6] token of this use
-- ARGV[7] ms after which a use without a report ends
-- ARGV[8] uses of one proxy at a time (0: any number)
-- ARGV[9] pause between two uses of one proxy, ms
-- ARGV[10] pause between two uses of one proxy for this domain, ms ('' = its limits are for all proxies)
-- ARGV[11] uses of one proxy at a time for this domain (0: any number)
-- ARGV[12] how long before its time a proxy may be taken, ms
-- ARGV[13] name of the worker's list, whose proxies alone are taken ('' = any)
-- ARGV[14] id of the proxy to take only where no other may be used soon ('' = none); its provider's others come before it
-- ARGV[15] 1: the proxy to keep is waited for, unless it rests, because the site accepts no other
-- reply: {'TAKEN', id, 1 if this use decides on it, time of the use ms (0: at once), now ms};
--        {'WAIT', ms until one may be free, 1 if all rest}; {'NONE'}: the pool is empty
local pool = pool_key(ARGV[3], ARGV[4])
local resting, tried = domain_key('rest', ARGV[2]), domain_key('try', ARGV[2])
local proven = domain_key('good', ARGV[2])
local hold, limit, pause = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local domain_pause, domain_limit, lead = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local listed = ARGV[13] ~= '' and list_key(ARGV[13])
local SCAN = 2000 -- most proxies of the pool that are searched
local SOON = 250 -- ms after which a use in progress may have ended
local OTHERS = 5000 -- ms for which another proxy than the avoided one is waited for
local avoided = ARGV[14]
local avoided_info = avoided ~= '' and info_of(avoided)

local function is_full(uses, most_uses)
    redis.call('ZREMRANGEBYSCORE', uses, '-inf', now)
    return redis.call('ZCARD', uses) >= most_uses
end

-- The time at which a proxy may be used, ms (0: now, nil: never by this worker); whether this use decides on
-- it; whether it waits only for its pause for the domain; whether it rests.
local function free_at(id, last)
    if listed and redis.call('SISMEMBER', listed, id) == 0 then return nil end
    local banned = ban_ends(id, resting)
    if banned > now then return banned, true, false, true end
    local probe = banned > 0 or not redis.call('ZSCORE', proven, id)
    local tried_until = probe and number(redis.call('HGET', tried, id)) or 0
    -- What is later than a time from now on was noted before the server's clock was set back.
    if tried_until > now and tried_until <= now + hold then return now + SOON end
    if last <= now and last + pause > now then return last + pause end
    if limit > 0 and is_full(P .. 'uses:' .. id, limit) then return now + SOON end
    if domain_pause then
        if domain_limit > 0 and is_full(uses_key(ARGV[2], id), domain_limit) then return now + SOON end
        local due = next_use(ARGV[2], id, domain_pause)
        if due > now then return due, probe, true end
    end
    return 0, probe
end

local function note_use(uses)
    redis.call('ZADD', uses, now + hold, ARGV[6])
    redis.call('PEXPIRE', uses, hold)
end

local function take(id, probe, at)
    local keys = pools_with(id, pool)
    if not keys then return nil end
    for _, key in ipairs(keys) do
        redis.call('ZADD', key, 'XX', now, id)
    end
    if probe then
        redis.call('HSET', tried, id, now + hold)
        redis.call('PEXPIRE', tried, KEEP)
    end
    if limit > 0 then note_use(P .. 'uses:' .. id) end
    if domain_pause then
        if domain_limit > 0 then note_use(uses_key(ARGV[2], id)) end
        reserve_use(ARGV[2], id, at)
    end
    return { 'TAKEN', id, probe and 1 or 0, domain_pause and at or 0, now }
end

local last_use = ARGV[5] ~= '' and redis.call('ZSCORE', pool, ARGV[5])
if last_use then
    local at, probe, paced, rests = free_at(ARGV[5], tonumber(last_use))
    local is_waited_for = ARGV[15] == '1' and at and not rests
    local is_soon = at == 0 or is_waited_for and paced and at - now <= lead
    local taken = is_soon and take(ARGV[5], probe, math.max(at, now))
    if taken then return taken end
    if is_waited_for and at > now then return { 'WAIT', at - now, 0 } end
end
local first, soonest, all_rest, upcoming, kin, busy_until = 0, nil, true, nil, {}, nil
-- Takes what is free by the end of the lead; else its time may be the soonest.
local function take_or_wait(choice)
    if not choice then return nil end
    if choice.at == 0 or choice.paced and choice.at - now <= lead then
        return take(choice.id, choice.probe, math.max(choice.at, now))
    end
    soonest = math.min(soonest or choice.at, choice.at)
end

while first < SCAN do
    local page = redis.call('ZRANGE', pool, first, first + 49, 'WITHSCORES')
    if #page == 0 then break end
    for i = 1, #page, 2 do
        local at, probe, paced, rests = free_at(page[i], tonumber(page[i + 1]))
        local near = at and not rests and nearness(page[i], avoided, avoided_info)
        local choice = at and { id = page[i], probe = probe, at = at, paced = paced }
        all_rest = all_rest and (rests or not at)
        if near and near > 0 then
            if not (kin[near] and kin[near].at <= at) then kin[near] = choice end
        elseif at == 0 then
            local taken = take(page[i], probe, now)
            if taken then return taken end
        elseif at then
            if paced and not (upcoming and upcoming.at <= at) then upcoming = choice end
            soonest = math.min(soonest or at, at)
            -- For one that rests nothing waits, because it may be refused again, and again.
            if not rests then busy_until = math.min(busy_until or at, at) end
        end
    end
    first = first + 50
end
local taken = take_or_wait(upcoming)
for near = 1, 2 do
    if not taken and not (busy_until and busy_until - now <= OTHERS) then taken = take_or_wait(kin[near]) end
end
if taken then return taken end
if not soonest then return { 'NONE' } end
return { 'WAIT', math.max(soonest - now, 1), all_rest and 1 or 0 }
