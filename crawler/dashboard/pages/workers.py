"""Who works, since when, and what share of the pages is whose."""

from __future__ import annotations

from urllib.parse import quote

from aiohttp import web
from markupsafe import Markup

from crawler.dashboard.context import Context, context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import badge, fragments, moment, page, table
from scrapy_seine.printable import printable
from scrapy_seine.reads.fleet import Fleet, Worker
from scrapy_seine.reads.formatting import count, share
from scrapy_seine.reads.worker_logs import read_log


async def workers(request: web.Request) -> web.Response:
    """Show all workers of the last hour."""
    return page(request, "Workers", fragments(await live(context_of(request))), live="workers")


async def log(request: web.Request) -> web.Response:
    """Show the last lines of one worker's log."""
    context, name = context_of(request), request.match_info["name"]
    lines = await read_log(context.redis, context.frontier.keys, name)
    shown = "\n".join(map(printable, lines)) or "Nothing is known of this worker's log."
    return page(request, f"Log of {name}", tag.pre(shown, class_="log"))


async def live(context: Context) -> dict[str, Markup]:
    """Return the parts that change while somebody looks."""
    return {"team": workers_table((await context.overview(max_age_s=1)).fleet)}


def workers_table(fleet: Fleet) -> Markup:
    """Lay workers out as a table."""
    names = (
        *("Worker", "Heartbeat", "Host", "Started (UTC)", "Pages", "Share", "Pages/min"),
        *("Items", "Active", "Buffered"),
    )
    total = sum(worker.pages for worker in fleet.workers) or 1
    rows = [_row(worker, total, fleet.at) for worker in fleet.workers]
    return table("Workers", names, rows, words=4)


def _row(worker: Worker, total: int, now_s: float) -> tuple[Node, ...]:
    return (
        tag.a(worker.name, href=f"/workers/{quote(worker.name, safe='')}/log"),
        badge("fresh", "good") if worker.alive else badge("missing", "bad"),
        f"{worker.host} ({worker.pid})" if worker.pid else worker.host,
        moment(worker.started),
        count(worker.pages),
        share(worker.pages / total),
        count(worker.rate(now_s)),
        count(worker.items),
        count(worker.active),
        count(worker.buffered),
    )
