-- first_with: find the fleet's first page of a domain that came through a proxy with these bytes; new bytes are kept.
-- include: _numbers _clock _proxy_keys
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] domain
-- ARGV[3] digest of the bytes
-- ARGV[4] name of the page that has them now
-- ARGV[5] digests that the newer half of a domain's memory holds
-- reply: name of the first page
local digest = ARGV[3]
-- hashes: digest -> page. A full newer one takes the older one's place, so that unused digests are forgotten.
local newer, older = domain_key('answers', ARGV[2]), domain_key('answers_before', ARGV[2])
local DAY = 86400000 -- a site's pages are other ones after this time, ms

local first = redis.call('HGET', newer, digest)
if first then return first end
first = redis.call('HGET', older, digest) or ARGV[4]
if redis.call('HLEN', newer) >= tonumber(ARGV[5]) then redis.call('RENAME', newer, older) end
redis.call('HSET', newer, digest, first)
redis.call('PEXPIRE', newer, DAY)
return first
