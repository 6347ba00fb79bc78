"""Server-sent events: the live parts of a page are rendered here and sent when they change."""

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
#: Seconds between two readings.
INTERVAL_S = 2.0

Parts = Callable[[Context], Awaitable[dict[str, Markup]]]
STREAMS: Mapping[str, Parts] = {
    **{
        overview.stream(plot_range): partial(overview.live, plot_range=plot_range)
        for plot_range in RANGES
    },
    "workers": workers.live,
    "frontier": frontier.live,
}


async def events(request: web.Request) -> web.StreamResponse:
    """Send the changed parts until the visitor disconnects."""
    read_parts = STREAMS.get(request.match_info["name"])
    if read_parts is None:
        raise web.HTTPNotFound(text="There is no such stream.\n")
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
    )
    harden(response)
    await response.prepare(request)
    digests: dict[str, bytes] = {}
    base = base_of(request)
    while not request.app[CLOSING].is_set():
        try:
            changed = _changed(await read_parts(context_of(request)), digests)
            changed = {name: within(base, html) for name, html in changed.items()}
            body = (
                f"event: parts\ndata: {orjson.dumps(changed).decode()}\n\n"
                if changed
                else ": .\n\n"
            )
        except (RedisError, OSError) as error:
            logger.debug("nothing to send: %s", error)
            body = "event: down\ndata: Redis does not answer\n\n"
        try:
            await response.write(body.encode())
        except (ConnectionError, asyncio.CancelledError):
            break
        await _wait(request.app[CLOSING])
    return response


CLOSING = web.AppKey("closing", asyncio.Event)


async def _wait(closing: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(closing.wait(), INTERVAL_S)
    except TimeoutError:
        return


def _changed(parts: Mapping[str, Markup], digests: dict[str, bytes]) -> dict[str, str]:
    """Return the parts that differ from the last ones that were sent."""
    changed = {}
    for name, html in parts.items():
        digest = hashlib.blake2b(html.encode(), digest_size=16).digest()
        if digests.get(name) != digest:
            digests[name] = digest
            changed[name] = str(html)
    return changed
