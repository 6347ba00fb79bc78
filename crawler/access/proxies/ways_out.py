"""Finds redirects to another site that are a proxy's own and not the site's: a portal's login.

The first redirect of a site to another one is asked for once more, as a rule through another proxy:
if that one leads there, too, so does the site. If not, the first proxy leads away by itself. Two
proxies may be of the same kind, so that a site's way is looked at again now and then; pages that
were led there are fetched again when a look gets a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar
from urllib.parse import urljoin

import attrs

from crawler.access.proxies.doubtful_pages import remember, take_along
from crawler.extract.limited_dict import Newest
from crawler.extract.links.registered_domain import same_site, site_of
from scrapy_seine.attrs_bases import Record, Value

#: Redirects that are remembered; the oldest are dropped first.
_MOST = 20_000
#: How often a request is sent again that comes to the same source each time.
_MOST_LOOKS = 3
#: Redirects that are followed after a look that decided nothing, until the next look; and after one
#: that led to the same site.
_FOLLOWED, _BELIEVED = 50, 10
#: After so many looks at a site's ways out one to yet another site is followed the first time: a
#: site that compares prices leads to hundreds of shops, a portal to one site each time.
_FEW_LOOKS = 10
Key = TypeVar("Key", bound=tuple[str, ...])
Kept = TypeVar("Kept")
#: "followed": nothing shows whether it is the site's.
Verdict = Literal["page", "followed", "again", "no page"]


@attrs.frozen(eq=False, repr=False)
class Led(Value):
    """Where a request was led."""

    target: str
    """The other site."""
    proxy: str
    source: str
    """Who stands behind the proxy: another source is an independent witness."""
    looks: int = 0
    """How often the request was sent since."""
    pages: Sequence[str] = ()
    """Pages that were led there and followed, which a page for this request speaks against."""


@attrs.define(eq=False, repr=False)
class WaysOut(Record):
    """Where this worker was led through proxies.

    >>> ways, led = WaysOut(), Led("login.example", "proxy-1", "proxy-1")
    >>> ways.judge("shop.example", led, None)
    'again'
    >>> ways.contradict("shop.example", led)
    []
    >>> ways.judge("shop.example", led, None)
    'no page'
    """

    _believed: dict[tuple[str, str], int] = attrs.Factory(dict)
    """Sites, and the sites to which two sources were led from there, with the number of redirects
    that are followed until the next look."""
    _undecided: dict[tuple[str, ...], int] = attrs.Factory(dict)
    """Sites, other sites and proxies of which no second source said the same or led to the site's
    page, and how many of their redirects are followed."""
    _false: dict[tuple[str, str], int] = attrs.Factory(dict)
    """Proxies, and the sites to which they alone lead."""
    _doubted: dict[tuple[str], int] = attrs.Factory(dict)
    """Sites to which some proxy alone leads: others of its kind may say the same."""
    _pages: dict[tuple[str, str], list[str]] = attrs.Factory(dict)
    """By site and other site: the pages that were led there."""
    _looks: Newest[int] = attrs.Factory(lambda: Newest(int, _MOST))
    """By site."""

    def judge(self, site: str, led: Led, before: Led | None, page: str = "") -> Verdict:
        """Judge a redirect of a request; *before*: where it was led at first."""
        verdict = self._judge(site, led, before)
        if verdict == "again" and before is None:
            is_known = (led.target,) in self._doubted or (site, led.target) in self._pages
            if page and not is_known and self._looks.get(site, 0) >= _FEW_LOOKS:
                verdict = "followed"
            self._looks[site] += verdict == "again"
        if page and verdict in {"page", "followed"}:
            pages = self._pages.get((site, led.target))
            if pages is None:
                pages = _keep(self._pages, (site, led.target), [])
            remember(pages, page)
        return verdict

    def _judge(self, site: str, led: Led, before: Led | None) -> Verdict:
        is_doubted = (led.target,) in self._doubted
        if not is_doubted and before is None and _is_left(self._believed, (site, led.target)):
            return "page"
        if (led.proxy, led.target) in self._false:
            return "no page"
        if before is None:
            # A look that decided nothing is not repeated for each page, where there is one proxy,
            # or where a site leads visitors of each country to another shop.
            way = site, led.target, led.proxy
            return "followed" if _is_left(self._undecided, way) else "again"
        if (is_doubted or before.source == led.source) and before.looks < _MOST_LOOKS:
            return "again"
        if is_doubted:
            return "followed"
        if before.source != led.source and before.target == led.target:
            _keep(self._believed, (site, led.target), _BELIEVED)
            return "page"
        _keep(self._undecided, (site, led.target, led.proxy), _FOLLOWED)
        _keep(self._undecided, (site, before.target, before.proxy), _FOLLOWED)
        return "followed"

    def take_along(self, site: str, target: str) -> list[str]:
        """Return pages that go with a look; the next look takes others."""
        return take_along(self._pages.get((site, target), []))

    def contradict(self, site: str, led: Led, page: str = "") -> list[str]:
        """Note that a request was led there, and got a page through another proxy.

        Returns the pages that were led there and followed, where *page* can take them along.
        """
        _keep(self._false, (led.proxy, led.target), 1)
        _keep(self._doubted, (led.target,), 1)
        if not page:
            return []
        pages = self._pages.pop((site, led.target), [])
        return list(dict.fromkeys([*led.pages, *pages]))


def _is_left(numbers: dict[Key, int], key: Key) -> bool:
    """Whether one of a number of redirects is left, which is then used up."""
    left = numbers.get(key, 0)
    if left:
        numbers[key] = left - 1
    return left > 0


def way_out(url: str, status: int, location: str) -> str:
    """Return the other site to which a response redirects; "": none.

    >>> way_out("http://shop.example/", 302, "http://login.hotel.example/?next=shop")
    'login.hotel.example'
    >>> way_out("http://shop.example/", 302, "/login"), way_out("http://shop.example/", 200, "")
    ('', '')
    """
    if not location or not 300 <= status < 400:  # noqa: PLR2004
        return ""
    try:
        target = urljoin(url, location)
        return "" if same_site(target, url) else site_of(target)
    except ValueError:
        return ""


def _keep(kept: dict[Key, Kept], key: Key, value: Kept) -> Kept:
    kept[key] = value
    if len(kept) > _MOST:
        del kept[next(iter(kept))]
    return value
