-- _look_is_due: when `reap` is to look for what is in no place, beside other work. `look` in control is the time.
local PASS_MS = 60000 -- between two looks at everything
local function look_is_due()
    local at = number(control[8] or '')
    return at ~= nil and (now >= at or at > now + PASS_MS)
end
