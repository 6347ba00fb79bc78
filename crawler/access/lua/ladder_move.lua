-- ladder_move: apply a decision about a domain, if no other worker was faster.
-- include: _named_errors _numbers _clock _count _ladder_state
-- KEYS[1] prefix of the ladder's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] step on which the decision was made
-- ARGV[4] probe in progress ('' = none)
-- ARGV[5] decision: climb, down, probe, fail or stuck
-- ARGV[6] step to go to, or to probe
-- ARGV[7] reason, for operators
-- ARGV[8] number of requests that a probe may send
-- reply: 'OK' or 'LATE'
local HISTORY = 20
local step = redis.call('HGET', D, 'step') or 'plain'
local probe = redis.call('HGET', D, 'probe') or ''
if step ~= ARGV[3] or probe ~= ARGV[4] then return 'LATE' end
local kind = ARGV[5]
redis.call('HSET', D, 'step', step, 'good', 0, 'bad', 0, 'probe', '', 'pgood', 0, 'pbad', 0)
if kind == 'climb' or kind == 'down' then
    redis.call('HSET', D, 'step', ARGV[6], 'since', now, 'reason', ARGV[7], 'rests', 0, 'window', now)
    redis.call('HDEL', D, 'stuck')
    redis.call('LPUSH', P .. 'path:' .. ARGV[2], now .. ' ' .. step .. ' ' .. ARGV[6] .. ' ' .. ARGV[7])
    redis.call('LTRIM', P .. 'path:' .. ARGV[2], 0, HISTORY - 1)
    redis.call('PEXPIRE', P .. 'path:' .. ARGV[2], KEEP)
elseif kind == 'probe' then
    redis.call('HSET', D, 'probe', ARGV[6], 'probed', now, 'tickets', ARGV[8])
elseif kind == 'fail' then
    add(D, 'rests', 1)
    redis.call('HSET', D, 'since', now)
elseif kind == 'stuck' then
    redis.call('HSET', D, 'stuck', now, 'reason', ARGV[7])
end
redis.call('PEXPIRE', D, KEEP)
redis.call('ZADD', P .. 'domains', now, ARGV[2])
return 'OK'
