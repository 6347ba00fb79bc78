"""The frontier by state, and the search for one URL: where is it, and why."""

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
from scrapy_seine.reads.requests import Found
from scrapy_seine.reads.search import DEPTH, find
from scrapy_seine.urls import domain, normalise

_ATTEMPT = ("outcome", "status", "lane", "proxy_id", "worker", "duration_ms")


async def frontier(request: web.Request) -> web.Response:
    """Show where requests are, and search for one."""
    context, url = context_of(request), request.query.get("url", "").strip()
    found: Node = await _search(request, context, url) if url else None
    return page(
        request,
        "Frontier",
        search_form("url", "URL", url),
        found,
        fragments(await live(context)),
        tag.h2("Priority of what is queued"),
        tag.div(priority_form(request, *_chosen()), class_="actions panel"),
        live="frontier",
    )


def _chosen() -> list[Node]:
    """Fields that say which queued requests are meant; those that are empty narrow nothing."""
    return [
        labelled("Domain", "domain", "shop.example"),
        labelled("Job", "job"),
        labelled("Site", "site"),
        labelled("URL, * for any part", "url", "https://shop.example/p/*"),
    ]


async def live(context: Context) -> dict[str, Markup]:
    """Return the parts that change while somebody looks."""
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
        wanted, host = normalise(url), domain(url)
        found = await find(context.frontier, url)
    except ValueError as error:
        return refusal(f"That is no URL to crawl: {error}")
    rows = [_row(request_) for request_ in found]
    names = ("State", "Since or until (UTC)", "Retries", "Worker", "Why", "URL")
    return [
        tag.p(
            "Looked for ",
            link(wanted),
            " in ",
            tag.a(host, href=address("domains", host)),
            ".",
        ),
        table("Where it is", names, rows, words=6),
        None if found else tag.p(f"Not among the first {count(DEPTH)} of each place."),
        await _history(context, wanted, host),
        action_form(request, "forget", "Forget that it was seen", url=wanted),
    ]


def _row(found: Found) -> tuple[Node, ...]:
    state: Node = found.state
    if found.state == "dead":
        state = tag.a(found.state, href=f"/dead/{found.id}")
    why = f"{found.note.get('reason', '')}: {found.note.get('error', '')}" if found.note else ""
    at = moment(found.at)
    return state, at, str(found.retries), found.worker, why, link(found.url)


async def _history(context: Context, url: str, host: str) -> Node:
    try:
        attempts = await attempts_of(context.database, url, host)
        product = await product_at(context.database, url)
    except StoreError as error:
        return refusal(error)
    names = ("Time (UTC)", "Outcome", "Status", "Lane", "Proxy", "Worker", "Took, ms")
    rows = [(moment(a["at"].timestamp()), *(a[name] for name in _ATTEMPT)) for a in attempts]
    shown: Node = None
    if product:
        path = address("products", product["site_id"], product["external_id"])
        shown = tag.p("It shows the product ", tag.a(product["name"], href=path), ".")
    return [shown, table("Attempts", names, rows, words=6)]
