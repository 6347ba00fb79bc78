-- judge_answer: judge an answer that came through a proxy by what the fleet knows of the site's other answers.
-- include: _named_errors _numbers _clock _proxy_keys _answers
-- KEYS[1] prefix of the proxies' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] crawl, domain and job, whose answers are compared
-- ARGV[3] fields of a domain's newer memory, two an answer
-- ARGV[4] the crawl, whose doubtful pages these are
-- ARGV[5] meta of the requests for them, JSON
-- ARGV[6] URL that was requested
-- ARGV[7] the page's name, if it can be fetched again ('' = no)
-- ARGV[8] who stands behind the proxy
-- ARGV[9] digest of the answer's words ('' = it is only compared with the answer before)
-- ARGV[10] digest of its bytes
-- ARGV[11] digest of the words that the page had at the look before ('' = it is requested the first time)
-- ARGV[12] source of the look before
-- ARGV[13] number of looks at the page
-- ARGV[14] a new answer is looked at, too, until the site had so many looks
-- ARGV[15] 1: the page is one of the few that are looked at though their answer is settled
-- ARGV[16] 1: the answer may speak against another one
-- ARGV[17] 1: the page was fetched again too often
-- reply: {'PAGE' | 'UNPROVEN' | 'AGAIN' | 'NO PAGE', first page with the answer, pages to fetch again now}
local url, name, source, words, bytes = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]
local before, before_source, looks = ARGV[11], ARGV[12], tonumber(ARGV[13])
local ENOUGH = 3 -- pages that settle whether an answer is the site's
local MOST_LOOKS = 3 -- at one page for one answer
local FALSE_SHARE = 4 -- an answer is doubted until so many looks for each that got another one get it again
-- After so many looks at a site each answer's first so many further pages are believed, because all pages of a
-- site may have two addresses.
local FEW_LOOKS, FEW_PAGES = 10, 2
local MOST_PAGES = 1000 -- that are remembered with one answer
local LATER = 60000 -- ms for which looks are waited for; after which a page with a doubted answer is fetched again

local function is_doubted(record)
    return count(record, 'o') * FALSE_SHARE > count(record, 's')
end

local function remember(record)
    if name == '' or name == record.f and record.t then return end
    if is_doubted(record) then
        doubt(name, now + LATER)
    elseif name == record.f then
        record.t = true
    elseif redis.call('LLEN', pages_key(words)) < MOST_PAGES then
        redis.call('RPUSH', pages_key(words), name)
        redis.call('PEXPIRE', pages_key(words), DAY)
    end
end

-- Whether only this page has these bytes, because a site may repeat itself in several forms.
local function is_own()
    if words == '' then return true end
    local same = get('b' .. bytes)
    if not same then
        same = { f = url }
        put('b' .. bytes, same)
    end
    if same.f == url then return true, same end
    local against = same.a and get('w' .. same.a)
    if against then
        raise(against, 'o', -1)
        put('w' .. same.a, against)
        same.a = nil
        put('b' .. bytes, same)
    end
    return false
end

-- Counts what a look at the page got.
local function weigh(own, same)
    local first = get('w' .. before) or { f = url }
    if looks == 1 then raise(first, 'p', -1) end
    if before == words then
        raise(first, 's', source ~= before_source and 1 or 0)
    elseif own and ARGV[16] == '1' then
        raise(first, 'o', 1)
        trust(first, source, 1)
        if source ~= before_source then trust(first, before_source, -1) end
        doubt_all(before, first)
        if same then
            same.a = before
            put('b' .. bytes, same)
        end
    end
    put('w' .. before, first)
end

local function verdict_on(record, is_first)
    local all = number(redis.call('GET', all_looks)) or 0
    local has_asked_others = before ~= words or before_source ~= source
    if count(record, 'o') >= ENOUGH and is_doubted(record) then
        local is_trusted = trust_in(record, source) > 0
        -- A portal may show one page of the site, which has this answer itself: so say three sources.
        local may_be_its = (is_first or string.sub(name, 1, 2) ~= '0 ') and trust_in(record, source) >= 0
        if may_be_its and looks >= 2 and before == words and before_source ~= source then return 'PAGE' end
        if not (is_trusted or may_be_its) or looks >= 2 * MOST_LOOKS then return 'NO PAGE' end
        if is_trusted then trust(record, source, -1) end
        return 'AGAIN'
    elseif is_doubted(record) then
        if looks < MOST_LOOKS then return 'AGAIN' end
        if not has_asked_others or ARGV[17] == '1' then return 'NO PAGE' end
    elseif looks == 0 then
        local is_settled = count(record, 'd') >= ENOUGH
        local is_few = not is_first and (is_settled or all >= FEW_LOOKS and count(record, 'n') < FEW_PAGES)
        if is_first and all < tonumber(ARGV[14]) then return 'AGAIN' end
        local is_waited_for = not is_settled and now - count(record, 'q') < LATER and count(record, 'p') >= ENOUGH
        if not (is_first or is_waited_for) and (not is_few or ARGV[15] == '1') then
            raise(record, 'p', now - count(record, 'q') < LATER and 1 or 1 - count(record, 'p'))
            record.q = now
            return 'AGAIN'
        end
        if not is_first then raise(record, 'n', 1) end
    else
        local is_undecided = before == words and not has_asked_others or before ~= words and not is_first
        if is_undecided and looks < MOST_LOOKS and count(record, 'd') < ENOUGH then return 'AGAIN' end
        raise(record, 'd', 1)
    end
    return count(record, 's') > 0 and 'PAGE' or 'UNPROVEN'
end

local own, same = is_own()
if before ~= '' then weigh(own, same) end
if words == '' then return { 'PAGE', url, redis.call('ZCOUNT', doubtful, '-inf', now) } end
local record = get('w' .. words) or { f = name ~= '' and name or url }
local first = string.match(record.f, '^%d+ (.*)$') or record.f
local verdict = verdict_on(record, first == url)
if verdict == 'AGAIN' then redis.call('SET', all_looks, (number(redis.call('GET', all_looks)) or 0) + 1, 'PX', DAY) end
if verdict == 'PAGE' or verdict == 'UNPROVEN' then remember(record) end
put('w' .. words, record)
return { verdict, first, redis.call('ZCOUNT', doubtful, '-inf', now) }
