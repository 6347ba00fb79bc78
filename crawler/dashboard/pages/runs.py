"""One run of a crawl: its totals compared with the run before, and links to the other runs."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web
from markupsafe import Markup

from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import address, badge, moment, page, table, tiles
from scrapy_seine.frontier.runs import Run, list_runs
from scrapy_seine.reads.formatting import count, span

#: Number of the newest runs that are shown.
_MAX_SHOWN = 50
#: The order of the totals, by a request's lifecycle; other words follow.
_WORD_ORDER = ("pushed", "duplicate", "leased", "done", "ignored", "retried", "buried", "reaped")
_NO_RUN = (
    "No run has begun: a crawl with a start request begins one, ",
    tag.code("scrapy crawl catalog -a url=https://…"),
)


async def runs(request: web.Request) -> web.Response:
    """Show the run in the path, or the latest."""
    context = context_of(request)
    newest_runs = await list_runs(context.frontier, limit=_MAX_SHOWN + 1)
    number = request.match_info.get("number", "")
    index = next(
        (position for position, run in enumerate(newest_runs) if number in ("", str(run.number))),
        None,
    )
    if index is None and number:
        raise web.HTTPNotFound(text=f"Run {number} is not among the {_MAX_SHOWN} newest.\n")
    if index is None:
        return page(request, "Runs", tag.p(_NO_RUN))
    now = await context.overview(max_age_s=1)
    next_run = newest_runs[index - 1] if index else None
    until_s = next_run.at if next_run else now.fleet.at
    previous_run = newest_runs[index + 1] if index + 1 < len(newest_runs) else None
    running = next_run is None and bool((await context.frontier.counts()).undone)
    return page(
        request,
        f"Run {newest_runs[index].number}",
        _switch(newest_runs[:_MAX_SHOWN], newest_runs[index]),
        _about(newest_runs[index], until_s, running=running, latest=next_run is None),
        _totals(newest_runs[index], previous_run),
    )


def _switch(newest_runs: Sequence[Run], current: Run) -> Markup:
    links = [
        tag.a(
            f"{run.number} {run.name}".strip(),
            href=address("runs", str(run.number)),
            aria_current="true" if run is current else None,
        )
        for run in newest_runs
    ]
    return tag.nav(tag.span("Run"), links, class_="ranges runs", aria_label="Runs of this crawl")


def _about(run: Run, until_s: float, *, running: bool, latest: bool) -> list[Node]:
    state = badge("running", "good") if running else badge("over", "")
    duration_label = "Since it began" if latest else "Until the next one"
    return [
        tag.p(state, " ", run.name, " begun ", moment(run.at), " UTC"),
        tag.p("Its spider ended it: ", run.closed) if run.closed else None,
        tiles(
            [
                ("Done", count(run.totals.get("done", 0))),
                ("Given up", count(run.totals.get("buried", 0))),
                ("Tried again", count(run.totals.get("retried", 0))),
                (duration_label, span(max(0.0, until_s - run.at))),
            ]
        ),
    ]


def _totals(run: Run, previous_run: Run | None) -> Markup:
    used_words = {
        word
        for word, n in run.totals.items()
        if n or (previous_run and previous_run.totals.get(word))
    }
    words = [word for word in _WORD_ORDER if word in used_words] + sorted(
        used_words.difference(_WORD_ORDER)
    )
    rows = [
        (
            word.replace("_", " "),
            count(run.totals[word]),
            count(previous_run.totals.get(word, 0)) if previous_run else "–",
        )
        for word in words
    ]
    names = ("What came of requests", f"Run {run.number}", "The one before")
    return table("Totals", names, rows, class_="narrow", empty="Nothing came of it yet.")
