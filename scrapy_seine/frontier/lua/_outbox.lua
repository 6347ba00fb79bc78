-- _outbox: requests on their way to other partitions of the crawl; a crawl with one partition has no outbox.
-- Each pair of partitions has its own stream, with growing numbers, so that the receiving partition recognises
-- requests that it has (see outbox_receive), and a server that does not answer delays no other.
local PART, PARTS = string.match(P, '/(%d+)of(%d+)')
local SUFFIX = PART and '.' .. PART or '' -- of ids, so that they are the only ones in the crawl
local LAST = PARTS and PARTS - 1 or -1

local function outbox_of(part)
    return P .. 'outbox:' .. part
end

local outboxes = {}
for part = 0, LAST do
    outboxes[#outboxes + 1] = outbox_of(part)
end
unfit = unlike('XLEN', outboxes)
if unfit then
    return unfit
end
