-- _autothrottle: the pause that follows from how long a site takes to answer (SEINE_AUTOTHROTTLE).
-- A site that answers in L ms and is to have C requests under way is asked every L / C ms.
-- The mean moves a tenth of the way with each answer; a bad one (an error page is quick) never
-- makes it shorter.
local function moved(mean, n, latency)
    return mean + (latency - mean) * (1 - 0.9 ^ n)
end

-- The mean latency after *good* answers of *quick* ms and *bad* ones of *slow* ms, and the pause, ms.
local function throttle(mean, good, quick, bad, slow, target, least, most)
    mean = mean or (good > 0 and quick or slow)
    if good > 0 then
        mean = moved(mean, good, quick)
    end
    if bad > 0 then
        mean = math.max(mean, moved(mean, bad, slow))
    end
    return mean, math.floor(math.min(math.max(mean / target, least), most))
end
