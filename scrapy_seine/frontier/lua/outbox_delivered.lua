-- outbox_delivered: requests that another partition has received leave the outbox. If all of them were known
-- there, the crawl may be complete.
-- include: _numbers _types _state _spelling _sequence _batches _wake _pace_and_limits _counts _ready_domains _finish _outbox _undone
-- KEYS[1] prefix of the partition's keys
-- ARGV[1] now ms (0: ask the server)
-- ARGV[2] partition that received the requests
-- ARGV[3] number of the last received request
-- reply: how many left
local left = redis.call('XTRIM', outbox_of(ARGV[2]), 'MINID', string.format('%.0f-0', tonumber(ARGV[3]) + 1))
if left > 0 then
    announce_end()
end
return left
