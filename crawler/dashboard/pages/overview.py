"""The first page: how the crawl stands, how fast it is, what is stuck."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web
from markupsafe import Markup

from crawler.dashboard.charts import line_chart
from crawler.dashboard.context import Context, context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import (
    action_form,
    address,
    badge,
    fragments,
    moment,
    page,
    table,
    tiles,
)
from crawler.dashboard.pages.workers import workers_table
from crawler.reads.troubles import troubles
from scrapy_seine.reads.audit import Deed, read_deeds
from scrapy_seine.reads.domains import Domain
from scrapy_seine.reads.formatting import count, share, size, span
from scrapy_seine.reads.outcome_counts import Minute
from scrapy_seine.reads.overview import Overview

#: Minutes that the plots show, by the name of the range.
RANGES = {"15 min": 15, "1 h": 60, "3 h": 180}
USUAL = "1 h"
MOODS = {"ready": "good", "waiting": "", "paused": "warn", "busy": "good", "idle": ""}


async def overview(request: web.Request) -> web.Response:
    """Show the first page."""
    context = context_of(request)
    minutes = RANGES.get(request.query.get("range", ""), RANGES[USUAL])
    parts = await live(context, minutes)
    paused = (await context.overview(max_age_s=1)).fleet.counts.paused
    verb, label = ("resume", "Resume the crawl") if paused else ("pause", "Pause the crawl")
    deeds = await read_deeds(context.redis, context.frontier.keys)
    return page(
        request,
        "Overview",
        fragments({"troubles": parts["troubles"]}),
        tag.div(
            action_form(request, verb, label),
            action_form(
                request,
                "seed",
                "Crawl it",
                tag.label("A shop's address", for_="seed"),
                tag.input(
                    type="url", name="url", id="seed", required=True, placeholder="https://…"
                ),
            ),
            class_="actions",
        ),
        _ranges(minutes),
        fragments({name: part for name, part in parts.items() if name != "troubles"}),
        _deeds(deeds),
        live=stream(minutes),
    )


def stream(minutes: int) -> str:
    """Name of the event stream of a range."""
    return "overview" if minutes == RANGES[USUAL] else f"overview-{minutes}"


def _ranges(minutes: int) -> Markup:
    links = [
        tag.a(name, href=f"/?range={name}", aria_current="true" if n == minutes else None)
        for name, n in RANGES.items()
    ]
    return tag.nav("Plots of the last ", links, class_="ranges", aria_label="Range of the plots")


async def live(context: Context, minutes: int) -> dict[str, Markup]:
    """Return the parts that change while somebody looks."""
    now = await context.overview(max_age_s=1)
    return {
        "troubles": _troubles(now),
        "state": _state(now),
        "tiles": _tiles(now),
        "chart": _charts(now, minutes),
        "domains": domains_table("Busiest domains", now.domains),
        "team": workers_table(now.fleet),
        "reasons": _reasons(now),
    }


def _state(now: Overview) -> Markup:
    counts, alive = now.fleet.counts, len(now.fleet.alive)
    if counts.paused:
        word = badge("paused", "warn")
    elif not counts.undone:
        word = badge("nothing left to do", "")
    elif not alive:
        word = badge("work, but no worker", "bad")
    else:
        word = badge("running", "good")
    return tag.p(word, " ", _left(now))


def _left(now: Overview) -> Node:
    if now.eta_s and not now.fleet.counts.paused:
        return f"{span(now.eta_s)} left at the present speed"
    return None


def _tiles(now: Overview) -> Markup:
    fleet, counts = now.fleet, now.fleet.counts
    limit = f" of {size(fleet.memory_limit_bytes)}" if fleet.memory_limit_bytes else ""
    return tiles(
        [
            ("Pages a minute", count(now.pages_a_minute)),
            ("Success", share(now.success)),
            ("Done", count(counts.totals.get("done", 0))),
            ("To do", count(counts.undone)),
            ("Due now", count(fleet.due_now)),
            ("Ready", count(counts.ready)),
            ("Delayed", count(counts.delayed)),
            ("Leased", count(counts.leased)),
            ("Dead letters", count(counts.dead)),
            ("Workers", count(len(fleet.alive))),
            ("Overdue by", span(fleet.lateness_s)),
            ("Redis memory", size(fleet.memory_bytes) + limit),
        ]
    )


def _troubles(now: Overview) -> Markup:
    found = troubles(now)
    if not found:
        return tag.p(badge("nothing is wrong", "good"))
    rows = [
        tag.li(tag.a(one.text, href=one.href) if one.href else one.text, tag.span(f": {one.fix}"))
        for one in found
    ]
    return tag.ul(rows, class_="troubles")


def _charts(now: Overview, minutes: int) -> Markup:
    """Draw the plots: pages, products, failed tries and the share of tries that ended well."""
    shown = shown_minutes(now.minutes, minutes)
    tries = [(minute.done, minute.done + minute.retry + minute.bury) for minute in shown]
    plots: list[tuple[str, list[float]]] = [
        ("Pages a minute", [minute.done for minute in shown]),
        ("Products a minute", [minute.items for minute in shown]),
        ("Failed tries a minute", [minute.retry + minute.bury for minute in shown]),
        ("Success, %", [100.0 * done / every if every else 100.0 for done, every in tries]),
    ]
    first = f"{len(shown)} min ago"
    figures = [
        tag.figure(tag.figcaption(name), line_chart(name, values, first=first, last="now"))
        for name, values in plots
    ]
    return tag.div(figures, class_="plots")


def shown_minutes(minutes: Sequence[Minute], most: int, least: int = 15) -> list[Minute]:
    """Leave out the running minute, unless it is the first, and the empty time before the crawl.

    >>> of = lambda *done: [Minute(at=60 * at, done=n) for at, n in enumerate(done)]
    >>> [minute.done for minute in shown_minutes(of(0, 0, 0, 4, 5, 1), 60, least=3)]
    [0, 4, 5]
    >>> [minute.done for minute in shown_minutes(of(0, 0, 0, 0, 7), 60, least=2)]
    [0, 7]
    >>> [minute.done for minute in shown_minutes(of(3, 4, 5, 6), 2)]
    [4, 5]
    """
    past = list(minutes[:-1]) if any(minute.done for minute in minutes[:-1]) else list(minutes)
    past = past[-most:]
    began = next((at for at, minute in enumerate(past) if minute.done), 0)
    return past[min(began, max(len(past) - least, 0)) :]


def domains_table(caption: str, rows: Sequence[Domain]) -> Markup:
    """Lay domains out as a table."""
    names = ("Domain", "State", "Queued", "In flight", "Delay", "Due in", "Done", "Success")
    return table(caption, names, [_domain(d) for d in rows], words=2)


def _domain(d: Domain) -> tuple[Node, ...]:
    return (
        tag.a(d.name, href=address("domains", d.name)),
        badge(d.state, MOODS[d.state]),
        count(d.queued),
        f"{d.active}/{d.concurrency}",
        f"{d.delay_ms} ms",
        span(d.due_in_s),
        count(d.done),
        share(d.success),
    )


def _reasons(now: Overview) -> Markup:
    rows = [
        (tag.a(why, href=address("dead", reason=why)), count(n)) for why, n in now.reasons.items()
    ]
    return table("Given up lately, by reason", ("Reason", "Requests"), rows)


def _deeds(deeds: list[Deed]) -> Markup:
    rows = [
        (moment(d.at), d.verb, d.target or "the crawl", d.result, f"{d.who} ({d.origin})")
        for d in deeds
    ]
    return table("Latest actions", ("Time (UTC)", "Action", "On", "Result", "By"), rows, words=5)
