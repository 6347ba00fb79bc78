-- _outbox: requests on their way to other partitions of the crawl; one that is not split has none.
-- Each way has a stream of its own, with growing numbers, so that the partition at its end can tell
-- what it has already (see receive), and a server that is away holds up nobody else.
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
