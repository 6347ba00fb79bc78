"""Server-sent events: the changing parts of a page, rendered here, sent when they differ."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import orjson
from aiohttp import web
from markupsafe import Markup
from redis.exceptions import RedisError

from crawler.dashboard.context import Context, context_of
from crawler.dashboard.crawls import base_of, within
from crawler.dashboard.overview_plots import RANGES
from crawler.dashboard.pages import frontier, overview, workers
from crawler.dashboard.security import harden

logger = logging.getLogger(__name__)
#: Seconds between two looks.
INTERVAL_S = 2.0

Parts = Callable[[Context], Awaitable[dict[str, Markup]]]
STREAMS: Mapping[str, Parts] = {
    **{overview.stream(chosen): partial(overview.live, chosen=chosen) for chosen in RANGES},
    "workers": workers.live,
    "frontier": frontier.live,
}


async def events(request: web.Request) -> web.StreamResponse:
    """Send what changed, until the visitor leaves."""
    parts = STREAMS.get(request.match_info["name"])
    if parts is None:
        raise web.HTTPNotFound(text="There is no such stream.\n")
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
    )
    harden(response)
    await response.prepare(request)
    known: dict[str, bytes] = {}
    base = base_of(request)
    while not request.app[CLOSING].is_set():
        try:
            fresh = _changed(await parts(context_of(request)), known)
            fresh = {name: within(base, html) for name, html in fresh.items()}
            body = f"event: parts\ndata: {orjson.dumps(fresh).decode()}\n\n" if fresh else ": .\n\n"
        except (RedisError, OSError) as error:
            logger.debug("nothing to send: %s", error)
            body = "event: down\ndata: Redis does not answer\n\n"
        try:
            await response.write(body.encode())
        except (ConnectionError, asyncio.CancelledError):
            break
        await _pause(request.app[CLOSING])
    return response


CLOSING = web.AppKey("closing", asyncio.Event)


async def _pause(closing: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(closing.wait(), INTERVAL_S)
    except TimeoutError:
        return


def _changed(parts: Mapping[str, Markup], known: dict[str, bytes]) -> dict[str, str]:
    """Keep parts that differ from what was sent before."""
    fresh = {}
    for name, html in parts.items():
        digest = hashlib.blake2b(html.encode(), digest_size=16).digest()
        if known.get(name) != digest:
            known[name] = digest
            fresh[name] = str(html)
    return fresh
