-- _admit: one request enters the frontier.
-- Its id is the next sequence number, so that ids order requests of one level: first in, first out.
local function admit(fp, domain, level, not_before, stored)
    local job = select(3, header(stored))
    local over = over_budget(domain, job)
    if over and string.byte(fp) ~= 33 then -- a seed was asked for by name: it enters, and counts
        count(over, 1)
        return 'OVER'
    end
    if string.byte(fp) == 33 then -- '!': a seed enters although seen, and is remembered
        if #fp > 1 then
            unseen(string.sub(fp, 2))
        end
    elseif fp ~= '' and not unseen(fp) then
        count('duplicate', 1)
        return 'DUPLICATE'
    end
    local number = next_seq()
    local id = string.format('%.0f', number) .. SUFFIX
    batch('HSET', REQUESTS, id, stored)
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
