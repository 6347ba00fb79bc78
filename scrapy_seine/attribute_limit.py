"""Tags with more attributes than any page needs are cut, because libxml2 takes the square of them.

32,000 attributes of one tag, 190 KB, held the parser for eight seconds, and C code hears no signal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

#: Attributes of one tag that are kept.
MOST = 500
#: Smaller pages are parsed in a moment, whatever they hold.
_SMALL = 32_768
#: A tag with too many attributes is as long, unless a `>` stands in a value of it.
_LONG = re.compile(rb"<[a-zA-Z][^>]{1500}")
_HIDES_END = re.compile(rb"=\s*+(?:\"[^\">]*+>[^\"]*+\"|'[^'>]*+>[^']*+')")
_ATTRIBUTE = (
    rb"[\s/]*+[^\s/>][^\s/>=]*+"  # a name may begin with anything but these
    rb"(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+)?+)?+"
)
_TAG = rb"<[a-zA-Z][^\s/>]*+(?:%s){0,%d}+" % (_ATTRIBUTE, MOST)
_TAGS = re.compile(
    rb"<!--(?:.*?-->|.*+)|<(script|style|textarea|title)\b[^>]*+>(?:.*?(?=</\1)|.*+)|" + _TAG,
    re.S | re.I,
)
#: The same where nothing is skipped: what looks like a comment here may be none for the parser.
_ANY_TAGS = re.compile(_TAG)
_SOME = re.compile(rb"(?:%s){0,%d}+" % (_ATTRIBUTE, MOST))
_ONE = re.compile(_ATTRIBUTE)
_REST = re.compile(rb"(?:%s)++" % _ATTRIBUTE)
_TAG_END = re.compile(rb"(?:[\s/]*+>)?")
#: It ends a tag inside and outside of quotes.
_END = b"\"'>"


def is_suspect(raw: bytes) -> bool:
    """Whether a page may hold a tag that takes a parser long; in a tenth of the parser's time.

    >>> is_suspect(b"<p " + b" ".join(b"a%d" % i for i in range(9000))), is_suspect(b"<p>" * 70_000)
    (True, False)
    >>> is_suspect(b"<p " + b" ".join(b"a%d='<b>'" % i for i in range(9000)) + b">")
    True
    """
    return len(raw) >= _SMALL and _has_long_tag(raw)


# The library asks, and who reads the page asks again. Not of small pages, because the hash of a
# page takes as long as all else that is done here for one.
@lru_cache(maxsize=1)
def _has_long_tag(raw: bytes) -> bool:
    """Read the tags that are long, and what follows a value with a `>` in it."""
    return _any_goes_on(
        raw, ((tag.start(), tag.start()) for tag in _LONG.finditer(raw)), _ANY_TAGS
    ) or _any_goes_on(raw, (value.span() for value in _HIDES_END.finditer(raw)), _SOME)


def _any_goes_on(raw: bytes, spans: Iterable[tuple[int, int]], most: re.Pattern[bytes]) -> bool:
    """Whether another attribute follows after the most that are kept; no byte is read twice."""
    place = 0
    for start, end in spans:
        if start >= place and (match := most.match(raw, end)):
            place = match.end()
            if _ONE.match(raw, place):
                return True
    return False


def bounded(raw: bytes) -> bytes:
    """The page with at most `MOST` attributes in each tag.

    >>> len(bounded(b"<p " + b" ".join(b"a%d" % i for i in range(9000)) + b">").split()) < 600
    True
    """
    if not is_suspect(raw):
        return raw
    return _cut(_ANY_TAGS, _cut(_TAGS, raw))


def _cut(rule: re.Pattern[bytes], raw: bytes) -> bytes:
    parts, place = [], 0
    for match in rule.finditer(raw):
        if match.start() < place:
            continue
        rest = _REST.match(raw, match.end()) if match[0][1:2].isalpha() else None
        if rest is not None and match.lastindex is None:
            parts += [raw[place : match.end()], _END]
            place = _TAG_END.match(raw, rest.end()).end()  # type: ignore[union-attr]
    return b"".join([*parts, raw[place:]]) if parts else raw
