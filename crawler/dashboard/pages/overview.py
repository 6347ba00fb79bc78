"""The first page: the crawl's troubles, state and speed, and where its requests wait."""

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
from crawler.dashboard.overview_plots import DEFAULT_RANGE, RANGES, Range, plots
from crawler.dashboard.pages.workers import workers_table
from crawler.reads.troubles import troubles
from scrapy_seine.reads.audit import Action, read_actions
from scrapy_seine.reads.demand import seeds_waiting
from scrapy_seine.reads.domains import Domain
from scrapy_seine.reads.formatting import count, pause, share, size, span
from scrapy_seine.reads.overview import Overview

MOODS = {"ready": "good", "waiting": "", "paused": "warn", "busy": "good", "idle": ""}


async def overview(request: web.Request) -> web.Response:
    """Show the first page."""
    context = context_of(request)
    slug = request.query.get("range", "").replace(" ", "")
    plot_range = next((candidate for candidate in RANGES if candidate.slug == slug), DEFAULT_RANGE)
    parts = await live(context, plot_range)
    paused = (await context.overview(max_age_s=1)).fleet.counts.paused
    verb, label = ("resume", "Resume the crawl") if paused else ("pause", "Pause the crawl")
    actions = await read_actions(context.redis, context.frontier.keys)
    live_names = ("where", "runs", "domains", "team", "reasons")
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
        _ranges(plot_range),
        fragments({"chart": parts["chart"]}),
        fragments({name: parts[name] for name in live_names}),
        _actions_table(actions),
        live=stream(plot_range),
    )


def _seed_field() -> tuple[Node, ...]:
    label = tag.label("A shop's address", for_="seed", class_="unseen")
    example = "https://a-shop.example"
    input_field = tag.input(type="url", name="url", id="seed", required=True, placeholder=example)
    return label, input_field


def stream(plot_range: Range) -> str:
    """Return the name of a range's event stream."""
    return "overview" if plot_range is DEFAULT_RANGE else f"overview-{plot_range.slug}"


def _ranges(selected: Range) -> Markup:
    links = [
        tag.a(
            plot_range.name,
            href="/" if plot_range is DEFAULT_RANGE else address(range=plot_range.slug),
            aria_current="true" if plot_range is selected else None,
        )
        for plot_range in RANGES
    ]
    return tag.nav(tag.span("Last"), links, class_="ranges", aria_label="Range of the plots")


async def live(context: Context, plot_range: Range) -> dict[str, Markup]:
    """Return the live parts of the page."""
    now = await context.overview(max_age_s=1)
    seeds = await seeds_waiting(context.redis, context.config.seeds)
    points = await context.points(plot_range, now.fleet.at)
    samples = context.history.at_steps([point.at for point in points], plot_range.step_s)
    return {
        "state": _state(now, seeds),
        "troubles": _troubles(now, seeds),
        "tiles": _tiles(now),
        "chart": plots(points, samples, plot_range.step_s),
        "where": _requests_by_state(now),
        "runs": _runs(now),
        "domains": domains_table("Busiest domains", now.domains, context.history),
        "team": workers_table(now.fleet, context.history),
        "reasons": _reasons(now),
    }


def _state(now: Overview, seeds: int) -> Markup:
    counts, alive = now.fleet.counts, len(now.fleet.alive)
    if counts.paused:
        state = badge("paused", "warn")
    elif seeds and not counts.undone:
        state = badge("seeds wait", "" if alive else "bad")
    elif not counts.undone:
        state = badge("nothing left to do", "")
    elif not alive:
        state = badge("work, but no worker", "bad")
    else:
        state = badge("running", "good")
    return tag.p(state, " ", _time_left(now))


def _time_left(now: Overview) -> Node:
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
    current_troubles = troubles(now, seeds)
    if not current_troubles:
        return tag.p(badge("nothing is wrong", "good"))
    rows = [
        tag.li(
            tag.a(trouble.text, href=trouble.href) if trouble.href else trouble.text,
            tag.span(f": {trouble.fix}"),
        )
        for trouble in current_troubles
    ]
    return tag.ul(rows, class_="troubles")


def _requests_by_state(now: Overview) -> Markup:
    """Render the unfinished requests by state, as parts of one bar."""
    counts = now.fleet.counts
    due_count = min(now.fleet.due_now, counts.ready)
    parts = [
        ("due now", due_count),
        ("ready, but their sites must wait", counts.ready - due_count),
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
            class_=f"fill s{index}",
        )
        for index, ((_, n), end) in enumerate(zip(parts, ends, strict=True))
        if n
    ]
    keys = [
        tag.li(tag.span(class_=f"key s{index}"), f"{count(n)} {name}")
        for index, (name, n) in enumerate(parts)
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
            *(count(run.totals.get(outcome, 0)) for outcome in ("done", "buried")),
        )
        for run in now.runs
    ]
    names = ("Run", "Name", "Begun (UTC)", "Done", "Given up")
    return table("Runs", names, rows, words=3, class_="narrow")


def _run_link(number: int) -> Markup:
    return tag.a(str(number), href=address("runs", str(number)))


def domains_table(caption: str, rows: Sequence[Domain], history: History) -> Markup:
    """Render domains as a table."""
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
        pause(d.delay_ms, d.delay_max_ms),
        span(d.due_in_s) if d.due_in_s else "now",
        count(d.done),
        share(d.success),
    )


def _reasons(now: Overview) -> Markup:
    if not now.reasons:
        return Markup()
    rows = [
        (tag.a(reason, href=address("dead", reason=reason)), count(n))
        for reason, n in now.reasons.items()
    ]
    return table("Given up lately, by reason", ("Reason", "Requests"), rows, class_="narrow")


def _actions_table(actions: list[Action]) -> Node:
    if not actions:
        return None
    rows = [
        (
            moment(action.at),
            action.verb,
            action.target or "the crawl",
            action.result,
            f"{action.who} ({action.origin})",
        )
        for action in actions
    ]
    return table("Latest actions", ("Time (UTC)", "Action", "On", "Result", "By"), rows, words=5)
