-- disown_answer: note that an answer is a proxy's own, and have the pages fetched again that were read from it.
-- include: _named_errors _numbers _clock _proxy_keys _answers
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] crawl, domain and job, whose answers are compared
-- ARGV[3] fields of a domain's newer memory, two an answer
-- ARGV[4] the crawl, whose doubtful pages these are
-- ARGV[5] meta of the requests for them, JSON
-- ARGV[6] digest of the answer's words
-- ARGV[7] URL that was requested
-- ARGV[8] who stands behind the proxy
-- ARGV[9] the page's name, which is requested again by itself ('' = none)
-- ARGV[10] what stands for the first page with the answer from now on ('' = it may be the site's: only this page is
-- not taken)
-- reply: pages to fetch again now
local NEVER = 1000000 -- looks that got another answer: no number of looks that get it makes up for them
local record = get('w' .. ARGV[6]) or { f = ARGV[7] }
if ARGV[10] == '' then
    redis.call('LREM', pages_key(ARGV[6]), 0, ARGV[9])
    if record.f == ARGV[9] then record.t = nil end
    put('w' .. ARGV[6], record)
    return 0
end
raise(record, 'o', NEVER)
trust(record, ARGV[8], -2 * MOST_TRUST)
doubt_all(ARGV[6], record)
record.f = ARGV[10]
redis.call('ZREM', doubtful, ARGV[9])
put('w' .. ARGV[6], record)
return redis.call('ZCOUNT', doubtful, '-inf', now)
