"""Finds redirects to another site that are a proxy's own and not the site's: a portal's login.

The first redirect of a site to another one is asked for once more, as a rule through another proxy:
if that one leads there, too, so does the site. If not, the first proxy leads away by itself.
"""

from __future__ import annotations

from typing import Literal, TypeVar
from urllib.parse import urljoin

import attrs

from crawler.extract.links.registered_domain import same_site, site_of
from scrapy_seine.attrs_bases import Record

#: Redirects that are remembered; the oldest are dropped first.
_MOST = 20_000
#: How often a request is sent again that comes to the same proxy each time.
_MOST_LOOKS = 3
#: Redirects that are followed after a look that decided nothing, until the next look.
_FOLLOWED = 50
Key = TypeVar("Key", bound=tuple[str, ...])
Verdict = Literal["page", "again", "no page"]


@attrs.define(eq=False, repr=False)
class WaysOut(Record):
    """Where this worker was led through proxies.

    >>> ways = WaysOut()
    >>> ways.judge("shop.example", "login.example", "proxy-1", None)
    'again'
    >>> ways.contradict("proxy-1", "login.example")
    >>> ways.judge("shop.example", "login.example", "proxy-1", None)
    'no page'
    """

    _believed: dict[tuple[str, str], int] = attrs.Factory(dict)
    """Sites, and the sites to which two proxies were led from there."""
    _undecided: dict[tuple[str, ...], int] = attrs.Factory(dict)
    """Sites, other sites and proxies of which no second proxy said the same or led to the site's
    page, and how many of their redirects are followed."""
    _false: dict[tuple[str, str], int] = attrs.Factory(dict)
    """Proxies, and the sites to which they alone lead."""

    def judge(
        self, site: str, target: str, proxy: str, before: tuple[str, str] | None, looks: int = 0
    ) -> Verdict:
        """Judge a redirect of a request.

        *before* is where the request was led at first, and by which proxy; *looks* is how often it
        was sent since.
        """
        if (site, target) in self._believed:
            return "page"
        if (proxy, target) in self._false:
            return "no page"
        if before is None:
            # A look that decided nothing is not repeated for each page, where there is one proxy,
            # or where a site leads visitors of each country to another shop.
            return "page" if self._is_followed((site, target, proxy)) else "again"
        former_target, former_proxy = before
        if former_proxy == proxy and looks < _MOST_LOOKS:
            return "again"
        if former_proxy != proxy and former_target == target:
            _keep(self._believed, (site, target), 1)
        else:
            _keep(self._undecided, (site, target, proxy), _FOLLOWED)
            _keep(self._undecided, (site, former_target, former_proxy), _FOLLOWED)
        return "page"

    def _is_followed(self, way: tuple[str, ...]) -> bool:
        left = self._undecided.get(way, 0)
        if left:
            self._undecided[way] = left - 1
        return left > 0

    def contradict(self, proxy: str, target: str) -> None:
        """Note that a request led to *target* through this proxy, and to a page through another."""
        _keep(self._false, (proxy, target), 1)


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


def _keep(kept: dict[Key, int], key: Key, value: int) -> None:
    kept[key] = value
    if len(kept) > _MOST:
        del kept[next(iter(kept))]
