-- push: requests enter the frontier, each once (I1): deduplicated, stored, placed in its domain's queue.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _seen_exact _seen_bloom _seen_window _budget _admit
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of requests
-- ARGV[3] then for each: fingerprint ('' skips the filter), domain, level, not before ms (negative: a wait), stored request
-- reply: for each request 'OK', 'DUPLICATE' or 'OVER' (a budget)
local replies, at = {}, 3
for i = 5, #ARGV, 5 do -- before anything is written
    if not argument(ARGV[i]) or not argument(ARGV[i + 1]) then
        return redis.error_reply('ERR a request has no level or no time')
    end
end
reserve_seq(tonumber(ARGV[2]))
for i = 1, tonumber(ARGV[2]) do
    replies[i] = admit(ARGV[at], ARGV[at + 1], argument(ARGV[at + 2]), argument(ARGV[at + 3]), ARGV[at + 4])
    at = at + 5
end
sign()
memorise()
write_spent()
finish()
keep_marks()
return replies
