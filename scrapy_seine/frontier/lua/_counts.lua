-- _counts: counters of the crawl and of its jobs, added up while a script runs.
local counted, jobs = {}, {}

-- Adds to a number. One that somebody spoilt begins anew; a key of another type costs its domain only.
local function add(key, field, n)
    local sum, failure, spoilt_now = add_to(key, field, n)
    if failure then
        return try(key, 'HINCRBY', field, n)
    elseif spoilt_now then
        note_spoilt(key, field)
    end
    return sum
end

local function count(name, n)
    counted[name] = (counted[name] or 0) + n
end

-- A request that belongs to a job counts for it: total, done, ignored, failed, cancelled.
local function count_job(job, name, n)
    if job ~= '' then
        jobs[job] = jobs[job] or {}
        jobs[job][name] = (jobs[job][name] or 0) + n
    end
end
