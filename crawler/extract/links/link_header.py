"""The next page of a listing as the response's `Link` header names it (RFC 8288)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawler.extract.page.page import tidied
from scrapy_seine.urls import absolute

_LINK = re.compile(r"<([^<>]{1,2000})>([^<,]{0,500})")
_RELATIONS = re.compile(r";\s{0,9}rel\s{0,9}=\s{0,9}\"?([^\";]{0,100})", re.I)


def next_page(values: Iterable[str], base: str) -> str | None:
    """Return the absolute address of the link with the relation `next`; None without one.

    >>> next_page(['</feed>; rel="alternate"', '<?page=3>; rel="next nofollow"'], "http://a.example/c")
    'http://a.example/c?page=3'
    >>> next_page(['<http://[>; rel=next'], "http://a.example/c") is None
    True
    """
    for value in values:
        for reference, parameters in _LINK.findall(value):
            relations = _RELATIONS.search(parameters)
            if relations is not None and "next" in relations[1].lower().split():
                return _resolved(base, reference)
    return None


def _resolved(base: str, reference: str) -> str | None:
    try:
        return tidied(absolute(base, reference.strip()))
    except ValueError:
        return None
