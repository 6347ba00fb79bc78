-- _types: a script fails before it writes anything where a key that all work needs is of another type.
-- What a script wrote before an error stays written: half a commit would lose its page's links (I3).
local PROBES = { ZCARD = 'a sorted set', HLEN = 'a hash', LLEN = 'a list', XLEN = 'a stream' }

-- The error that names a key, the type that it has, and the one that it must have.
local function wrong_type(key, must)
    local kind = redis.call('TYPE', key).ok
    return redis.error_reply('WRONGTYPE ' .. key .. ' is a ' .. kind .. ' and must be ' .. must
        .. ': somebody else wrote it; rename or delete it, and the work goes on')
end

local sizes = {} -- what the probes said of each key, before anything was written

-- nil where each of these keys answers the probe.
local function unlike(probe, keys)
    for _, key in ipairs(keys) do
        local reply = redis.pcall(probe, key)
        if type(reply) == 'table' and reply.err then
            return string.find(reply.err, 'WRONGTYPE', 1, true) and wrong_type(key, PROBES[probe])
                or reply
        end
        sizes[key] = reply
    end
end
