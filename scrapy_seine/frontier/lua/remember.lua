-- remember: fingerprints count as seen, without any request (URLs that another crawler has done).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _seen_exact _seen_bloom _seen_window
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] then fingerprints
-- reply: how many were new
local new = 0
for i = 2, #ARGV do
    new = new + (unseen(ARGV[i]) and 1 or 0)
end
memorise()
finish()
return new
