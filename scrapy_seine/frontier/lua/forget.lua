-- forget: fingerprints are no longer seen, so that their URLs may be pushed again.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _seen_exact _seen_bloom _seen_window
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] then fingerprints
-- reply: how many were known; -1: the crawl's memory cannot forget (bloom)
local gone = 0
for i = 2, #ARGV do
    local was = forget(ARGV[i])
    if was < 0 then
        gone = -1
        break
    end
    gone = gone + was
end
memorise()
finish()
redis.call('PUBLISH', P .. 'wake', 'forget') -- workers remember the last minute's URLs themselves
return gone
