"""`scrapy proxies`: show the health of the fleet's proxies, test them, or end a quarantine."""

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
from crawler.stores.store_endpoints import endpoints
from scrapy_seine.commands.base import SeineCommand, number_within
from scrapy_seine.commands.fleet_base import with_fleet
from scrapy_seine.commands.one_line_errors import complain
from scrapy_seine.errors import ConfigError
from scrapy_seine.reads import lazy_rich
from scrapy_seine.reads.formatting import span

#: Options that each action reads, beside those that all read.
ACTIONS = {"show": ("by",), "test": ("timeout",), "release": ()}
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
            "--timeout",
            type=number_within(0.1, 3600, float),
            default=15.0,
            help="seconds that a test may take (15)",
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Show, test or release; exit status 1 where a tested proxy failed.

        Raises:
            ConfigError: no proxies are listed, or there is no such proxy.
            StoreUnreachable: Redis does not answer.
        """
        verb, *words = args or ["show"]
        self.check_action(verb, opts, ACTIONS)
        if len(words) > (verb != "show") or (verb == "release" and not words):
            raise UsageError(f"one of {', '.join(ACTIONS)}; release needs an id")
        if verb == "test":
            return self._test(words[0] if words else "https://example.com/", opts.timeout)
        url = endpoints(self.project, need=("redis",)).redis_url
        if verb == "release":
            with_fleet(url, lambda redis: self._release(redis, words[0]))
        else:
            with_fleet(url, lambda redis: self._show(redis, opts.by))
        return 0

    @property
    def _fleet(self) -> str:
        return fleet_name(self.project)

    async def _show(self, redis: Redis, group: str | None) -> None:
        proxies = await read_proxies(redis, self._fleet)
        if self.as_json:
            self.show("", proxies=[attrs.asdict(health) for health in proxies])
            return
        if not proxies:
            print("no worker has registered proxies yet")
            return
        lazy_rich.Console(highlight=False).print(
            summed(proxies, group) if group else listed(proxies)
        )

    async def _release(self, redis: Redis, name: str) -> None:
        pool = ProxyPool(redis, self._fleet)
        if name not in {health.id for health in await pool.health()}:
            raise ConfigError(f"{name!r} is no proxy of the fleet; `scrapy proxies` lists them")
        await pool.release(name)
        self.show(f"{name} may be used again; the next request probes it", released=name)

    def _test(self, url: str, timeout_s: float) -> int:
        proxies, bad_lines = ProxyList.from_settings(self.project).read() or ([], [])
        for line in bad_lines:
            complain(f"line {line.number} is left out: {line.reason}")
        if not proxies:
            raise ConfigError("no proxies are listed; set SEINE_PROXIES or SEINE_PROXIES_PATH")
        trials = asyncio.run(try_all(proxies, url, timeout_s))
        if self.as_json:
            self.show("", trials=[attrs.asdict(trial) for trial in trials])
        else:
            lazy_rich.Console(highlight=False).print(results_table(trials))
        return 0 if all(trial.good for trial in trials) else 1


def listed(proxies: Sequence[Health]) -> lazy_rich.Table:
    """Render single proxies as a table."""
    table = lazy_rich.Table(
        "proxy", "pool", "country", "provider", "good", "bans", "rests", box=None
    )
    for proxy in proxies:
        rests = [f"everywhere {span(proxy.resting_s)}"] if proxy.resting_s else []
        rests += [
            f"{domain} {span(remaining_s)}" for domain, remaining_s in sorted(proxy.domains.items())
        ]
        cells = (
            proxy.id,
            proxy.pool,
            proxy.country,
            proxy.provider,
            str(proxy.good),
            str(proxy.bans),
        )
        table.add_row(*cells, ", ".join(rests))
    return table


def summed(proxies: Sequence[Health], group: str) -> lazy_rich.Table:
    """Render sums by provider, country, pool or domain as a table."""
    table = lazy_rich.Table(group, "proxies", "resting", "good", "bans", box=None)
    if group == "domain":
        for name in sorted({domain for proxy in proxies for domain in proxy.domains}):
            resting = sum(name in proxy.domains for proxy in proxies)
            table.add_row(name, str(len(proxies)), str(resting), "", "")
        return table
    groups: dict[str, list[Health]] = {}
    for proxy in proxies:
        groups.setdefault(str(getattr(proxy, group)) or "not known", []).append(proxy)
    for name, members in sorted(groups.items()):
        resting = sum(bool(proxy.resting_s or proxy.domains) for proxy in members)
        successes, bans = sum(proxy.good for proxy in members), sum(proxy.bans for proxy in members)
        table.add_row(name, *map(str, (len(members), resting, successes, bans)))
    return table


def results_table(trials: Sequence[ProxyCheck]) -> lazy_rich.Table:
    """Render the results of a test as a table."""
    table = lazy_rich.Table("proxy", "pool", "result", "seconds", box=None)
    for trial in trials:
        table.add_row(trial.id, trial.pool, trial.result, f"{trial.seconds:.2f}")
    return table
