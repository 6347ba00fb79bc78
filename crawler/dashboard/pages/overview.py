"""The first page: what is wrong, how the crawl stands, how fast it is, where requests wait."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from aiohttp import web
from markupsafe import Markup

from crawler.dashboard.charts import WIDTH, sparkline
from crawler.dashboard.context import Context, context_of
from crawler.dashboard.fleet_samples import History
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
from crawler.dashboard.overview_plots import RANGES, USUAL, Range, plots
from crawler.dashboard.pages.workers import workers_table
from crawler.reads.troubles import troubles
from scrapy_seine.reads.audit import Deed, read_deeds
from scrapy_seine.reads.demand import seeds_waiting
from scrapy_seine.reads.domains import Domain
from scrapy_seine.reads.formatting import count, share, size, span
from scrapy_seine.reads.overview import Overview

MOODS = {"ready": "good", "waiting": "", "paused": "warn", "busy": "good", "idle": ""}


async def overview(request: web.Request) -> web.Response:
    """Show the first page."""
    context = context_of(request)
    asked = request.query.get("range", "").replace(" ", "")
    chosen = next((one for one in RANGES if one.slug == asked), USUAL)
    parts = await live(context, chosen)
    paused = (await context.overview(max_age_s=1)).fleet.counts.paused
    verb, label = ("resume", "Resume the crawl") if paused else ("pause", "Pause the crawl")
    deeds = await read_deeds(context.redis, context.frontier.keys)
    last = ("where", "runs", "domains", "team", "reasons")
    return page(
        request,
        "Overview",
        tag.div(
            fragments({"state": parts["state"]}),
            action_form(request, verb, label),
            action_form(request, "seed", "Crawl it", *_seed_field()),
            class_="actions panel",
        ),
        fragments({name: parts[name] for name in ("troubles", "tiles")}),
        _ranges(chosen),
        fragments({"chart": parts["chart"]}),
        fragments({name: parts[name] for name in last}),
        _deeds(deeds),
        live=stream(chosen),
    )


def _seed_field() -> tuple[Node, ...]:
    label = tag.label("A shop's address", for_="seed", class_="unseen")
    example = "https://a-shop.example"
    box = tag.input(type="url", name="url", id="seed", required=True, placeholder=example)
    return label, box


def stream(chosen: Range) -> str:
    """Name of the event stream of a range."""
    return "overview" if chosen is USUAL else f"overview-{chosen.slug}"


def _ranges(chosen: Range) -> Markup:
    links = [
        tag.a(
            one.name,
            href="/" if one is USUAL else address("", range=one.slug),
            aria_current="true" if one is chosen else None,
        )
        for one in RANGES
    ]
    return tag.nav(tag.span("Last"), links, class_="ranges", aria_label="Range of the plots")


async def live(context: Context, chosen: Range) -> dict[str, Markup]:
    """Return the parts that change while somebody looks."""
    now = await context.overview(max_age_s=1)
    seeds = await seeds_waiting(context.redis, context.config.seeds)
    points = await context.points(chosen, now.fleet.at)
    samples = context.history.at_steps([point.at for point in points], chosen.step_s)
    return {
        "state": _state(now, seeds),
        "troubles": _troubles(now, seeds),
        "tiles": _tiles(now),
        "chart": plots(points, samples, chosen.step_s),
        "where": _where(now),
        "runs": _runs(now),
        "domains": domains_table("Busiest domains", now.domains, context.history),
        "team": workers_table(now.fleet, context.history),
        "reasons": _reasons(now),
    }


def _state(now: Overview, seeds: int) -> Markup:
    counts, alive = now.fleet.counts, len(now.fleet.alive)
    if counts.paused:
        word = badge("paused", "warn")
    elif seeds and not counts.undone:
        word = badge("seeds wait", "" if alive else "bad")
    elif not counts.undone:
        word = badge("nothing left to do", "")
    elif not alive:
        word = badge("work, but no worker", "bad")
    else:
        word = badge("running", "good")
    return tag.p(word, " ", _left(now))


def _left(now: Overview) -> Node:
    if now.eta_s and not now.fleet.counts.paused:
        return f"at least {span(now.eta_s)} left at the present speed"
    return None


def _tiles(now: Overview) -> Markup:
    fleet, counts = now.fleet, now.fleet.counts
    limit = f" of {size(fleet.memory_limit_bytes)}" if fleet.memory_limit_bytes else ""
    return tiles(
        [
            ("Pages a minute lately", count(now.pages_a_minute)),
            ("Success", share(now.success)),
            ("Done", count(counts.totals.get("done", 0))),
            ("To do", count(counts.undone)),
            ("Dead letters", count(counts.dead)),
            ("Workers", count(len(fleet.alive))),
            ("Overdue by", span(fleet.lateness_s) if fleet.counts.undone else "–"),
            ("Redis memory", size(fleet.memory_bytes) + limit),
        ]
    )


def _troubles(now: Overview, seeds: int) -> Markup:
    found = troubles(now, seeds)
    if not found:
        return tag.p(badge("nothing is wrong", "good"))
    rows = [
        tag.li(tag.a(one.text, href=one.href) if one.href else one.text, tag.span(f": {one.fix}"))
        for one in found
    ]
    return tag.ul(rows, class_="troubles")


def _where(now: Overview) -> Markup:
    """Show where the requests are that are not done, as parts of one bar."""
    counts = now.fleet.counts
    due = min(now.fleet.due_now, counts.ready)
    parts = [
        ("due now", due),
        ("ready, but their sites must wait", counts.ready - due),
        ("delayed after a failure", counts.delayed),
        ("leased by a worker", counts.leased),
        ("dead letters", counts.dead),
    ]
    total = sum(n for _, n in parts)
    if not total:
        return Markup()
    ends = list(accumulate(n for _, n in parts))
    bars = [
        tag.rect(
            x=f"{WIDTH * (end - n) / total:.1f}",
            y=0,
            width=f"{WIDTH * n / total:.1f}",
            height=10,
            class_=f"fill s{at}",
        )
        for at, ((_, n), end) in enumerate(zip(parts, ends, strict=True))
        if n
    ]
    keys = [
        tag.li(tag.span(class_=f"key s{at}"), f"{count(n)} {name}")
        for at, (name, n) in enumerate(parts)
        if n
    ]
    drawing = tag.svg(
        bars,
        viewBox=f"0 0 {WIDTH:g} 10",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )
    return tag.figure(
        tag.figcaption(tag.span("Where requests wait")), drawing, tag.ul(keys, class_="legend")
    )


def _runs(now: Overview) -> Markup:
    if not now.runs:
        return Markup()
    rows = [
        (
            *(_run_link(run.number), run.name, moment(run.at)),
            *(count(run.totals.get(word, 0)) for word in ("done", "buried")),
        )
        for run in now.runs
    ]
    names = ("Run", "Name", "Begun (UTC)", "Done", "Given up")
    return table("Runs", names, rows, words=3, class_="narrow")


def _run_link(number: int) -> Markup:
    return tag.a(str(number), href=address("runs", str(number)))


def domains_table(caption: str, rows: Sequence[Domain], history: History) -> Markup:
    """Lay domains out as a table."""
    names = (
        *("Domain", "State", "Pages/min", "Queued", "In flight", "Delay", "Due in", "Done"),
        "Success",
    )
    return table(caption, names, [_domain(d, history) for d in rows], words=3, empty=_NO_DOMAIN)


_NO_DOMAIN = (
    "No site was asked for anything yet: ",
    tag.code("scrapy crawl catalog -a url=https://…"),
)


def _domain(d: Domain, history: History) -> tuple[Node, ...]:
    return (
        tag.a(d.name, href=address("domains", d.name)),
        badge(d.state, MOODS[d.state]),
        sparkline(f"Pages a minute of {d.name}", history.course(d.name)),
        count(d.queued),
        f"{d.active}/{d.concurrency}",
        f"{d.delay_ms} ms",
        span(d.due_in_s) if d.due_in_s else "now",
        count(d.done),
        share(d.success),
    )


def _reasons(now: Overview) -> Markup:
    if not now.reasons:
        return Markup()
    rows = [
        (tag.a(why, href=address("dead", reason=why)), count(n)) for why, n in now.reasons.items()
    ]
    return table("Given up lately, by reason", ("Reason", "Requests"), rows, class_="narrow")


def _deeds(deeds: list[Deed]) -> Node:
    if not deeds:
        return None
    rows = [
        (moment(d.at), d.verb, d.target or "the crawl", d.result, f"{d.who} ({d.origin})")
        for d in deeds
    ]
    return table("Latest actions", ("Time (UTC)", "Action", "On", "Result", "By"), rows, words=5)
