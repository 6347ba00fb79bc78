"""Cuts tags with very many attributes, because libxml2 needs time quadratic in their number.

32,000 attributes of one tag, 190 KB, blocked the parser for eight seconds, and signals do not
interrupt C code.
"""

from __future__ import annotations

import re

#: Attributes of one tag that are kept.
MOST = 500
#: Smaller pages parse quickly, whatever they contain.
_SMALL = 32_768
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
_REST = re.compile(rb"(?:%s)++" % _ATTRIBUTE)
_TAG_END = re.compile(rb"(?:[\s/]*+>)?")
_TAG_START = re.compile(rb"<[a-zA-Z]")
#: A tag of three times as many bytes covers two whole blocks; a shorter one is parsed quickly.
_BLOCK = 1_500
#: Bytes of blanks before a quote that are skipped.
_MAX_BLANKS = 64
_BEFORE_VALUE = frozenset(b"= \t\n\r\f\v")
#: Ends a tag inside and outside of quotes.
_END = b"\"'>"


def bounded(raw: bytes) -> bytes:
    """Return the page with at most `MOST` attributes in each tag that a parser needs long for.

    A look at a page without such tags takes a thirtieth of a parser's time.

    >>> len(bounded(b"<p " + b" ".join(b"a%d" % i for i in range(9000)) + b">").split()) < 600
    True
    >>> page = b"<p>" * 70_000
    >>> bounded(page) is page
    True
    """
    if len(raw) < _SMALL:
        return raw
    page, bounded_page = _last_pages[0]
    if page is not raw:
        may_be_long = _may_have_long_tag(raw)
        bounded_page = _cut_tags(_ANY_TAGS, _cut_tags(_TAGS, raw)) if may_be_long else raw
        _last_pages[0] = raw, bounded_page
    return bounded_page


#: The last page and its bounded form, because the library and the code that parses the page ask.
#: They are one pair, because another thread may ask about another page meanwhile.
_last_pages = [(b"", b"")]


def _may_have_long_tag(raw: bytes) -> bool:
    """Whether two blocks in a row may be inside of one tag; a look at each takes little."""
    was_inside = is_run = False
    before = 0  # end of a tag; a quote before it was looked at there
    for start in range(0, len(raw), _BLOCK):
        place = raw.find(b">", start, start + _BLOCK)
        if place >= 0:
            is_inside = _is_in_value(raw, before, place)
            before = before if is_inside else place
        elif is_run:
            is_inside = was_inside or _TAG_START.search(raw, start - _BLOCK, start) is not None
        else:
            end = max(raw.rfind(b">", before, start), before)
            begins = _TAG_START.search(raw, end, start) is not None
            is_inside = begins or _is_in_value(raw, before, end)
        if is_inside and was_inside:
            return True
        was_inside, is_run = is_inside, place < 0
    return False


def _is_in_value(raw: bytes, begin: int, place: int) -> bool:
    """Whether the last quotes before a place, but behind another one, may open a value there."""
    return _opens_value(raw, raw.rfind(b'"', begin, place)) or _opens_value(
        raw, raw.rfind(b"'", begin, place)
    )


def _opens_value(raw: bytes, quote: int) -> bool:
    """Whether a quote, if there is one, may open an attribute's value."""
    if quote <= 0 or raw[quote - 1] not in _BEFORE_VALUE:
        return False
    before = raw[max(quote - _MAX_BLANKS, 0) : quote].rstrip()
    return before[-1:] == b"=" or not before


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
