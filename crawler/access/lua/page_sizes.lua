-- page_sizes: add the sizes of pages of some kinds, and return their usual sizes.
-- include: _named_errors _numbers _clock _count
-- KEYS[1] prefix of the sizes' keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] share by which one page moves the average
-- ARGV[3] then for each kind: its name, number of pages, their mean size (bytes)
-- reply: for each kind its usual size, bytes; 0: unknown
local KEEP = 30 * 86400000 -- a kind expires after a month without a page, ms
local out, old_share = {}, 1 - tonumber(ARGV[2])
for at = 3, #ARGV, 3 do
    local key, pages, mean = P .. ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    local usual = number(redis.call('GET', key)) or 0
    if pages > 0 then
        usual = usual == 0 and mean or usual + (mean - usual) * (1 - old_share ^ pages)
        redis.call('SET', key, string.format('%.0f', usual), 'PX', KEEP)
    end
    out[#out + 1] = string.format('%.0f', usual)
end
return out
