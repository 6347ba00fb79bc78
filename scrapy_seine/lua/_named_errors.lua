-- _named_errors: `redis.call` names the key that is of another type, because Redis' own error names none.
-- A script whose keys nobody else checks includes it first.
local server = redis
local redis = setmetatable({}, { __index = server })

function redis.call(...)
    local reply = server.pcall(...)
    if type(reply) ~= 'table' or not reply.err then
        return reply
    elseif not string.find(reply.err, 'WRONGTYPE', 1, true) then
        return server.call(...) -- fails as it should
    end
    local key = select(2, ...)
    error('WRONGTYPE ' .. key .. ' is a ' .. server.call('TYPE', key).ok
        .. ': somebody else wrote it; rename or delete it, and the work goes on', 0)
end
