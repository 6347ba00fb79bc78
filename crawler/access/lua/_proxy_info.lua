-- _proxy_info: what is known of a proxy: its pools, and who is its kin; _proxy_keys comes before it.
local function info_of(id)
    local kept = redis.call('HGET', INFO, id)
    return kept and cjson.decode(kept)
end

-- How near a proxy is to another one, of which *others* is known: 0: no kin, 1: of its provider or gateway, 2: itself.
local function nearness(id, other, others)
    if other == '' then return 0 end
    if id == other then return 2 end
    if id:match('^[^#]*') == other:match('^[^#]*') then return 1 end
    if not others or others.provider == '' then return 0 end
    local own = info_of(id)
    return own and own.provider == others.provider and 1 or 0
end

-- The sets of a proxy, nil where it is of this pool no more: it was listed with another pool or country since.
local function pools_with(id, pool)
    local info = info_of(id)
    local keys = info and pools_of(info.pool, info.country) or {}
    for _, key in ipairs(keys) do
        if key == pool then return keys end
    end
    redis.call('ZREM', pool, id)
end
