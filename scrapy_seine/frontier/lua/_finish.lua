-- _finish: the end of each script that changes the queues.
-- Ends a script: places what it touched, writes its counters, wakes idle workers. A caller that is
-- alone and asks for leases next needs no waking: it would come a second time, for nothing.
local function finish()
    write_batches()
    for domain in pairs(touched) do
        place(domain)
    end
    for name, n in pairs(counted) do
        add(COUNTERS, name, n)
    end
    for job, totals in pairs(jobs) do
        for name, n in pairs(totals) do
            add(P .. 'job:' .. job, name, n)
        end
    end
    if not had_ready and asks ~= 'asks' and redis.call('ZCARD', READY) > 0 then
        wake(true)
    end
end
