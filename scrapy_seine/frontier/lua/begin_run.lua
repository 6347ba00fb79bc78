-- begin_run: a crawl that has ended is begun anew, once for all who ask at the same time.
-- include: _numbers _types _state _spelling _sequence _batches _wake
-- KEYS[1] prefix of the crawl's own keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of the run that the caller read: a later one was begun meanwhile by another
-- ARGV[3] name of the run; '' for none
-- ARGV[4] what is to be kept of the run's beginning (JSON)
-- ARGV[5] runs that are kept, at most
-- reply: {number of the run to work on, 'BEGAN', 'JOINED' (the latest one) or 'NAMED' (the one of that name)}
local RUNS = P .. 'runs'
local unfit = unlike('HLEN', { RUNS })
if unfit then
    return unfit
end
local named = ARGV[3] ~= '' and tonumber(redis.call('HGET', RUNS, 'name:' .. ARGV[3]) or '')
if named then
    return { named, 'NAMED' }
end
local has = number(redis.call('HGET', CONTROL, 'run') or '') or 0
if has ~= tonumber(ARGV[2]) then
    return { has, 'JOINED' }
end
has = has + 1
redis.call('HSET', CONTROL, 'run', has, 'run_at', string.format('%.0f', now), 'run_name', ARGV[3])
redis.call('HSET', RUNS, has, ARGV[4], 'at:' .. has, string.format('%.0f', now))
if ARGV[3] ~= '' then
    redis.call('HSET', RUNS, 'name:' .. ARGV[3], has)
end
local old = has - tonumber(ARGV[5])
local readable, start = pcall(cjson.decode, redis.call('HGET', RUNS, old) or '')
local name = readable and type(start) == 'table' and start.name or ''
redis.call('HDEL', RUNS, old, 'at:' .. old, 'closed:' .. old, 'name:' .. tostring(name))
return { has, 'BEGAN' }
