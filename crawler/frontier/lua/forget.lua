-- forget: fingerprints are no longer seen, so that their URLs may be pushed again.
-- include: _core _seen
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] then fingerprints
-- reply: how many were known
local gone = 0
for i = 2, #ARGV do
    gone = gone + forget(ARGV[i])
end
memorise()
finish()
return gone
