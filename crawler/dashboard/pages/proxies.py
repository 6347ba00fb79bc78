"""Proxies: their state, and the sites that banned them."""

from __future__ import annotations

from aiohttp import web

from crawler.access.proxies.pool import Health
from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import badge, page, table
from crawler.reads.proxies import read_proxies
from scrapy_seine.reads.formatting import count, share, span

MAX_PROXIES = 500


async def proxies(request: web.Request) -> web.Response:
    """Show the fleet's proxies, without their credentials."""
    context = context_of(request)
    healths = await read_proxies(context.redis, context.config.fleet)
    names = (
        *("Proxy", "State", "Pool", "Country", "Provider", "Kept away from"),
        *("Good", "Bans", "Unclear", "Success"),
    )
    return page(
        request,
        "Proxies",
        tag.p(f"{count(len(healths))} in all."),
        table(
            "Most bans first",
            names,
            [_row(health) for health in healths[:MAX_PROXIES]],
            words=6,
            empty=("No worker has used a proxy yet; name some in ", tag.code("SEINE_PROXIES")),
        ),
    )


def _row(health: Health) -> tuple[Node, ...]:
    rests = [f"{domain} for {span(left_s)}" for domain, left_s in sorted(health.domains.items())]
    uses = health.good + health.bans + health.unknown
    state = badge("usable", "good")
    if health.resting_s:
        state = badge(f"rests for {span(health.resting_s)}", "bad")
    return (
        *(health.id, state, health.pool, health.country or "–", health.provider or "–"),
        *(", ".join(rests) or "–", count(health.good), count(health.bans)),
        *(count(health.unknown), share(health.good / uses if uses else None)),
    )
