-- _budget: how much a domain, a job and the whole crawl may hold. 0, the default, is no limit.
-- What is over a budget is refused and counted, and not remembered as seen: it may come again.
local most, room
local pages, spent = {}, {}

local function read_budgets()
    local b = redis.call('HMGET', CONTROL, 'domain_pages', 'job_pages', 'most_pending')
    most = { domain = number(b[1]) or 0, job = number(b[2]) or 0, pending = number(b[3]) or 0 }
    if most.pending > 0 then
        room = most.pending - redis.call('HLEN', REQUESTS)
    end
end

local function pages_of(domain)
    pages[domain] = pages[domain] or number(try(state_of(domain), 'HGET', 'pages')) or 0
    return pages[domain]
end

local function job_spent(job)
    local key = 'job ' .. job
    if not pages[key] then
        local s = try(P .. 'job:' .. job, 'HMGET', 'total', 'budget', 'elsewhere') or {}
        local total = (number(s[1]) or 0) + (number(s[3]) or 0) -- of the other partitions, at their last report
        pages[key] = { total = total, most = number(s[2]) or most.job }
    end
    return pages[key]
end

-- Which budget a request would break: 'over_domain_pages', 'over_job_pages', 'over_pending' or nil.
local function over_budget(domain, job)
    if not most then
        read_budgets()
    end
    if room and room <= 0 then
        return 'over_pending'
    end
    if most.domain > 0 and pages_of(domain) >= most.domain then
        return 'over_domain_pages'
    end
    local of = job ~= '' and job_spent(job)
    if of and of.most > 0 and of.total >= of.most then
        return 'over_job_pages'
    end
    return nil
end

-- A request enters: it counts for its domain, its job and the crawl.
local function spend(domain, job)
    room = room and room - 1
    if most and most.domain > 0 then
        pages[domain] = pages_of(domain) + 1
        spent[domain] = (spent[domain] or 0) + 1
    end
    if most and job ~= '' then
        local of = job_spent(job)
        of.total = of.total + 1
    end
end

-- Runs at the end of a script.
local function write_spent()
    for domain, n in pairs(spent) do
        add(state_of(domain), 'pages', n)
    end
end
