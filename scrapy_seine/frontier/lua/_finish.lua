-- _finish: the end of each script that changes the queues.
-- Ends a script: places the domains that it touched, writes its counters, wakes idle workers. The only worker of a
-- crawl that asks for leases next is not woken, because it would ask twice.
local function finish()
    write_batches()
    for domain in pairs(eased) do
        touched[domain] = touched[domain] or not redis.call('ZSCORE', READY, domain) or nil
    end
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
