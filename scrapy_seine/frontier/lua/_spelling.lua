-- _spelling: how scores, holds and stored requests are spelled in Redis.
-- Servers spell a large score by an exponent, or do not.
local function digits(score)
    return string.find(score, '^%d+$') and score or string.format('%.0f', tonumber(score))
end

local function hold_text(token, worker, score, state, domain)
    return token .. ' ' .. worker .. ' ' .. score .. ' ' .. state .. ' ' .. domain
end

-- A stored request starts with `level domain`, its job if it has one, and a newline.
local function header(stored)
    local level, domain, job = string.match(stored, '^(%-?%d+) ([^ \n]*) ?([^\n]*)\n')
    return tonumber(level), domain, job or ''
end

-- How many workers died with a request, how many of them had no other request (`isolate`), and under
-- which token a worker has it so now.
local function deaths_with(id)
    local deaths, alone, token = string.match(redis.call('HGET', DELIVERIES, id) or '', '^(%d+) ?(%d*) ?(%d*)$')
    return number(deaths) or 0, number(alone) or 0, token
end

-- Requests that enter together have few different headers.
local jobs_of = {}
local function job_of(stored)
    local head = string.sub(stored, 1, string.find(stored, '\n', 1, true) or 0)
    local job = jobs_of[head]
    if not job then
        job = string.match(head, '^%-?%d+ [^ \n]* ([^\n]*)\n') or ''
        jobs_of[head] = job
    end
    return job
end
