-- _commit: pages are done: their children enter and their leases end, all or nothing (I2, I3).
-- A child takes *width* arguments; *enter* is told where they begin.
local function commit(width, enter)
    local replies, at, ids, children = {}, 3, {}, 0
    for i = 1, tonumber(ARGV[2]) do
        local n = tonumber(ARGV[at + 4])
        ids[i], children, at = ARGV[at], children + n, at + 5 + width * n
    end
    fetch_holds(ids)
    reserve_seq(children)
    at = 3
    for i, id in ipairs(ids) do
        local hold, job, n = holding(id), ARGV[at + 2], tonumber(ARGV[at + 4])
        local mine, ended = hold and hold.token == ARGV[at + 1], ARGV[at + 3]
        at = at + 5
        if mine then
            count_job(job, ended, 1)
            if ended ~= 'done' then -- counted beside all that was acked
                count(ended, 1)
            end
            for c = at, at + width * n - 1, width do
                enter(c)
            end
            let_go(id, hold)
            drop(id)
        end
        count(mine and 'done' or 'lost', 1)
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
