"""Names in paths: a shop may call a product `..`, which every browser takes for the folder above.

Such a piece, and an empty one, has a tilde in front. A name that looks like that gets one more, so
that each name has an address of its own and all other addresses are as one would write them.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from aiohttp import web

from crawler.dashboard.security import Handler

_MARKED = re.compile(r"~*\.{0,2}")


def piece(name: str) -> str:
    """Write a name as a piece of a path.

    >>> piece(".."), piece(""), piece("~."), piece("a/b"), piece("...")
    ('~..', '~', '~~.', 'a%2Fb', '...')
    """
    mark = "~" if _MARKED.fullmatch(name) else ""
    return mark + quote(name, safe=":", errors="replace")


@web.middleware
async def read_pieces(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give handlers the names that a request's path means."""
    for key, written in request.match_info.items():
        if written.startswith("~") and _MARKED.fullmatch(written):
            request.match_info[key] = written[1:]
    return await handler(request)
