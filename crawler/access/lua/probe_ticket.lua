-- probe_ticket: whether this request may probe a lower step.
-- include: _named_errors _numbers _clock _count _ladder_state
-- KEYS[1] prefix of the ladder's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] step that is probed
-- reply: 'OK' or 'NO'
if redis.call('HGET', D, 'probe') ~= ARGV[3] then return 'NO' end
return add(D, 'tickets', -1) >= 0 and 'OK' or 'NO'
