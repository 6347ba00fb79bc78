"""JSON that a script holds as a quoted text, escaped or percent-encoded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from crawler.extract import lazy_patterns
from crawler.extract.scripts import literal

#: What stands before such a text: a call, or a variable to which it is assigned. One pattern of all
#: three has no first letters, and would be tried at each letter of a script.
_BEFORE_TEXT = (
    lazy_patterns.pattern(r"JSON\.parse\(\s*+(?:decodeURIComponent\(\s*+)?(?=[\"'`])"),
    lazy_patterns.pattern(r"decodeURIComponent\(\s*+(?=[\"'`])"),
    lazy_patterns.pattern(
        r"__(?<!\w__)[A-Z_]{1,100}__\s*+=\s*+(?:decodeURIComponent\(\s*+)?(?=[\"'`])"
    ),
)
_MAX_TEXTS = 12


def texts(script: str) -> Iterator[str]:
    """Yield the first texts of a script that are JSON with a price.

    >>> list(texts("x = JSON.parse('{\\"price\\": 5}'); y = decodeURIComponent('%7B%22price%22:6%7D')"))
    ['{"price": 5}', '{"price":6}']
    """
    ends = {m.end() for rule in _BEFORE_TEXT for m in islice(rule.finditer(script), _MAX_TEXTS)}
    for end in sorted(ends)[:_MAX_TEXTS]:
        try:
            text = literal.text_at(script, end)[0]
        except literal.Unreadable:
            continue
        text = unquote(text) if text[:3].upper() in {"%7B", "%5B"} else text
        if text[:1] in {"{", "["} and "rice" in text:
            yield text
