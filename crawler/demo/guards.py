"""Defences of real shops, to test a crawler with. Off by default.

Each applies to one of the shop's addresses, or to all:

* `headers`  403 for a client that does not send a browser's headers
* `captcha`  a page with a CAPTCHA for such a client
* `rate`     429 with Retry-After for a client with more than RATE requests a second
* `cookie`   a consent wall, until the client sends its cookie
* `script`   an empty page whose JavaScript fetches the content
* `quota`    a page with a CAPTCHA, after QUOTA pages for one client
* `network`  403 for a client in the shop's own network (a data centre)
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

import attrs

from crawler.demo.pages import Page
from scrapy_seine.attrs_bases import Record, Value

Guard = Literal["headers", "captcha", "rate", "cookie", "script", "quota", "network"]
GUARDS: tuple[Guard, ...] = get_args(Guard)

#: Requests a second that the `rate` guard lets one client make.
RATE = 5
RETRY_AFTER_S = 2
#: Default number of pages that the `quota` guard shows one client.
QUOTA = 20
#: The first N of the addresses 127.0.0.N outside the shop's network.
FIRST_OUTSIDE = 20
COOKIE = "consent=yes"
#: Header that only the page's own script sends.
SCRIPT_HEADER = "X-Shop-Script"

#: Headers that every browser sends with a page's address.
BROWSER_HEADERS = ("Accept", "Accept-Language", "Accept-Encoding", "Upgrade-Insecure-Requests")
#: Paths that no guard refuses.
UNGUARDED_PATHS = ("/robots.txt", "/sitemap.xml")

_CAPTCHA = (
    '<!DOCTYPE html><title>One moment</title><h1>Are you a robot?</h1><form method="post">'
    '<div class="g-recaptcha" data-sitekey="demo"></div><button>Go on</button></form>'
)
_WALL = (
    "<!DOCTYPE html><title>Before you go on</title><h1>We value your privacy</h1>"
    '<meta http-equiv="refresh" content="1"><p>This shop needs a cookie.</p>'
    f"<button onclick=\"document.cookie='{COOKIE}; path=/';location.reload()\">Accept</button>"
)
_SHELL = (
    '<!DOCTYPE html><title>Shop</title><div id="app"></div>'
    "<noscript>You need to enable JavaScript to run this app.</noscript><script>"
    f"fetch(location.href, {{headers: {{'{SCRIPT_HEADER}': '1'}}}}).then(a => a.text())"
    ".then(t => { document.open(); document.write(t); document.close(); });</script>"
)


@attrs.frozen(eq=False, repr=False)
class Visitor(Value):
    """A request, as the guards see it."""

    host: str
    """The shop's address, without the port."""
    client: str
    """The client's address."""
    path: str
    headers: Mapping[str, str]
    """Case-insensitive."""


@attrs.define(eq=False, repr=False)
class Guards(Record):
    """The defences of one shop."""

    by_host: Mapping[str, frozenset[Guard]]
    """Defences by the shop's address; `*` stands for every address."""
    quota: int = QUOTA
    """Pages that the `quota` guard shows one client."""
    _request_times: dict[tuple[str, str], deque[float]] = attrs.Factory(dict)
    _page_counts: Counter[tuple[str, str]] = attrs.Factory(Counter)

    def stop(self, visitor: Visitor) -> Page | None:
        """Return the page that a guard sends instead; None: no guard stops the visitor."""
        guards = self.by_host.get("*", frozenset()) | self.by_host.get(visitor.host, frozenset())
        if not guards or visitor.path in UNGUARDED_PATHS:
            return None
        if "rate" in guards and self._too_fast(visitor):
            return Page(b"slow down", 429, headers={"Retry-After": str(RETRY_AFTER_S)})
        if "headers" in guards and not is_browser(visitor.headers):
            return Page(b"<h1>403 Forbidden</h1>", 403)
        if "captcha" in guards and not is_browser(visitor.headers):
            return Page(_CAPTCHA.encode())
        return self._by_address(visitor, guards) or self._by_page(visitor, guards)

    def _by_address(self, visitor: Visitor, guards: frozenset[Guard]) -> Page | None:
        if "network" in guards and is_neighbour(visitor.client):
            return Page(b"<h1>403 Forbidden</h1>", 403)
        if "quota" in guards:
            if self._page_counts[visitor.host, visitor.client] >= self.quota:
                return Page(_CAPTCHA.encode())
            self._page_counts[visitor.host, visitor.client] += 1
        return None

    @staticmethod
    def _by_page(visitor: Visitor, guards: frozenset[Guard]) -> Page | None:
        if "cookie" in guards and COOKIE not in visitor.headers.get("Cookie", ""):
            return Page(_WALL.encode(), headers={"Set-Cookie": f"{COOKIE}; Path=/"})
        if "script" in guards and SCRIPT_HEADER not in visitor.headers:
            return Page(_SHELL.encode())
        return None

    def _too_fast(self, visitor: Visitor) -> bool:
        now = time.monotonic()
        times = self._request_times.setdefault((visitor.host, visitor.client), deque())
        while times and now - times[0] >= 1:
            times.popleft()
        if len(times) >= RATE:
            return True
        times.append(now)
        return False


def is_browser(headers: Mapping[str, str]) -> bool:
    """Whether a client sends the headers that every browser sends."""
    agent = headers.get("User-Agent", "")
    return agent.startswith("Mozilla/5.0 ") and all(name in headers for name in BROWSER_HEADERS)


def is_neighbour(client: str) -> bool:
    """Whether a client's address is in the shop's own network."""
    network, _, number = client.rpartition(".")
    return network == "127.0.0" and number.isdigit() and int(number) < FIRST_OUTSIDE


def guards_of(texts: Iterable[str], quota: int = QUOTA) -> Guards:
    """Read `KIND` (for every address) or `ADDRESS=KIND`; *quota* is the quota guard's limit.

    Raises:
        ValueError: there is no such kind.

    >>> sorted(guards_of(["rate", "127.0.0.2=script"]).by_host)
    ['*', '127.0.0.2']
    """
    by_host: dict[str, frozenset[Guard]] = {}
    for text in texts:
        host, _, kind = text.rpartition("=")
        guard = next((name for name in GUARDS if name == kind), None)
        if guard is None:
            raise ValueError(f"{kind!r} is none of {', '.join(GUARDS)}")
        by_host[host or "*"] = by_host.get(host or "*", frozenset()) | {guard}
    return Guards(by_host, quota)
