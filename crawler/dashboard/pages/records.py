"""Pages of further tables in PostgreSQL: attempts, quality, rejected items."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from aiohttp import web

from crawler.dashboard.context import Context, context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import badge, link, moment, page, table
from crawler.reads.records import attempts_by_provider, newest_attempts, rejections, scores
from scrapy_seine.reads.formatting import count, share, size

#: Most attempts that are summed by provider, because a fleet may have millions in an hour.
_MAX_SUMMED = 10_000


def _time(time: datetime | None) -> Node:
    return moment(time.timestamp()) if time else "–"


async def attempts(request: web.Request) -> web.Response:
    """Show the newest attempts of the last day."""
    query = request.query
    outcome, domain = query.get("outcome", ""), query.get("domain", "")
    rows = await newest_attempts(context_of(request).database, outcome=outcome, domain=domain)
    names = ("Time (UTC)", "Outcome", "Domain", "Lane", "Proxy", "URL", "Status", "Size", "ms")
    cells = [
        (
            *(_time(row["at"]), _outcome(row["outcome"]), row["domain"], row["lane"] or "–"),
            *(row["proxy_id"] or "direct", link(row["url"]), row["status"]),
            size(row["bytes"]) if row["bytes"] is not None else "–",
            row["duration_ms"],
        )
        for row in rows
    ]
    fields = [
        tag.label(label, " ", tag.input(name=name, id=f"f-{name}", value=value), for_=f"f-{name}")
        for name, label, value in (("outcome", "Outcome", outcome), ("domain", "Domain", domain))
    ]
    search = tag.form(fields, tag.button("Filter", class_="main"), method="get", role="search")
    return page(
        request,
        "Attempts",
        search,
        table(
            "The last day, newest first", names, cells, words=6, empty=_empty_text(outcome, domain)
        ),
        await _providers(context_of(request), domain),
    )


def _empty_text(outcome: str, domain: str) -> Node:
    if outcome or domain:
        return "No attempt of the last day matches."
    return ("No page was asked for in the last day: ", tag.code("scrapy crawl catalog"))


def _outcome(name: str) -> Node:
    return badge(name, "good" if name == "ok" else "warn")


async def _providers(context: Context, domain: str) -> Node:
    rows = await attempts_by_provider(context.database, domain=domain, max_attempts=_MAX_SUMMED)
    is_complete = sum(row["attempts"] for row in rows) < _MAX_SUMMED
    caption = (
        "The last hour" if is_complete else f"The newest {count(_MAX_SUMMED)} of the last hour"
    )
    cells = [
        (
            *(row["provider"], _time(row["hour"]), count(row["attempts"])),
            *(share(row["ok"] / row["attempts"]), count(row["mean_ms"])),
        )
        for row in rows
    ]
    names = ("Provider", "Hour (UTC)", "Attempts", "Good", "Mean, ms")
    return table(f"{caption}, by provider", names, cells, words=2, empty="No attempt.")


async def quality(request: web.Request) -> web.Response:
    """Show each site's last measured quality, and the rejected items."""
    database = context_of(request).database
    score_rows = [_score(row) for row in await scores(database)]
    rejection_rows = [
        (row["site_id"] or "–", row["reason"], _time(row["last_at"]), count(row["times"]))
        for row in await rejections(database)
    ]
    return page(
        request,
        "Quality",
        tag.p("Measured at the end of each job, and by ", tag.code("scrapy quality --keep"), "."),
        table("The worst first", _SCORES, score_rows, words=3, empty=_NO_SCORE),
        table(
            "Rejected in the last day",
            ("Site", "Reason", "Last (UTC)", "Times"),
            rejection_rows,
            words=3,
            empty="No item was rejected.",
        ),
    )


_NO_SCORE = ("No site was measured yet: ", tag.code("scrapy quality --keep"))
_SCORES = ("Site", "Fell", "Measured (UTC)", "Score", "Products", "Rejected", "Changed", "Prices")


def _score(row: dict[str, Any]) -> tuple[Node, ...]:
    return (
        row["site_id"],
        badge(row["fall"], "bad") if row["fall"] else "–",
        _time(row["measured_at"]),
        share(row["score"]),
        *(count(row[name]) for name in ("products", "rejected", "changed")),
        share(row["sane"]),
    )
