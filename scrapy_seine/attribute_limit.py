"""Cuts tags with very many attributes, because libxml2 needs time quadratic in their number.

32,000 attributes of one tag, 190 KB, blocked the parser for eight seconds, and signals do not
interrupt C code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

#: Attributes of one tag that are kept.
MOST = 500
#: Smaller pages parse quickly, whatever they contain.
_SMALL = 32_768
#: A tag with too many attributes is this long, unless one of its values contains a `>`.
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
#: The same without skipping: what looks like a comment here may not be one for the parser.
_ANY_TAGS = re.compile(_TAG)
_SOME = re.compile(rb"(?:%s){0,%d}+" % (_ATTRIBUTE, MOST))
_ONE = re.compile(_ATTRIBUTE)
_REST = re.compile(rb"(?:%s)++" % _ATTRIBUTE)
_TAG_END = re.compile(rb"(?:[\s/]*+>)?")
#: Ends a tag inside and outside of quotes.
_END = b"\"'>"


def is_suspect(raw: bytes) -> bool:
    """Whether a page may have a tag that a parser needs long for; takes a tenth of a parser's time.

    >>> is_suspect(b"<p " + b" ".join(b"a%d" % i for i in range(9000))), is_suspect(b"<p>" * 70_000)
    (True, False)
    >>> is_suspect(b"<p " + b" ".join(b"a%d='<b>'" % i for i in range(9000)) + b">")
    True
    """
    return len(raw) >= _SMALL and _has_long_tag(raw)


# Cached, because both the library and the code that parses the page call it. Not for small pages,
# because hashing a page takes as long as everything else here.
@lru_cache(maxsize=1)
def _has_long_tag(raw: bytes) -> bool:
    """Check long tags, and tags with a `>` in a value."""
    return _any_has_more(
        raw, ((tag.start(), tag.start()) for tag in _LONG.finditer(raw)), _ANY_TAGS
    ) or _any_has_more(raw, (value.span() for value in _HIDES_END.finditer(raw)), _SOME)


def _any_has_more(
    raw: bytes, spans: Iterable[tuple[int, int]], kept_attributes: re.Pattern[bytes]
) -> bool:
    """Whether another attribute follows after the kept ones; no byte is read twice."""
    place = 0
    for start, end in spans:
        if start >= place and (match := kept_attributes.match(raw, end)):
            place = match.end()
            if _ONE.match(raw, place):
                return True
    return False


def bounded(raw: bytes) -> bytes:
    """Return the page with at most `MOST` attributes in each tag.

    >>> len(bounded(b"<p " + b" ".join(b"a%d" % i for i in range(9000)) + b">").split()) < 600
    True
    """
    if not is_suspect(raw):
        return raw
    return _cut_tags(_ANY_TAGS, _cut_tags(_TAGS, raw))


def _cut_tags(rule: re.Pattern[bytes], raw: bytes) -> bytes:
    parts, place = [], 0
    for match in rule.finditer(raw):
        if match.start() < place:
            continue
        excess = _REST.match(raw, match.end()) if match[0][1:2].isalpha() else None
        if excess is not None and match.lastindex is None:
            parts += [raw[place : match.end()], _END]
            place = _TAG_END.match(raw, excess.end()).end()  # type: ignore[union-attr]
    return b"".join([*parts, raw[place:]]) if parts else raw
