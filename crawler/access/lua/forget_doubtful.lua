-- forget_doubtful: pages of a site and job that are in the frontier again are doubtful no more.
-- The site and job go with the last of them, in one step: another worker may find a doubtful page meanwhile.
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] crawl
-- ARGV[2] crawl, domain and job, as in judge_answer
-- ARGV[3] then names of pages
-- reply: how many pages of the site and job are doubtful still
local sites = KEYS[1] .. 'doubtful:' .. ARGV[1]
local pages = sites .. ' ' .. ARGV[2]
for at = 3, #ARGV do
    redis.call('ZREM', pages, ARGV[at])
end
local left = redis.call('ZCARD', pages)
if left == 0 then
    redis.call('HDEL', sites, ARGV[2])
end
return left
