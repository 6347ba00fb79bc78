"""Pages that were read from an answer which turned out to be a proxy's own: they are fetched again.

Only a look through another proxy tells, perhaps of another page and in another worker. The request
that got the site's page takes the names of the others along, and the spider requests them. No seed
may set keys of meta that begin with `_`.
"""

from __future__ import annotations

from collections.abc import Iterable

from scrapy import Request

#: Key of `request.meta`: names of the pages.
DOUBTFUL = "_proxy_doubtful"
#: Key of `request.meta`: how often the page was requested for this reason.
AGAIN = "_proxy_again"
#: Pages that one request takes along, and how often one page is requested, at most.
_MOST, _MOST_TIMES = 400, 5
#: Pages that are remembered with one answer or one way out, and those that go with a look.
_MOST_PAGES, _MOST_TAKEN = 200, 20


def name_of(request: Request) -> str:
    """Return a page's name: how often it was requested again, and its address; '' if it is no page.

    >>> name_of(Request("http://shop.example/"))
    '0 http://shop.example/'
    >>> name_of(Request("http://shop.example/", method="POST"))
    ''
    """
    times = int(request.meta.get(AGAIN) or 0)
    is_page = request.callback is None and request.method == "GET" and times < _MOST_TIMES
    urls = request.meta.get("redirect_urls") or (request.url,)
    return f"{times} {urls[0]}" if is_page else ""


def remember(pages: list[str], page: str) -> None:
    """Add a page that a later look may speak against, as long as there is room; '' is no page."""
    if page and len(pages) < _MOST_PAGES:
        pages.append(page)


def take_along(pages: list[str]) -> list[str]:
    """Return the pages that go with a look, and put them last, so that the next look takes others.

    >>> pages = [f"0 http://shop.example/{n}" for n in range(21)]
    >>> len(take_along(pages)), pages[0]
    (20, '0 http://shop.example/20')
    """
    taken = pages[:_MOST_TAKEN]
    pages[:] = pages[_MOST_TAKEN:] + taken
    return taken


def note(request: Request, pages: Iterable[str]) -> None:
    """Have the spider request *pages* when it reads this request's page."""
    if pages := list(pages):
        known = request.meta.get(DOUBTFUL) or ()
        request.meta[DOUBTFUL] = list(dict.fromkeys([*known, *pages]))[:_MOST]


def pages_of(names: Iterable[str]) -> list[tuple[int, str]]:
    """Return which time each page is requested now, and its address.

    >>> pages_of(["0 http://shop.example/"])
    [(1, 'http://shop.example/')]
    """
    parts = (name.partition(" ") for name in names)
    return [(int(times) + 1, url) for times, _, url in parts]
