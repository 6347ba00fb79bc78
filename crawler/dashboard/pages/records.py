"""Tables that PostgreSQL keeps beside the products: jobs, attempts, rejected items."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from aiohttp import web

from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import badge, link, moment, page, table
from crawler.ops.stored import jobs as read_jobs
from crawler.ops.stored import newest_attempts, rejections, scores
from crawler.ops.words import count, share, span


def _time(at: datetime | None) -> Node:
    return moment(at.timestamp()) if at else "–"


async def jobs(request: web.Request) -> web.Response:
    """Show jobs with their progress and how long they will still take."""
    rows = await read_jobs(context_of(request).database)
    names = (
        *("Job", "Kind", "Site", "State", "Started (UTC)", "Finished (UTC)"),
        *("Total", "Done", "Failed", "Progress", "Time left"),
    )
    cells = [
        (
            *(row["job_id"], row["kind"], row["site_id"] or "–", badge(row["state"])),
            *(_time(row["started_at"]), _time(row["finished_at"])),
            *(count(row["total"]), count(row["done"]), count(row["failed"])),
            share((row["done"] + row["failed"]) / row["total"] if row["total"] else None),
            span(time_left(row["total"], row["done"] + row["failed"], _age(row))),
        )
        for row in rows
    ]
    return page(request, "Jobs", table("The newest first", names, cells, words=6))


def _age(row: dict[str, datetime | None]) -> float | None:
    started = row["started_at"]
    if started is None or row["finished_at"] is not None:
        return None
    return (datetime.now(started.tzinfo) - started).total_seconds()


def time_left(total: int, ended: int, ran_s: float | None) -> float | None:
    """Seconds until a job ends at its mean speed so far; None: nobody can say.

    >>> time_left(100, 25, 60.0), time_left(100, 0, 60.0)
    (180.0, None)
    """
    if not ran_s or not ended or ended > total:
        return None
    return ran_s * (total - ended) / ended


async def attempts(request: web.Request) -> web.Response:
    """Show the newest attempts of the last day."""
    query = request.query
    outcome, domain = query.get("outcome", ""), query.get("domain", "")
    rows = await newest_attempts(context_of(request).database, outcome=outcome, domain=domain)
    names = ("Time (UTC)", "Outcome", "Domain", "Lane", "Proxy", "URL", "Status", "Bytes", "ms")
    cells = [
        (
            *(_time(row["at"]), row["outcome"], row["domain"], row["lane"] or "–"),
            *(row["proxy_id"] or "direct", link(row["url"]), row["status"]),
            *(row["bytes"], row["duration_ms"]),
        )
        for row in rows
    ]
    fields = [
        tag.label(label, " ", tag.input(name=name, id=f"f-{name}", value=value), for_=f"f-{name}")
        for name, label, value in (("outcome", "Outcome", outcome), ("domain", "Domain", domain))
    ]
    search = tag.form(fields, tag.button("Filter"), method="get", role="search", class_="actions")
    return page(
        request, "Attempts", search, table("The last day, newest first", names, cells, words=6)
    )


async def quality(request: web.Request) -> web.Response:
    """Show what each site's data was worth when it was last measured, and what is rejected."""
    database = context_of(request).database
    measured = [_score(row) for row in await scores(database)]
    refused = [
        (row["site_id"] or "–", row["reason"], _time(row["last_at"]), count(row["times"]))
        for row in await rejections(database)
    ]
    return page(
        request,
        "Quality",
        tag.p("Measured after a complete crawl, and by ", tag.code("scrapy quality --keep"), "."),
        table("The worst first", _SCORES, measured, words=3),
        table(
            "Rejected in the last day", ("Site", "Reason", "Last (UTC)", "Times"), refused, words=3
        ),
    )


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
