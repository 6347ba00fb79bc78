"""A shop's own host, and its twin with or without `www.` or by http, which only redirects.

Old links and sitemaps name the twin. Each page of it takes two requests, so that links to it lead to
the shop's own host once one page of it was redirected there. Pure; memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from crawler.extract.limited_dict import Newest
from crawler.extract.links.choice import Link
from scrapy_seine.attrs_bases import Record

#: Hosts that are remembered.
_MAX_HOSTS = 10_000


def origin_of(url: str) -> str:
    """Return an absolute address's scheme and host, with a slash.

    >>> origin_of("https://a.example/x"), origin_of("https://a.example")
    ('https://a.example/', 'https://a.example/')
    """
    end = url.find("/", 8)
    return url[: end + 1] if end > 0 else f"{url}/"


def on_own_host(urls: Iterable[str], shop: str) -> list[str]:
    """Return addresses, those on the shop's host with or without `www.`, or by http, as the shop's.

    >>> on_own_host(["http://www.a.example/x", "http://b.example/y"], "https://a.example/")
    ['https://a.example/x', 'http://b.example/y']
    """
    own = origin_of(shop)
    scheme, _, host = own.partition("://")
    hosts = (host, host.removeprefix("www.") if host.startswith("www.") else f"www.{host}")
    twins = tuple(
        f"{other}://{name}"
        for name in hosts
        for other in ("http", "https")
        if name != host or (scheme == "https" and other == "http")
    )
    return [own + url[len(origin_of(url)) :] if url.startswith(twins) else url for url in urls]


@attrs.define(eq=False, repr=False)
class Twins(Record):
    """By the beginning of a host's addresses: whether all of its pages redirected to its twin."""

    _redirects: Newest[list[bool]] = attrs.Factory(lambda: Newest(list, _MAX_HOSTS))
    _are_some: bool = False

    def note(self, requested: str, url: str) -> None:
        """Note that a page was requested at one address and answered at another, or the same."""
        asked = origin_of(requested)
        if asked == origin_of(url):
            if self._are_some:
                self._redirects[asked][:] = [False]
        elif self._redirects.get(asked) != [False] and on_own_host([requested], url) == [url]:
            self._redirects[asked][:] = [True]
            self._are_some = True

    def settled(self, links: list[Link], url: str) -> list[Link]:
        """Return a page's links, those to its host's twin that only redirects on its own host."""
        if not self._are_some:
            return links
        own_urls = on_own_host((link.url for link in links), url)
        return [
            link
            if own_url == link.url or self._redirects.get(origin_of(link.url)) != [True]
            else Link(own_url, link.kind, link.reason)
            for link, own_url in zip(links, own_urls, strict=True)
        ]
