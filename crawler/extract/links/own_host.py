"""Addresses that only redirect: on a host's twin (`www.`, http), without a slash or a folder.

Old links, menus and sitemaps name them, and each takes two requests. Links to a twin lead to the
shop's own host once one page was redirected there; those without a slash at the end, or a language's
folder, do so once several were and none answered. Pure; memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from crawler.extract.limited_dict import Newest
from crawler.extract.links.choice import Link
from crawler.extract.links.other_languages import is_market_front
from scrapy_seine.attrs_bases import Record

#: Pages that were redirected alike, before links lead where these did.
MIN_REDIRECTED = 3
#: Hosts that are remembered, and ends and folders of each.
_MAX_HOSTS, _MAX_CHANGES = 10_000, 5


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
class _Host(Record):
    """What pages of one host, named by the beginning of its addresses, did when they were requested."""

    is_twin: bool | None = None
    """Whether all of them were redirected to the same address on the host's twin."""
    changes: dict[str, set[int]] = attrs.Factory(dict)
    """Hashes of addresses that were redirected to the same address with a slash at its end, or in a
    folder, by that end or folder."""
    unchanged: set[str] = attrs.Factory(set)
    """Ends and folders that some page's address lacks that answered."""


@attrs.define(eq=False, repr=False)
class Redirected(Record):
    """By job and host: how redirects change its pages' addresses, so that links lead there at once."""

    _hosts: Newest[_Host] = attrs.Factory(lambda: Newest(_Host, _MAX_HOSTS))

    def note(self, requested: str, url: str, job: str = "") -> None:
        """Note that a page was requested at one address and answered at another, or the same."""
        asked = origin_of(requested)
        key = f"{job} {asked}"
        known = self._hosts.get(key)
        if requested == url:
            if known is not None:
                _note_answer(known, url)
        elif asked == origin_of(url):
            change = _change_of(requested, url)
            if change:
                changed = self._hosts[key].changes
                if change not in changed and len(changed) < _MAX_CHANGES:
                    changed[change] = set()
                pages = changed.get(change)
                if pages is not None and len(pages) < MIN_REDIRECTED:
                    pages.add(hash(requested))
        elif (known is None or known.is_twin is None) and on_own_host([requested], url) == [url]:
            self._hosts[key].is_twin = True

    def settled(self, links: list[Link], url: str, job: str = "") -> list[Link]:
        """Return a page's links, each with the address to which its own would be redirected."""
        if not self._hosts:
            return links
        own_urls = on_own_host((link.url for link in links), url)
        settled = []
        for link, own_url in zip(links, own_urls, strict=True):
            target = self._target(link.url, own_url, job)
            settled.append(link if target == link.url else Link(target, link.kind, link.reason))
        return settled

    def _target(self, url: str, own_url: str, job: str) -> str:
        """Return where an address would be redirected; *own_url* is the one on its host's twin."""
        twin = self._hosts.get(f"{job} {origin_of(url)}")
        target = own_url if twin is not None and twin.is_twin else url
        host = self._hosts.get(f"{job} {origin_of(target)}")
        if host is not None:
            for change, pages in host.changes.items():
                if len(pages) >= MIN_REDIRECTED and change not in host.unchanged:
                    target = _changed(target, change) or target
        return target


def _note_answer(host: _Host, url: str) -> None:
    host.is_twin = False
    for change in host.changes:
        if _changed(url, change) is not None:
            host.unchanged.add(change)


def _change_of(requested: str, url: str) -> str:
    """Return what a redirect adds to an address: a slash at its end, or a language's folder.

    Another folder may be the category of some products, to which all links would lead.

    >>> _change_of("https://a.example/lamp?x=1", "https://a.example/lamp/?x=1")
    '/'
    >>> _change_of("https://a.example/lamp", "https://a.example/de/lamp")
    'de/'
    >>> _change_of("https://a.example/lamp", "https://a.example/lamps/lamp")
    ''
    """
    if _changed(requested, "/") == url:
        return "/"
    folder = url[len(origin_of(url)) :].partition("/")[0] + "/"
    return folder if is_market_front(f"/{folder}") and _changed(requested, folder) == url else ""


def _changed(url: str, change: str) -> str | None:
    """Return an address with a slash at its end or in a folder; None where it has them, or a file's.

    >>> _changed("https://a.example/lamp", "de/"), _changed("https://a.example/de/lamp", "de/")
    ('https://a.example/de/lamp', None)
    >>> _changed("https://a.example/lamp.html", "/"), _changed("https://a.example/", "/")
    (None, None)
    """
    if change != "/":
        origin = origin_of(url)
        rest = url[len(origin) :]
        return None if f"{rest}/".startswith(change) else f"{origin}{change}{rest}"
    path, mark, query = url.partition("?")
    name = path.rpartition("/")[2]
    return None if not name or "." in name else f"{path}/{mark}{query}"
