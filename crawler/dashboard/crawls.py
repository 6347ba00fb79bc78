"""Other crawls of the same Redis: each page of one is under `/c/NAME/`, and so are its links.

Pages write links that know nothing of that. Each answer within `/c/NAME/` gets the beginning put
before its own links, so that no page can lead out of the crawl that it shows, or act on another.
"""

from __future__ import annotations

import re
from time import monotonic
from urllib.parse import parse_qsl, urlencode

import attrs
from aiohttp import web

from crawler.dashboard.context import OF_CRAWL, Context
from crawler.dashboard.path_names import piece
from crawler.dashboard.security import Handler
from scrapy_seine.reads.fleet import crawl_names

#: Seconds that the list of crawls is kept: it takes a look at every key.
_NAMES_S = 60.0
#: Other crawls that are kept open, with what was seen of them.
_MOST = 20
#: A link to a page of one crawl; pages of the whole dashboard are left out. Quotes within an
#: attribute are escaped, so that the pattern ends where the attribute does.
_LINK = re.compile(r'((?:href|action|src)=")/(?!c/|static/|log(?:in|out)"|api/)')
#: Pages of single items: a link to another crawl leads to the list, because that crawl may lack
#: the item.
_ITEMS = ("domains", "workers", "dead", "runs", "do")
#: Parameters that name a position or an action done, and so are no choice of the visitor.
_PASSING = {"after", "done", "n"}


@attrs.define(eq=False)
class Crawls:
    """The crawl that the dashboard was started for, the others, and the names of all."""

    usual: Context
    names: list[str] = attrs.Factory(list)
    _others: dict[str, Context] = attrs.Factory(dict)
    _read_at: float = float("-inf")

    @property
    def open(self) -> list[Context]:
        """The crawls that somebody looked at."""
        return [self.usual, *self._others.values()]

    async def know(self, max_age_s: float = _NAMES_S) -> None:
        """Read which crawls there are, unless that is known.

        Raises:
            RedisError: Redis does not answer.
        """
        if monotonic() - self._read_at > max_age_s:
            self.names = await crawl_names(self.usual.redis)
            self._read_at = monotonic()

    async def of(self, name: str) -> Context:
        """Return the stores of a crawl.

        Raises:
            HTTPNotFound: nothing is known of it.
            RedisError: Redis does not answer.
        """
        if name == self.usual.config.crawl:
            return self.usual
        if name not in self._others:
            await self.know(0 if name not in self.names else _NAMES_S)
            if name not in self.names:
                raise web.HTTPNotFound(text=f"Nothing is known of a crawl {name!r}.\n")
            while len(self._others) >= _MOST:
                del self._others[next(iter(self._others))]
            config = attrs.evolve(self.usual.config, crawl=name, seeds_key="")
            usual = self.usual
            self._others[name] = Context(
                config=config, redis=usual.redis, database=usual.database, guard=usual.guard
            )
        return self._others[name]


CRAWLS = web.AppKey("crawls", Crawls)


def base_of(request: web.Request) -> str:
    """Return what a request's path begins with: the other crawl that it names, or nothing."""
    name = request.match_info.get("crawl")
    return f"/c/{piece(name)}" if name is not None else ""


def own_path(request: web.Request) -> str:
    """Return a request's path without the crawl."""
    path = request.rel_url.raw_path
    return "/" + path.split("/", 3)[3] if base_of(request) else path


def within(base: str, html: str) -> str:
    """Keep the links of a page in a crawl.

    >>> within("/c/b", '<a href="/domains"><a href="/c/a/"><img src="/static/i"><a href="http://x">')
    '<a href="/c/b/domains"><a href="/c/a/"><img src="/static/i"><a href="http://x">'
    """
    return _LINK.sub(lambda found: f"{found[1]}{base}/", html) if base else html


def same_page(name: str, path: str, query: str) -> str:
    """Return where the same page of another crawl is.

    >>> same_page("b c", "/attempts", "outcome=ok&after=9"), same_page("b", "/domains/a.b", "")
    ('/c/b%20c/attempts?outcome=ok', '/c/b/domains')
    """
    first = path.strip("/").split("/")[0]
    if first in _ITEMS:
        path = "/" if first == "do" else f"/{first}"
    kept = [pair for pair in parse_qsl(query) if pair[0] not in _PASSING]
    asked = f"?{urlencode(kept, errors='replace')}" if kept else ""
    return f"/c/{piece(name)}{path}{asked}"


def both(routes: list[web.RouteDef]) -> list[web.RouteDef]:
    """Return the routes of pages, and the same of any crawl."""
    return [*routes, *(attrs.evolve(route, path="/c/{crawl}" + route.path) for route in routes)]


@web.middleware
async def choose(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give a request the stores of the crawl that its path names."""
    base = base_of(request)
    if not base:
        return await handler(request)
    context = await request.app[CRAWLS].of(request.match_info["crawl"])
    await context.know()
    request[OF_CRAWL] = context
    try:
        response = await handler(request)
    except web.HTTPSeeOther as leave:
        place = str(leave.headers["Location"])
        if place.startswith("/") and not place.startswith("/c/"):
            leave.headers["Location"] = base + place
        raise
    if isinstance(response, web.Response) and response.content_type == "text/html":
        response.text = within(base, response.text or "")
    return response
