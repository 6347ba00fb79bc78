"""Decides whether a page leads to another page, or to itself in another spelling or with a cookie.

Redirects have Scrapy's own limit (REDIRECT_MAX_TIMES). Requests that other middlewares return have
none in Scrapy: a middleware that names a new address each time would never end.

The filter compares URLs without a trailing slash and the like. So a redirect from /a to /a/ looks
like a page that was seen, though nobody has parsed it; the same holds for a page that sets a cookie
elsewhere and redirects back. Such a request must pass the filter.
"""

from __future__ import annotations

from typing import Literal

from scrapy import Request

from scrapy_seine.engine.lease.outcomes import whole_number
from scrapy_seine.fingerprint import fingerprint

Lead = Literal["elsewhere", "same", "circle", "sent back", "sent on"]
#: Kind and reason of the failure if a page leads to itself without progress.
LOOPS: dict[Lead, tuple[str, str]] = {
    "circle": (
        "redirects",
        "it leads back to itself, again and again; sites that want a cookie do (COOKIES_ENABLED)",
    ),
    "sent back": ("internal", "a middleware sent it back, as the filter forbids or too often"),
    "sent on": ("internal", "middlewares sent it on again and again, each time to a new address"),
}
#: How often one URL may be requested in one redirect chain.
_MOST = 3
#: How often middlewares may send one request back with dont_filter, which the filter accepts, or on
#: to a new address.
_MOST_SENT = 20
#: Key of `request.meta`: how often middlewares have sent this request back or on.
SENT = "sent_back"


def lead_of(page: Request, target: Request) -> Lead:
    """Classify *target*, the request that the download of *page* returned.

    >>> to = {"redirect_times": 1}
    >>> page = Request("http://shop.example/a")
    >>> lead_of(page, Request("http://shop.example/a/", meta=to))
    'same'
    >>> lead_of(page, Request("http://shop.example/b", meta=to)), lead_of(page, page.copy())
    ('elsewhere', 'sent back')
    >>> lead_of(page, Request("http://shop.example/b")), page.meta.update(sent_back=20)
    ('elsewhere', None)
    >>> lead_of(page, Request("http://shop.example/b"))
    'sent on'
    """
    chain = [*page.meta.get("redirect_urls", ()), page.url]
    number = fingerprint(target.url, target.method, target.body)
    is_new = all(number != fingerprint(url, target.method, target.body) for url in chain)
    if target.meta.get("redirect_times") == page.meta.get("redirect_times"):
        sent = target.meta[SENT] = whole_number(page.meta.get(SENT), 0) + 1
        if is_new:
            return "elsewhere" if sent <= _MOST_SENT else "sent on"
        return "same" if target.dont_filter and sent <= _MOST_SENT else "sent back"
    if is_new:
        return "elsewhere"
    return "circle" if chain.count(target.url) >= _MOST else "same"
