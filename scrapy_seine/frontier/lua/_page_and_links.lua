-- _page_and_links: pages end: their children enter and their leases end, all or nothing (I2, I3).
-- A page is done, or given up after its links were read: then it becomes a dead letter with its note.
local function acked(id, job, ended)
    count_job(job, ended, 1)
    count('done', 1)
    if ended ~= 'done' then -- counted beside all that was acked
        count(ended, 1)
    end
    drop(id)
end

-- A child takes *width* arguments; *enter* gets the index of the first of them.
local function commit(width, enter)
    local replies, at, ids, children = {}, 3, {}, 0
    for i = 1, tonumber(ARGV[2]) do
        local n = argument(ARGV[at + 4])
        ids[i], children, at = ARGV[at], children + n, at + 5 + width * n
    end
    fetch_holds(ids)
    if children > 0 then
        reserve_seq(children)
    end
    at = 3
    for i, id in ipairs(ids) do
        local hold, job, n = holding(id), ARGV[at + 2], argument(ARGV[at + 4])
        local mine, ended = hold and hold.token == ARGV[at + 1], ARGV[at + 3]
        at = at + 5
        local note = string.match(ended, '^buried (.*)$')
        if mine then
            for c = at, at + width * n - 1, width do
                enter(c)
            end
            let_go(id, hold)
            if note then
                to_dead(id, note)
            else
                acked(id, job, ended)
            end
        else
            count('lost', 1)
        end
        replies[i] = mine and 'OK' or 'LOST'
        at = at + width * n
    end
    free_slots()
    memorise()
    write_spent()
    finish()
    announce_end()
    return replies
end
