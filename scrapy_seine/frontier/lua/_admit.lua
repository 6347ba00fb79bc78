-- _admit: one request enters the frontier.
-- Whoever repeats a call whose reply was lost must not enter a request twice: by its fingerprint, or,
-- where it has none or enters although seen, by a mark behind a '*' that its sender made for it once.
-- A mark is remembered for 20 to 40 minutes. It is written with the request, not before.
local MARKS_S = 1200
local marks = math.floor(now / 1000 / MARKS_S)
local marked
local function repeated(mark)
    local key = P .. 'marks:' .. marks
    marked = marked or {}
    if marked[mark] or try(key, 'SISMEMBER', mark) == 1
        or try(P .. 'marks:' .. (marks - 1), 'SISMEMBER', mark) == 1 then
        return true
    end
    marked[mark] = true
    return false
end

local function keep_marks()
    local key = P .. 'marks:' .. marks
    for mark in pairs(marked or {}) do
        try(key, 'SADD', mark)
    end
    if marked then
        redis.call('EXPIRE', key, 2 * MARKS_S)
    end
end

local function admit(fp, domain, level, not_before, stored)
    local job, kind, mark = job_of(stored), string.byte(fp), nil
    if kind == 33 or kind == 42 then -- '!' or '*': only these have marks
        fp, mark = string.match(fp, '^([^*]*)%*?(.*)$')
        if mark ~= '' and repeated(mark) then -- even where a budget is used up now, maybe by itself
            count('duplicate', 1)
            return 'DUPLICATE'
        end
    end
    local over = over_budget(domain, job)
    if over and kind ~= 33 then -- a seed was asked for by name: it enters, and counts
        if marked and mark then
            marked[mark] = nil -- it may enter later
        end
        count(over, 1)
        return 'OVER'
    end
    if kind == 33 then -- a seed enters although seen, and is remembered
        if #fp > 1 then
            unseen(string.sub(fp, 2))
        end
    elseif fp ~= '' and not unseen(fp) then
        count('duplicate', 1)
        return 'DUPLICATE'
    end
    local number = next_seq()
    local id = string.format('%d', number) .. SUFFIX
    batch('HSET', REQUESTS, id, stored)
    if not_before < 0 then -- a wait, for no clock but the crawl's counts (I6)
        not_before = now - not_before
    end
    if not_before > now then
        batch('ZADD', DELAYED, not_before, id)
    else
        batch('ZADD', queue_of(domain), level * LEVEL + number, id)
        touched[domain] = true
    end
    count('pushed', 1)
    count_job(job, 'total', 1)
    spend(domain, job)
    return 'OK'
end
