-- count_verdicts: add verdicts to a domain's window, and return its state; also without verdicts.
-- include: _named_errors _numbers _clock _count _ladder_state
-- KEYS[1] prefix of the ladder's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] length of the window, ms, after which the earlier counts are halved
-- ARGV[4] then for each step: name, good verdicts, bad verdicts, cost of all, in units
-- reply: {now ms, units spent this hour, step, since ms, good, bad, probe, good and bad verdicts of
--         the probe, its beginning ms, failed probes in a row, reason, stuck since ms}
local step = redis.call('HGET', D, 'step') or 'plain'
local probe = redis.call('HGET', D, 'probe') or ''
for at = 4, #ARGV, 4 do
    local name, good, bad, cost = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
    if name == step then
        local began = number(redis.call('HGET', D, 'window')) or 0
        if now - began > tonumber(ARGV[3]) then
            for _, field in ipairs({ 'good', 'bad' }) do
                local count = number(redis.call('HGET', D, field)) or 0
                redis.call('HSET', D, field, math.floor(count / 2))
            end
            redis.call('HSET', D, 'window', now)
        end
        redis.call('HSETNX', D, 'since', now)
        redis.call('HSETNX', D, 'step', step)
        add(D, 'good', good)
        add(D, 'bad', bad)
    elseif name == probe then
        add(D, 'pgood', good)
        add(D, 'pbad', bad)
    end -- else: sent on an earlier step, so it does not count for this one
    if cost > 0 then
        local spent = P .. 'spent:' .. math.floor(now / 3600000)
        if type(redis.pcall('INCRBY', spent, cost)) == 'table' then -- it is no number any more
            redis.call('SET', spent, cost)
        end
        redis.call('PEXPIRE', spent, 2 * 3600000)
    end
end
if #ARGV > 3 then
    redis.call('PEXPIRE', D, KEEP)
    redis.call('ZADD', P .. 'domains', now, ARGV[2])
    redis.call('ZREMRANGEBYSCORE', P .. 'domains', '-inf', now - KEEP)
end
return view()
