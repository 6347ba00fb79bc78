"""One run of a crawl: what came of it, beside the run before; and the way to each other run."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web
from markupsafe import Markup

from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import address, badge, moment, page, table, tiles
from scrapy_seine.frontier.runs import Run, list_runs
from scrapy_seine.reads.formatting import count, span

#: Runs that can be chosen: the newest, and one more to compare the oldest with.
_SHOWN = 50
#: The order of a request's way; other words come after them.
_WAY = ("pushed", "duplicate", "leased", "done", "ignored", "retried", "buried", "reaped")
_NO_RUN = (
    "No run has begun: a crawl with a start request begins one, ",
    tag.code("scrapy crawl catalog -a url=https://…"),
)


async def runs(request: web.Request) -> web.Response:
    """Show the run that the path names, or the latest."""
    context = context_of(request)
    found = await list_runs(context.frontier, limit=_SHOWN + 1)
    asked = request.match_info.get("number", "")
    at = next((n for n, run in enumerate(found) if asked in ("", str(run.number))), None)
    if at is None and asked:
        raise web.HTTPNotFound(text=f"Run {asked} is not among the {_SHOWN} newest.\n")
    if at is None:
        return page(request, "Runs", tag.p(_NO_RUN))
    now = await context.overview(max_age_s=1)
    later = found[at - 1] if at else None
    until = later.at if later else now.fleet.at
    before = found[at + 1] if at + 1 < len(found) else None
    running = later is None and bool((await context.frontier.counts()).undone)
    return page(
        request,
        f"Run {found[at].number}",
        _switch(found[:_SHOWN], found[at]),
        _about(found[at], until, running=running, latest=later is None),
        _totals(found[at], before),
    )


def _switch(found: Sequence[Run], chosen: Run) -> Markup:
    links = [
        tag.a(
            f"{run.number} {run.name}".strip(),
            href=address("runs", str(run.number)),
            aria_current="true" if run is chosen else None,
        )
        for run in found
    ]
    return tag.nav(tag.span("Run"), links, class_="ranges runs", aria_label="Runs of this crawl")


def _about(run: Run, until_s: float, *, running: bool, latest: bool) -> list[Node]:
    state = badge("running", "good") if running else badge("over", "")
    lasted = "Since it began" if latest else "Until the next one"
    return [
        tag.p(state, " ", run.name, " begun ", moment(run.at), " UTC"),
        tag.p("Its spider ended it: ", run.closed) if run.closed else None,
        tiles(
            [
                ("Done", count(run.totals.get("done", 0))),
                ("Given up", count(run.totals.get("buried", 0))),
                ("Tried again", count(run.totals.get("retried", 0))),
                (lasted, span(max(0.0, until_s - run.at))),
            ]
        ),
    ]


def _totals(run: Run, before: Run | None) -> Markup:
    told = {word for word, n in run.totals.items() if n or (before and before.totals.get(word))}
    words = [word for word in _WAY if word in told] + sorted(told.difference(_WAY))
    rows = [
        (
            word.replace("_", " "),
            count(run.totals[word]),
            count(before.totals.get(word, 0)) if before else "–",
        )
        for word in words
    ]
    names = ("What came of requests", f"Run {run.number}", "The one before")
    return table("Totals", names, rows, class_="narrow", empty="Nothing came of it yet.")
