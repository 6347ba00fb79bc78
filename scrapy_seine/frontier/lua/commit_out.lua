-- commit_out: commit in one of several partitions: children of the others' domains go to its outbox.
-- There they count as undone, so that a page's children are in the crawl from its end on (I3).
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _undone _seen_exact _seen_bloom _seen_window _budget _admit _held _page_and_links
-- KEYS[1] prefix of the partition's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] number of pages
-- ARGV[3] then for each page: id, token, job ('' for none), 'done', 'ignored', 'cancelled' or
--         'buried ' and a note as in bury, number of children, then for each child:
--         partition it belongs to ('' for this one), then as in push:
--         fingerprint ('' skips the filter), domain, level, not before ms, stored request
-- reply: for each page 'OK' or 'LOST'; a lost page's children are not pushed
local function send(part, fp, not_before, stored)
    local number = string.format('%.0f-0', next_seq() + 1)
    redis.call('XADD', outbox_of(part), number, 'fp', fp, 'due', not_before, 'stored', stored)
    count('sent', 1)
    count_job(select(3, header(stored)), 'sent', 1)
end

return commit(6, function(c)
    if ARGV[c] == '' then
        admit(ARGV[c + 1], ARGV[c + 2], argument(ARGV[c + 3]), argument(ARGV[c + 4]), ARGV[c + 5])
    else
        send(ARGV[c], ARGV[c + 1], ARGV[c + 4], ARGV[c + 5])
    end
end)
