"""The next page of a listing as the response's `Link` header names it (RFC 8288)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawler.extract.page.page import Page, tidied

_LINK = re.compile(r"<([^<>]{1,2000})>([^<,]{0,500})")
_RELATIONS = re.compile(r";\s{0,9}rel\s{0,9}=\s{0,9}\"?([^\";]{0,100})", re.I)


def next_page(values: Iterable[str], page: Page) -> str | None:
    """Return the absolute address of the link with the relation `next`; None without one.

    >>> from crawler.extract.page.page import parse
    >>> page = parse(b"<p>", "http://a.example/c")
    >>> next_page(['</feed>; rel="alternate"', '<?page=3>; rel="next nofollow"'], page)
    'http://a.example/c?page=3'
    >>> next_page(['<http://[>; rel=next'], page) is None
    True
    """
    for value in values:
        for reference, parameters in _LINK.findall(value):
            relations = _RELATIONS.search(parameters)
            if relations is not None and "next" in relations[1].lower().split():
                url = page.resolve(reference)
                return None if url is None else tidied(url)
    return None
