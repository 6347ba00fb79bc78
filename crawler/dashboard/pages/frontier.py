"""The frontier by state, and the search for one URL with its place and reason."""

from __future__ import annotations

from aiohttp import web
from markupsafe import Markup

from crawler.dashboard.context import Context, context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import (
    action_form,
    address,
    fragments,
    labelled,
    link,
    moment,
    page,
    refusal,
    search_form,
    table,
    tiles,
)
from crawler.dashboard.pages.domains import priority_form
from crawler.reads.products import product_at
from crawler.reads.records import attempts_of
from scrapy_seine.errors import StoreError
from scrapy_seine.reads.formatting import count, span
from scrapy_seine.reads.requests import FoundRequest
from scrapy_seine.reads.search import DEPTH, find
from scrapy_seine.urls import domain, normalise

_ATTEMPT = ("outcome", "status", "lane", "proxy_id", "worker", "duration_ms")


async def frontier(request: web.Request) -> web.Response:
    """Show the requests by state, and search for one."""
    context, url = context_of(request), request.query.get("url", "").strip()
    result: Node = await _search(request, context, url) if url else None
    return page(
        request,
        "Frontier",
        search_form("url", "URL", url),
        result,
        fragments(await live(context)),
        tag.h2("Priority of what is queued"),
        tag.div(priority_form(request, *_selection_fields()), class_="actions panel"),
        live="frontier",
    )


def _selection_fields() -> list[Node]:
    """Return the fields that select queued requests; empty fields do not restrict."""
    return [
        labelled("Domain", "domain", "shop.example"),
        labelled("Job", "job"),
        labelled("Site", "site"),
        labelled("URL, * for any part", "url", "https://shop.example/p/*"),
    ]


async def live(context: Context) -> dict[str, Markup]:
    """Return the live parts of the page."""
    now = (await context.overview(max_age_s=1)).fleet
    counts = now.counts
    states = tiles(
        [
            ("Ready", count(counts.ready)),
            ("Due now", count(now.due_now)),
            ("Delayed", count(counts.delayed)),
            ("Leased", count(counts.leased)),
            *([("Moving", count(counts.moving))] if now.partitions > 1 else []),
            ("Dead", count(counts.dead)),
            ("Seen", count(counts.seen)),
            ("Domains ready", count(counts.domains_ready)),
            ("Domains waiting", count(counts.domains_waiting)),
            ("Next one's age", span(now.oldest_s) if counts.ready else "–"),
            ("Overdue by", span(now.lateness_s) if counts.undone else "–"),
        ]
    )
    rows = [(name, count(n)) for name, n in sorted(counts.totals.items())]
    return {"states": states, "verbs": _events(rows)}


def _events(rows: list[tuple[str, str]]) -> Markup:
    return table("Since the crawl began", ("Event", "Times"), rows, class_="narrow")


async def _search(request: web.Request, context: Context, url: str) -> Node:
    try:
        normalised, host = normalise(url), domain(url)
        requests = await find(context.frontier, url)
    except ValueError as error:
        return refusal(f"That is no URL to crawl: {error}")
    rows = [_row(request_) for request_ in requests]
    names = ("State", "Since or until (UTC)", "Retries", "Worker", "Why", "URL")
    return [
        tag.p(
            "Looked for ",
            link(normalised),
            " in ",
            tag.a(host, href=address("domains", host)),
            ".",
        ),
        table("Where it is", names, rows, words=6),
        None if requests else tag.p(f"Not among the first {count(DEPTH)} of each place."),
        await _history(context, normalised, host),
        action_form(request, "forget", "Forget that it was seen", url=normalised),
    ]


def _row(request: FoundRequest) -> tuple[Node, ...]:
    state: Node = request.state
    if request.state == "dead":
        state = tag.a(request.state, href=f"/dead/{request.id}")
    reason = (
        f"{request.note.get('reason', '')}: {request.note.get('error', '')}" if request.note else ""
    )
    request_time = moment(request.at)
    return state, request_time, str(request.retries), request.worker, reason, link(request.url)


async def _history(context: Context, url: str, host: str) -> Node:
    try:
        attempts = await attempts_of(context.database, url, host)
        product = await product_at(context.database, url)
    except StoreError as error:
        return refusal(error)
    names = ("Time (UTC)", "Outcome", "Status", "Lane", "Proxy", "Worker", "Took, ms")
    rows = [
        (moment(attempt["at"].timestamp()), *(attempt[name] for name in _ATTEMPT))
        for attempt in attempts
    ]
    product_link: Node = None
    if product:
        path = address("products", product["site_id"], product["external_id"])
        product_link = tag.p("It shows the product ", tag.a(product["name"], href=path), ".")
    return [product_link, table("Attempts", names, rows, words=6)]
