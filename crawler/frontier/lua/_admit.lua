-- _admit: one request enters the frontier.
-- Its id is the next sequence number, so that ids order requests of one level: first in, first out.
local function admit(fp, domain, level, not_before, stored)
    if string.byte(fp) == 33 then -- '!': a seed enters although seen, and is remembered
        if #fp > 1 then
            unseen(string.sub(fp, 2))
        end
    elseif fp ~= '' and not unseen(fp) then
        count('duplicate', 1)
        return 'DUPLICATE'
    end
    local number = next_seq()
    local id = string.format('%.0f', number)
    batch('HSET', REQUESTS, id, stored)
    if not_before > now then
        batch('ZADD', DELAYED, not_before, id)
    else
        batch('ZADD', queue_of(domain), level * LEVEL + number, id)
        touched[domain] = true
    end
    count('pushed', 1)
    count_job(select(3, header(stored)), 'total', 1)
    return 'OK'
end
