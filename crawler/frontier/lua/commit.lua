-- commit: pages are done: their children enter and their leases end, all or nothing (I2, I3).
-- include: _write _core _exact _bloom _seen _budget _admit _held
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of pages
-- ARGV[3] then for each page: id, token, job ('' for none), number of children, then for each child as in push:
--         fingerprint ('' skips the filter), domain, level, not before ms, stored request
-- reply: for each page 'OK' or 'LOST'; a lost page's children are not pushed
local replies, at, ids, children = {}, 3, {}, 0
for i = 1, tonumber(ARGV[2]) do
    local n = tonumber(ARGV[at + 3])
    ids[i], children, at = ARGV[at], children + n, at + 4 + 5 * n
end
fetch_holds(ids)
reserve_seq(children)
at = 3
for i, id in ipairs(ids) do
    local hold, job, n = holding(id), ARGV[at + 2], tonumber(ARGV[at + 3])
    local mine = hold and hold.token == ARGV[at + 1]
    at = at + 4
    if mine then
        count_job(job, 'done', 1)
        for c = at, at + 5 * n - 1, 5 do
            admit(ARGV[c], ARGV[c + 1], tonumber(ARGV[c + 2]), tonumber(ARGV[c + 3]), ARGV[c + 4])
        end
        let_go(id, hold)
        drop(id)
    end
    count(mine and 'done' or 'lost', 1)
    replies[i] = mine and 'OK' or 'LOST'
    at = at + 5 * n
end
free_slots()
memorise()
write_spent()
finish()
announce_end()
return replies
