"""Domains: the busiest ones, and the details of one."""

from __future__ import annotations

from aiohttp import web
from markupsafe import Markup

from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import action_form, address, badge, page, search_form, table, tiles
from crawler.dashboard.pages.overview import MOODS, domains_table
from crawler.reads.ladder import Rung, read_rung
from scrapy_seine.reads.domains import Domain, list_domains, read_domains
from scrapy_seine.reads.formatting import count, pause, share, span
from scrapy_seine.reads.requests import FoundRequest, peek

PAGE = 100
_MAX_LENGTH = 255


async def domains(request: web.Request) -> web.Response:
    """List domains, the busiest first."""
    name = request.query.get("domain", "").strip().lower()
    if name:
        raise web.HTTPSeeOther(address("domains", name[:_MAX_LENGTH]))
    context = context_of(request)
    start = number(request.query.get("from", "0"))
    keys = context.frontier.keys
    names = await list_domains(context.redis, keys, limit=PAGE, start=start)
    read_at = (await context.overview(max_age_s=5)).fleet.at
    rows = await read_domains(context.redis, keys, names, read_at)
    next_link: Node = None
    if len(names) == PAGE:
        next_link = tag.p(tag.a("Next page", href=f"/domains?from={start + PAGE}"))
    return page(
        request,
        "Domains",
        search_form("domain", "Domain", "", "Show"),
        domains_table("The busiest first", rows, context.history),
        next_link,
    )


def number(text: str) -> int:
    """Read a position; invalid text is 0."""
    return min(int(text), 10**9) if text.isdecimal() and len(text) < _MAX_LENGTH else 0


async def domain(request: web.Request) -> web.Response:
    """Show one domain, its limits and the head of its queue."""
    context, name = context_of(request), request.match_info["name"]
    read_at = (await context.overview(max_age_s=5)).fleet.at
    (d,) = await read_domains(context.redis, context.frontier.keys, [name], read_at)
    queue = await peek(context.frontier, name)
    rung = await read_rung(context.redis, context.config.fleet, name)
    verb, label = ("resume", "Resume it") if d.paused else ("pause", "Pause it")
    return page(
        request,
        d.name,
        tag.p(badge(d.state, MOODS[d.state])),
        _tiles(d),
        _ladder_step(rung),
        tag.div(
            action_form(request, verb, label, domain=d.name),
            _limits(request, d),
            priority_form(request, domain=d.name),
            class_="actions",
        ),
        table("Next in its queue", ("URL", "Priority", "Retries"), [_row(r) for r in queue]),
    )


def priority_form(request: web.Request, /, *fields: Node, **hidden: str) -> Markup:
    """Render the form that sets the priority of queued requests."""
    number = tag.input(
        type="number", id="priority", name="priority", min=-4000, max=4000, value=100
    )
    label = tag.label("Priority", " ", number, for_="priority")
    return action_form(request, "set_priority", "Queue with it", label, *fields, **hidden)


def _ladder_step(rung: Rung | None) -> Node:
    if rung is None:
        return None
    step = badge(rung.step, "bad" if rung.stuck else "")
    moves = tag.ul([tag.li(move) for move in rung.moves])
    return tag.section(tag.p("Asked by: ", step, " ", rung.reason), moves)


def _row(request: FoundRequest) -> tuple[Node, ...]:
    return (
        tag.a(request.url, href=address("frontier", url=request.url), class_="url"),
        str(request.priority),
        str(request.retries),
    )


def _tiles(d: Domain) -> Node:
    return tiles(
        [
            ("Queued", count(d.queued)),
            ("In flight", f"{d.active} of {d.concurrency}"),
            ("Delay", pause(d.delay_ms, d.delay_max_ms)),
            ("Due in", span(d.due_in_s)),
            ("Done", count(d.done)),
            ("Tried again", count(d.retry)),
            ("Given up", count(d.bury)),
            ("Success", share(d.success)),
        ]
    )


def _limits(request: web.Request, d: Domain) -> Node:
    def field(name: str, label: str, value: int, low: int) -> Node:
        input_field = tag.input(
            type="number", id=name, name=name, value=value, min=low, max=86400000, required=True
        )
        return tag.label(label, " ", input_field, for_=name)

    return action_form(
        request,
        "set_delay",
        "Set the limits",
        field("delay_ms", "Shortest delay, ms", d.delay_ms, 0),
        field("concurrency", "In flight, at most", d.concurrency, 1),
        domain=d.name,
    )
