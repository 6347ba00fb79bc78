"""Names in paths: a product may be called `..`, which browsers resolve to the parent folder.

Such a name, and an empty one, gets a tilde in front. A name that looks like an escaped one gets one
more, so that each name has its own path. All other names are only quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

import attrs
from aiohttp import web

from crawler.dashboard.security import Handler

_MARKED = re.compile(r"~*\.{0,2}")
_VARIABLE = re.compile(r"\{(\w+)\}")


def piece(name: str) -> str:
    """Escape a name as a piece of a path.

    >>> piece(".."), piece(""), piece("~."), piece("a/b"), piece("...")
    ('~..', '~', '~~.', 'a%2Fb', '...')
    """
    mark = "~" if _MARKED.fullmatch(name) else ""
    return mark + quote(name, safe=":", errors="replace")


def with_any_names(routes: Iterable[web.RouteDef]) -> list[web.RouteDef]:
    """Let each variable of the routes match any piece of a path; aiohttp's own refuses braces."""
    return [attrs.evolve(route, path=_VARIABLE.sub(r"{\1:[^/]+}", route.path)) for route in routes]


@web.middleware
async def read_pieces(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Unescape the names in a request's path for the handlers."""
    for key, part in request.match_info.items():
        if part.startswith("~") and _MARKED.fullmatch(part):
            request.match_info[key] = part[1:]
    return await handler(request)
