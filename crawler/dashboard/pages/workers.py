"""The workers: uptime, resources, pages in progress and log of each; the form to drain one."""

from __future__ import annotations

from urllib.parse import quote

from aiohttp import web
from markupsafe import Markup

from crawler.dashboard.charts import WIDTH, sparkline
from crawler.dashboard.context import Context, context_of
from crawler.dashboard.fleet_samples import History
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import action_form, badge, fragments, link, moment, page, table, tiles
from scrapy_seine.printable import printable
from scrapy_seine.reads.fleet import Fleet, Worker
from scrapy_seine.reads.formatting import count, share, size, span
from scrapy_seine.reads.kept_log_lines import read_log

_NO_WORKER = ("No worker runs: ", tag.code("scrapy crawl catalog"))


async def workers(request: web.Request) -> web.Response:
    """Show all workers of the last hour."""
    return page(request, "Workers", fragments(await live(context_of(request))), live="workers")


async def one_worker(request: web.Request) -> web.Response:
    """Show one worker: its resources, its pages in progress, the last lines of its log."""
    context, name = context_of(request), request.match_info["name"]
    fleet = (await context.overview(max_age_s=1)).fleet
    worker = next((candidate for candidate in fleet.workers if candidate.name == name), None)
    lines = await read_log(context.redis, context.frontier.keys, name)
    log_text = "\n".join(map(printable, lines)) or "Nothing is known of this worker's log."
    return page(
        request,
        name,
        _about(request, worker, fleet.at) if worker else tag.p("This worker is not running."),
        tag.h2("Log"),
        tag.pre(log_text, class_="log", tabindex="0"),
    )


def _about(request: web.Request, worker: Worker, now_s: float) -> list[Node]:
    urls = [(link(url),) for url in worker.urls]
    drain: Node = None
    if worker.alive:
        drain = tag.div(
            action_form(request, "drain", "Drain this worker", worker=worker.name),
            tag.span("It finishes its pages, hands back the rest, and exits.", class_="faint"),
            class_="actions",
        )
    return [
        tag.p(badge("fresh", "good") if worker.alive else badge("missing", "bad")),
        tiles(
            [
                ("CPU", _cpu(worker)),
                ("Memory", size(worker.memory_bytes) if worker.memory_bytes else "–"),
                ("Version", worker.version or "–"),
                ("Host", f"{worker.host} ({worker.pid})"),
                ("Running for", span(now_s - worker.started) if worker.started else "–"),
                ("Pages", count(worker.pages)),
                ("Items", count(worker.items)),
                ("In flight", count(worker.active)),
            ],
            words=True,
        ),
        drain,
        table("Pages it is at", ("URL",), urls, empty="None, when it last said so."),
    ]


async def live(context: Context) -> dict[str, Markup]:
    """Return the live parts of the page."""
    fleet = (await context.overview(max_age_s=1)).fleet
    return {"team": workers_table(fleet, context.history)}


def workers_table(fleet: Fleet, history: History) -> Markup:
    """Render workers as a table."""
    names = (
        *("Worker", "Heartbeat", "Version", "Pages/min lately", "Share"),
        *("Pages", "Pages/min", "Items", "In flight", "Buffered", "CPU", "Memory", "Started (UTC)"),
    )
    total = sum(worker.pages for worker in fleet.workers) or 1
    rows = [_row(worker, total, fleet.at, history) for worker in fleet.workers]
    return table("Workers of the last hour", names, rows, words=5, empty=_NO_WORKER)


def _row(worker: Worker, total: int, now_s: float, history: History) -> tuple[Node, ...]:
    course = history.course(f"worker/{worker.name}")
    return (
        tag.a(worker.name, href=f"/workers/{quote(worker.name, safe='')}"),
        badge("fresh", "good") if worker.alive else badge("missing", "bad"),
        worker.version or "–",
        sparkline(f"Pages a minute of {worker.name}", course),
        [_bar(worker.pages / total), share(worker.pages / total)],
        count(worker.pages),
        count(worker.rate(now_s)),
        count(worker.items),
        count(worker.active),
        count(worker.buffered),
        _cpu(worker),
        size(worker.memory_bytes) if worker.memory_bytes else "–",
        moment(worker.started),
    )


def _cpu(worker: Worker) -> str:
    return f"{100 * worker.cpu:.0f} %" if worker.cpu is not None else "–"


def _bar(fraction: float) -> Markup:
    return tag.svg(
        tag.rect(x=0, y=0, width=f"{WIDTH * fraction:.1f}", height=10, class_="fill s0"),
        viewBox=f"0 0 {WIDTH:g} 10",
        preserveAspectRatio="none",
        class_="share",
        aria_hidden="true",
    )
