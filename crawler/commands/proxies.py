"""`scrapy proxies`: the fleet's experience with its proxies; try them, or end a quarantine."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence

import attrs
from redis.asyncio import Redis
from scrapy.exceptions import UsageError

from crawler.access.proxies.check import ProxyCheck, try_all
from crawler.access.proxies.operator_list import ProxyList
from crawler.access.proxies.pool import Health, ProxyPool
from crawler.access.shared_state import fleet_name
from crawler.reads.proxies import read_proxies
from crawler.stores.postgres_endpoint import endpoints
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.fleet import with_fleet
from scrapy_seine.commands.one_line_errors import complain
from scrapy_seine.errors import ConfigError
from scrapy_seine.reads import lazy_rich
from scrapy_seine.reads.formatting import span

VERBS = ("show", "test", "release")
GROUPS = ("pool", "provider", "country", "domain")


class Command(SeineCommand):
    """Shows each proxy's health without its credentials."""

    summary = "Show the proxies' health; test them; end a proxy's quarantine"
    arguments = "[show|test [URL]|release ID] [--by pool|provider|country|domain]"
    example = "scrapy proxies --by provider"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --by and --timeout."""
        super().add_options(parser)
        parser.add_argument("--by", choices=GROUPS, help="show sums instead of single proxies")
        parser.add_argument(
            "--timeout", type=float, default=15.0, help="seconds that a test may take (15)"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Show or act; exit status 1 where a tested proxy failed.

        Raises:
            ConfigError: there is no list of proxies to test, or no such proxy.
            StoreUnreachable: Redis does not answer.
        """
        verb, *rest = args or ["show"]
        if verb not in VERBS or len(rest) > 1 or (verb == "release" and not rest):
            raise UsageError(f"one of {', '.join(VERBS)}; release needs an id")
        if verb == "test":
            return self._test(rest[0] if rest else "https://example.com/", opts.timeout)
        url = endpoints(self.project, need=("redis",)).redis_url
        if verb == "release":
            with_fleet(url, lambda redis: self._release(redis, rest[0]))
        else:
            with_fleet(url, lambda redis: self._show(redis, opts.by))
        return 0

    @property
    def _fleet(self) -> str:
        return fleet_name(self.project)

    async def _show(self, redis: Redis, by: str | None) -> None:
        found = await read_proxies(redis, self._fleet)
        if self.as_json:
            self.show("", proxies=[attrs.asdict(health) for health in found])
            return
        if not found:
            print("no worker has registered proxies yet")
            return
        lazy_rich.Console(highlight=False).print(summed(found, by) if by else listed(found))

    async def _release(self, redis: Redis, name: str) -> None:
        pool = ProxyPool(redis, self._fleet)
        if name not in {health.id for health in await pool.health()}:
            raise ConfigError(f"{name!r} is no proxy of the fleet; `scrapy proxies` lists them")
        await pool.release(name)
        self.show(f"{name} may be used again; the next request probes it", released=name)

    def _test(self, url: str, timeout_s: float) -> int:
        proxies, bad = ProxyList.from_settings(self.project).read() or ([], [])
        for line in bad:
            complain(f"line {line.number} is left out: {line.reason}")
        if not proxies:
            raise ConfigError("no proxies are listed; set SEINE_PROXIES or SEINE_PROXIES_PATH")
        trials = asyncio.run(try_all(proxies, url, timeout_s))
        if self.as_json:
            self.show("", trials=[attrs.asdict(trial) for trial in trials])
        else:
            lazy_rich.Console(highlight=False).print(tried(trials))
        return 0 if all(trial.good for trial in trials) else 1


def listed(found: Sequence[Health]) -> lazy_rich.Table:
    """Lay single proxies out."""
    table = lazy_rich.Table(
        "proxy", "pool", "country", "provider", "good", "bans", "rests", box=None
    )
    for h in found:
        rests = [f"everywhere {span(h.resting_s)}"] if h.resting_s else []
        rests += [f"{domain} {span(left)}" for domain, left in sorted(h.domains.items())]
        cells = (h.id, h.pool, h.country, h.provider, str(h.good), str(h.bans))
        table.add_row(*cells, ", ".join(rests))
    return table


def summed(found: Sequence[Health], by: str) -> lazy_rich.Table:
    """Lay sums by provider, country, pool or domain out."""
    table = lazy_rich.Table(by, "proxies", "resting", "good", "bans", box=None)
    if by == "domain":
        for name in sorted({domain for h in found for domain in h.domains}):
            resting = sum(name in h.domains for h in found)
            table.add_row(name, str(len(found)), str(resting), "", "")
        return table
    groups: dict[str, list[Health]] = {}
    for h in found:
        groups.setdefault(str(getattr(h, by)) or "not known", []).append(h)
    for name, members in sorted(groups.items()):
        resting = sum(bool(h.resting_s or h.domains) for h in members)
        good, bans = sum(h.good for h in members), sum(h.bans for h in members)
        table.add_row(name, *map(str, (len(members), resting, good, bans)))
    return table


def tried(trials: Sequence[ProxyCheck]) -> lazy_rich.Table:
    """Lay the results of a test out."""
    table = lazy_rich.Table("proxy", "pool", "result", "seconds", box=None)
    for trial in trials:
        table.add_row(trial.id, trial.pool, trial.result, f"{trial.seconds:.2f}")
    return table
