-- _counts: counters of the crawl and of its jobs, added up while a script runs.
local counted, jobs = {}, {}

-- Adds to a number. Where somebody wrote a text there, a fraction or the end of Redis' numbers, it is
-- begun anew, because a script that fails at its end has done its work and tells nobody.
local function add(key, field, n)
    local reply = redis.pcall('HINCRBY', key, field, n)
    if number(reply) then
        return reply
    elseif type(reply) == 'table' and not string.find(reply.err, 'integer') and not string.find(reply.err, 'overflow') then
        return try(key, 'HINCRBY', field, n)
    end
    redis.call('HSET', key, field, string.format('%.0f', n))
    note_spoilt(key, field)
    return n
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
