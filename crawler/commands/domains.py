"""`scrapy domains`: show how each domain is requested, and which pages are not fetched."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Container, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs
from redis.asyncio import Redis
from scrapy.exceptions import UsageError

from crawler.access.ladder_store import NO_BROWSER, LadderStore, Place
from crawler.access.shared_state import fleet_name
from crawler.stores.dead_ends import DeadEnd, read_dead_ends
from crawler.stores.store_endpoints import endpoints, running_database
from scrapy_seine.commands.base import SeineCommand, refuse_unknown_action
from scrapy_seine.commands.fleet_base import with_fleet
from scrapy_seine.config import FrontierConfig, flag
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.printable import printable
from scrapy_seine.reads import lazy_rich
from scrapy_seine.reads.audit import record_command
from scrapy_seine.reads.formatting import span

VERBS = ("show", "reset")


class Command(SeineCommand):
    """Shows the ladder's step of each domain, and resets a domain.

    Dead ends (shapes of URLs that led to nothing) are shown where PostgreSQL runs already.
    """

    summary = "Show each domain's rung of the ladder, and why; reset a domain to the lowest rung"
    arguments = "[show [DOMAIN]|reset DOMAIN]"
    example = "scrapy domains reset shop.example"

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Show the domains, or reset one.

        Raises:
            ConfigError: the ladder has no such domain.
            StoreUnreachable: Redis does not answer.
        """
        verb, *domains = args or ["show"]
        refuse_unknown_action(verb, VERBS)
        if len(domains) > 1 or (verb == "reset" and not domains):
            raise UsageError(f"one of {', '.join(VERBS)}; reset needs a domain")
        url = endpoints(self.project, need=("redis",)).redis_url
        if verb == "reset":
            with_fleet(url, lambda redis: self._reset(redis, domains[0]))
        else:
            dead_ends = self._dead_ends(domains[0] if domains else "")
            with_fleet(
                url, lambda redis: self._show(redis, domains[0] if domains else "", dead_ends)
            )
        return 0

    def _dead_ends(self, domain: str) -> list[DeadEnd]:
        """Read the dead ends where PostgreSQL runs; no server is started for this."""
        url = running_database(self.project)
        if not url:
            embedded = flag(self.project, "SEINE_EMBEDDED")
            reason = "PostgreSQL does not run" if embedded else "DATABASE_URL is empty"
            mend = "`scrapy up` starts it" if embedded else "set it to see them"
            print(f"dead ends are not shown, because {reason}; {mend}", file=sys.stderr)
            return []
        try:
            dead_ends = read_dead_ends(url)
        except StoreUnreachable as error:
            print(f"dead ends are not shown: {error}", file=sys.stderr)
            return []
        return [dead_end for dead_end in dead_ends if domain in ("", dead_end.host)]

    def _steps(self, redis: Redis) -> LadderStore:
        return LadderStore(redis, fleet_name(self.project))

    async def _show(self, redis: Redis, domain: str, dead_ends: Sequence[DeadEnd]) -> None:
        ladder = self._steps(redis)
        places = [p for p in await ladder.places() if domain in ("", p.domain)]
        waiting = frozenset(await ladder.waiting())
        if domain and not places and not dead_ends:
            raise ConfigError(f"the ladder knows no domain {domain!r}")
        if self.as_json:
            rows = [
                attrs.asdict(dead_end) | {"at": dead_end.at.isoformat()} for dead_end in dead_ends
            ]
            self.show("", domains=[plain(place, waiting) for place in places], dead_ends=rows)
            return
        console = lazy_rich.Console(highlight=False)
        if places:
            console.print(table(places, waiting))
        else:
            print("no worker has climbed the ladder yet")
        for line in places[0].path if domain and places else ():
            console.print("  " + move_line(line))
        for dead_end in dead_ends:
            console.print(lazy_rich.escape(left_out(dead_end)), soft_wrap=True)

    async def _reset(self, redis: Redis, domain: str) -> None:
        if not await self._steps(redis).reset(domain):
            raise ConfigError(f"the ladder knows no domain {domain!r}")
        # All crawls share the ladder's memory: the command is recorded in the spider's own crawl.
        crawl = FrontierConfig.from_settings(self.project, "catalog").crawl
        await record_command(redis, Keys(crawl), "domains reset", domain, 1)
        self.show(f"{domain} starts at the bottom within half a minute", reset=domain)


def left_out(dead_end: DeadEnd) -> str:
    """Describe a dead end: which pages are not fetched, and why.

    >>> left_out(DeadEnd("a.example/ask/*", "a", 20, datetime(2026, 1, 2, 3, 4, tzinfo=UTC)))
    'a.example/ask/*: left out since 2026-01-02 03:04 UTC, because 20 of these pages led to nothing'
    """
    return (
        f"{printable(dead_end.shape)}: left out since"
        f" {dead_end.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC,"
        f" because {dead_end.pages} of these pages led to nothing"
    )


def table(places: Sequence[Place], waiting: Container[str] = ()) -> lazy_rich.Table:
    """Render domains as a table; for those in *waiting* there is no worker with a browser."""
    grid = lazy_rich.Table("domain", "step", "for", "good", "bad", "why", box=None)
    for place in places:
        view = place.view
        reason = view.reason
        if view.probe:
            reason = f"probes {view.probe}: {view.pgood} good, {view.pbad} bad"
        if view.stuck:
            reason = f"left alone: {view.reason}"
        if place.domain in waiting:
            reason = NO_BROWSER
        since = span((view.now - view.since) / 1000) if view.since else ""
        grid.add_row(place.domain, view.step, since, str(view.good), str(view.bad), reason)
    return grid


def move_line(line: str) -> str:
    """Describe one move of a domain's path.

    >>> move_line("0 plain tls 3 of 4 answers were bad")
    '1970-01-01 00:00 UTC  plain → tls: 3 of 4 answers were bad'
    """
    millis, step_before, step_after, reason = line.split(" ", 3)
    moment = datetime.fromtimestamp(int(millis) / 1000, UTC)
    return f"{moment:%Y-%m-%d %H:%M} UTC  {step_before} → {step_after}: {reason}"


def plain(place: Place, waiting: Container[str] = ()) -> dict[str, Any]:
    """Return a domain's step as plain data."""
    view = place.view
    return {
        "domain": place.domain,
        "step": view.step,
        "since_s": round((view.now - view.since) / 1000, 1) if view.since else None,
        "good": view.good,
        "bad": view.bad,
        "probe": view.probe,
        "stuck": bool(view.stuck),
        "needs_browser_worker": place.domain in waiting,
        "reason": view.reason,
        "path": [move_line(line) for line in place.path],
    }
