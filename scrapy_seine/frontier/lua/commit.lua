-- commit: pages are done, or given up with their links: their children enter and their leases end, all or nothing (I2, I3).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _undone _seen_exact _seen_bloom _seen_window _budget _admit _held _page_and_links
-- KEYS[1] prefix of the crawl's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of pages
-- ARGV[3] then for each page: id, token, job ('' for none), 'done', 'ignored', 'cancelled' or
--         'buried ' and a note as in bury, number of children, then for each child as in push:
--         fingerprint ('' skips the filter), domain, level, not before ms, stored request
-- reply: for each page 'OK' or 'LOST'; a lost page's children are not pushed
return commit(5, function(c)
    admit(ARGV[c], ARGV[c + 1], argument(ARGV[c + 2]), argument(ARGV[c + 3]), ARGV[c + 4])
end)
