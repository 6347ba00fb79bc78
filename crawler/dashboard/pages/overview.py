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
from scrapy_seine.reads.audit import Deed, read_deeds
from scrapy_seine.reads.domains import Domain
from scrapy_seine.reads.formatting import count, share, size, span
from scrapy_seine.reads.overview import Overview

MOODS = {"ready": "good", "waiting": "", "paused": "warn", "busy": "good", "idle": ""}


async def overview(request: web.Request) -> web.Response:
    """Show the first page."""
    context = context_of(request)
    parts = await live(context)
    paused = (await context.overview(max_age_s=1)).fleet.counts.paused
    verb, label = ("resume", "Resume the crawl") if paused else ("pause", "Pause the crawl")
    deeds = await read_deeds(context.redis, context.frontier.keys)
    return page(
        request,
        "Overview",
        tag.div(action_form(request, verb, label), class_="actions"),
        fragments(parts),
        _deeds(deeds),
        live="overview",
    )


async def live(context: Context) -> dict[str, Markup]:
    """Return the parts that change while somebody looks."""
    now = await context.overview(max_age_s=1)
    return {
        "state": _state(now),
        "tiles": _tiles(now),
        "chart": _chart(now),
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


def _chart(now: Overview) -> Markup:
    done = shown_minutes([minute.done for minute in now.minutes])
    first = f"{len(done)} min ago"
    return tag.figure(
        tag.figcaption("Pages done a minute"),
        line_chart("Pages done a minute", done, first=first, last="now"),
    )


def shown_minutes(done: Sequence[int], least: int = 15) -> list[int]:
    """Leave out the running minute, unless it is the first, and the empty time before the crawl.

    >>> shown_minutes([0, 0, 0, 4, 5, 1], least=3), shown_minutes([0, 0, 0, 0, 7], least=2)
    ([0, 4, 5], [0, 7])
    """
    whole = list(done[:-1]) if any(done[:-1]) else list(done)
    began = next((at for at, n in enumerate(whole) if n), 0)
    return whole[min(began, max(len(whole) - least, 0)) :]


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
