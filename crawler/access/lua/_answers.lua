-- _answers: what the fleet knows of a domain's answers that came through proxies; _proxy_keys comes before it.
-- ARGV[2] is the crawl, the domain and the job, ARGV[3] the number of fields in its newer memory,
-- ARGV[4] the crawl, whose doubtful pages these are, ARGV[5] the meta of the requests for them.
local DAY = 86400000 -- a site's pages are other ones after this time, ms
local MOST_TRUST = 3 -- in one source
local compared = ARGV[2]
-- hashes: 'w' digest of words -> JSON: f first page's name, t whether it was taken, s looks that got it from another
-- source, too, o looks that got another one, d pages settled by a look, n pages taken without one, p pages that are
-- looked at now, q when the last of them was, h by source: trust;
-- 'b' digest of bytes -> JSON: f first page's URL, a the words it speaks against. A newer one that is full or half
-- a day old takes the older one's place, so that unused digests are forgotten, also by a job that lasts for weeks.
local newer, older = domain_key('answers', compared), domain_key('answers_before', compared)
local all_looks = domain_key('answer_looks', compared) -- string: number of looks
local doubtful = P .. 'doubtful:' .. ARGV[4] .. ' ' .. compared -- sorted set: name -> when it is to be fetched, ms
local doubtful_sites = P .. 'doubtful:' .. ARGV[4] -- hash: what is compared -> meta of its requests, JSON

-- list: names of the further pages for which an answer was taken
local function pages_key(digest)
    return P .. 'answer_pages:' .. compared .. ' ' .. digest
end

local function get(field)
    local text = redis.call('HGET', newer, field) or redis.call('HGET', older, field) or ''
    local readable, found = pcall(cjson.decode, text)
    return readable and type(found) == 'table' and type(found.f) == 'string' and found or nil
end

local function put(field, record)
    local left = redis.call('PTTL', newer)
    local is_full = redis.call('HEXISTS', newer, field) == 0 and redis.call('HLEN', newer) >= tonumber(ARGV[3])
    if is_full or left >= 0 and left < DAY / 2 then
        redis.call('RENAME', newer, older)
        left = -2
    end
    redis.call('HSET', newer, field, cjson.encode(record))
    if left < 0 then
        redis.call('PEXPIRE', newer, DAY)
    end
end

local function count(record, field)
    return number(record[field]) or 0
end

local function raise(record, field, by)
    record[field] = math.max(0, count(record, field) + by)
end

local function trust_in(record, source)
    return type(record.h) == 'table' and number(record.h[source]) or 0
end

-- What a source's answers to pages with several tell of it: above 0 it got the site's page where another one had
-- this answer, and is not refused so often; below 0 it had this answer itself.
local function trust(record, who, by)
    record.h = type(record.h) == 'table' and record.h or {}
    record.h[who] = math.max(-1, math.min(MOST_TRUST, trust_in(record, who) + by))
end

-- Has a page fetched again at a time.
local function doubt(page, due)
    redis.call('ZADD', doubtful, 'NX', due, page)
    redis.call('PEXPIRE', doubtful, DAY)
    redis.call('HSET', doubtful_sites, compared, ARGV[5])
    redis.call('PEXPIRE', doubtful_sites, DAY)
end

-- Has each page fetched again for which an answer was taken.
local function doubt_all(digest, record)
    if record.t then doubt(record.f, now) end
    record.t = nil
    for _, page in ipairs(redis.call('LRANGE', pages_key(digest), 0, -1)) do doubt(page, now) end
    redis.call('DEL', pages_key(digest))
end
