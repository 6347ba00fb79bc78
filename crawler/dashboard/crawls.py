"""Other crawls of the same Redis: the pages of each are under `/c/NAME/`, and so are their links.

Pages are rendered with links that lack this prefix. The middleware adds it to all links of a
response under `/c/NAME/`, so that no page links to, or acts on, another crawl by mistake.
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

#: Seconds for which the list of crawls is cached, because reading it scans every key.
_NAMES_S = 60.0
#: Most other crawls that are open, with their samples.
_MAX_OPEN = 20
#: A link to a page of one crawl; pages of the whole dashboard are excluded. Quotes within an
#: attribute are escaped, so the match ends with the attribute.
_LINK = re.compile(r'((?:href|action|src)=")/(?!c/|static/|log(?:in|out)"|api/)')
#: Pages of single items: a link to another crawl leads to the list, because that crawl may lack
#: the item.
_ITEM_SECTIONS = ("domains", "workers", "dead", "runs", "do")
#: Parameters of a position or of an action's result, which are not kept for another crawl.
_TRANSIENT_PARAMETERS = {"after", "done", "n"}


@attrs.define(eq=False)
class Crawls:
    """The contexts of the dashboard's own crawl and of other crawls, and all crawls' names."""

    default: Context
    names: list[str] = attrs.Factory(list)
    _other_contexts: dict[str, Context] = attrs.Factory(dict)
    _read_at: float = float("-inf")

    @property
    def open_contexts(self) -> list[Context]:
        """The crawls that a visitor has opened."""
        return [self.default, *self._other_contexts.values()]

    async def read_names(self, max_age_s: float = _NAMES_S) -> None:
        """Read the names of all crawls, unless they are cached.

        Raises:
            RedisError: Redis does not answer.
        """
        if monotonic() - self._read_at > max_age_s:
            self.names = await crawl_names(self.default.redis)
            self._read_at = monotonic()

    async def of(self, name: str) -> Context:
        """Return the context of the crawl *name*.

        Raises:
            HTTPNotFound: there is no such crawl.
            RedisError: Redis does not answer.
        """
        if name == self.default.config.crawl:
            return self.default
        if name not in self._other_contexts:
            await self.read_names(0 if name not in self.names else _NAMES_S)
            if name not in self.names:
                raise web.HTTPNotFound(text=f"Nothing is known of a crawl {name!r}.\n")
            while len(self._other_contexts) >= _MAX_OPEN:
                del self._other_contexts[next(iter(self._other_contexts))]
            config = attrs.evolve(self.default.config, crawl=name, seeds_key="")
            default = self.default
            self._other_contexts[name] = Context(
                config=config, redis=default.redis, database=default.database, guard=default.guard
            )
        return self._other_contexts[name]


CRAWLS = web.AppKey("crawls", Crawls)


def base_of(request: web.Request) -> str:
    """Return the prefix of a request's path that names another crawl, or an empty string."""
    name = request.match_info.get("crawl")
    return f"/c/{piece(name)}" if name is not None else ""


def own_path(request: web.Request) -> str:
    """Return a request's path without the crawl's prefix."""
    path = request.rel_url.raw_path
    return "/" + path.split("/", 3)[3] if base_of(request) else path


def within(base: str, html: str) -> str:
    """Add a crawl's prefix to the links of a page.

    >>> within("/c/b", '<a href="/domains"><a href="/c/a/"><img src="/static/i"><a href="http://x">')
    '<a href="/c/b/domains"><a href="/c/a/"><img src="/static/i"><a href="http://x">'
    """
    return _LINK.sub(lambda match: f"{match[1]}{base}/", html) if base else html


def same_page(name: str, path: str, query: str) -> str:
    """Return the path of the same page of another crawl.

    >>> same_page("b c", "/attempts", "outcome=ok&after=9"), same_page("b", "/domains/a.b", "")
    ('/c/b%20c/attempts?outcome=ok', '/c/b/domains')
    """
    section = path.strip("/").split("/")[0]
    if section in _ITEM_SECTIONS:
        path = "/" if section == "do" else f"/{section}"
    pairs = [pair for pair in parse_qsl(query) if pair[0] not in _TRANSIENT_PARAMETERS]
    query_string = f"?{urlencode(pairs, errors='replace')}" if pairs else ""
    return f"/c/{piece(name)}{path}{query_string}"


def with_crawl_prefix(routes: list[web.RouteDef]) -> list[web.RouteDef]:
    """Return the routes of pages, and the same routes under the prefix of any crawl."""
    return [*routes, *(attrs.evolve(route, path="/c/{crawl}" + route.path) for route in routes)]


@web.middleware
async def choose_crawl(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Set the context of the crawl that the request's path names."""
    base = base_of(request)
    if not base:
        return await handler(request)
    context = await request.app[CRAWLS].of(request.match_info["crawl"])
    await context.read_partitions()
    request[OF_CRAWL] = context
    try:
        response = await handler(request)
    except web.HTTPSeeOther as redirect:
        location = str(redirect.headers["Location"])
        if location.startswith("/") and not location.startswith("/c/"):
            redirect.headers["Location"] = base + location
        raise
    if isinstance(response, web.Response) and response.content_type == "text/html":
        response.text = within(base, response.text or "")
    return response
