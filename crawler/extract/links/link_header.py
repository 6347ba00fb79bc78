"""Addresses in a response's headers: a listing's next page (`Link`, RFC 8288), and `Refresh`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urljoin

from crawler.extract.page.page import Page, tidied

_LINK = re.compile(r"<([^<>]{1,2000})>([^<,]{0,500})")
_RELATIONS = re.compile(r";\s{0,9}rel\s{0,9}=\s{0,9}\"?([^\";]{0,100})", re.I)

_REFRESH = re.compile(
    r"\s{0,9}\d{1,2}(?:\.\d*)?\s{0,9}[;,]\s{0,9}(?:url\s{0,9}=)?\s{0,9}[\"']?([^\"'\s]{1,2000})",
    re.I,
)


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


def refreshed(value: str, url: str) -> str | None:
    """Return the address to which a `Refresh` header leads within 99 seconds; None without one.

    >>> refreshed("0; url=/home", "http://a.example/"), refreshed("300", "http://a.example/")
    ('http://a.example/home', None)
    """
    match = _REFRESH.match(value)
    if match is None:
        return None
    try:
        return tidied(urljoin(url, match[1]))
    except ValueError:
        return None
