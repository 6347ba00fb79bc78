-- _proxy_keys: names of the proxies' keys; _clock comes before it.
local KEEP = 7 * 86400000 -- a domain's state expires after a week without a change, ms

local INFO = P .. 'info' -- hash: id -> JSON of pool, country, provider
local RESTING = P .. 'resting' -- sorted set: id -> end of its fleet-wide quarantine, ms
local HEALTH = P .. 'health' -- hash: '<id> good|ban|unknown' -> count

local WORKERS = P .. 'workers' -- sorted set: worker -> expiry of its list, ms
local LISTS = P .. 'lists' -- hash: worker -> name of its list
local NAMES = P .. 'names' -- set: names of lists whose members are stored

-- set: ids of one list
local function list_key(name)
    return P .. 'list:' .. name
end

-- sorted set: id -> time of its last use, ms; '' stands for any pool or country
local function pool_key(pool, country)
    return P .. 'pool:' .. pool .. '/' .. country
end

-- The pool sets of a proxy: two, or four with a country.
local function pools_of(pool, country)
    local keys = { pool_key('', ''), pool_key(pool, '') }
    if country ~= '' then
        keys[3], keys[4] = pool_key('', country), pool_key(pool, country)
    end
    return keys
end

local function domain_key(kind, domain)
    return P .. kind .. ':' .. domain
end

-- Uses of a proxy for one domain, if the domain's limits apply to each proxy separately.
local function uses_key(domain, id)
    return P .. 'uses:' .. domain .. ' ' .. id
end
