"""Tags of elements without text for a visitor, and of elements within a line."""

SKIPPED = frozenset(
    {"script", "style", "noscript", "template", "svg", "head", "iframe", "option", "object",
     "select", "datalist", "audio", "video", "canvas", "map", "math"}
)  # fmt: skip
INLINE = frozenset(
    {"span", "b", "strong", "i", "em", "sup", "sub", "small", "bdi", "bdo", "font", "ins", "u",
     "mark", "big", "abbr", "var", "data", "del", "s", "strike", "tt", "code", "q", "cite", "wbr"}
)  # fmt: skip
