"""The demo's other half: one crawl of a shop that defends itself, each address in another way."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import attrs
import orjson
from redis.asyncio import Redis

from crawler.access.browser_programs import find_browser
from crawler.access.ladder_store import LadderStore
from crawler.access.proxies.line import parse
from crawler.access.proxies.pool import Health, ProxyPool
from crawler.demo.catalogue import catalogue
from crawler.demo.forward_proxies import Forward, Mode, forwarders
from crawler.demo.guards import ELSEWHERE
from crawler.demo.judge import Verdict, judge
from crawler.demo.run import LEASE_S, LIMIT_S, own_name
from crawler.demo.shop_process import ServedShop, served
from crawler.demo.stored_rows import forget, stored
from crawler.demo.worker_processes import Fleet, fleet
from crawler.stores.migrations import migrate
from crawler.stores.postgres_endpoint import Endpoints, redis_client
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.records import Value

#: Section -> its defence ('' = none); the address is its place, 127.0.0.1 and so on.
SECTIONS: Mapping[str, str] = {
    "open": "",
    "wants a browser's headers": "headers",
    "shows a CAPTCHA": "captcha",
    "limits the rate": "rate",
    "asks for consent": "cookie",
    "is made of JavaScript": "script",
    "CAPTCHA after N pages": "quota",
    "refuses data centres": "network",
}
RENDERED = "is made of JavaScript"
#: Proxies that work, and what is wrong with those that do not.
GOOD = 8
DEAD: tuple[Mode, ...] = ("gone", "hang", "garbage", "auth")
#: A proxy that hangs is given up after this many seconds, as is any download.
TIMEOUT_S = 5
#: Pages that the browser may fetch beyond those that need it, as a share of them.
TOLERANCE = 0.1
_STEP = re.compile(r"'ladder/requests/(\w+)': (\d+)")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Section(Value):
    """How one section ended."""

    name: str
    verdict: Verdict
    path: tuple[str, ...]
    """Steps of the ladder, in the order in which they were used."""


@attrs.frozen(eq=False, repr=False)
class DeadProxy(Value):
    """What became of a proxy that does not work."""

    mode: str
    bans: int
    """Failed uses, of the whole fleet."""
    resting: bool
    """It is in quarantine."""

    @property
    def harmless(self) -> bool:
        """It is in quarantine, or the pool never came to it: the good ones before it did."""
        return self.resting or not self.bans


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Outcome(Value):
    """How the crawl ended."""

    sections: tuple[Section, ...]
    quota: int
    """Pages that one address was shown in the section that counts them."""
    dead: tuple[DeadProxy, ...]
    seconds: float
    requests: Mapping[str, int]
    """Requests by step of the ladder."""
    needed: int
    """Pages that only a browser can read."""
    failed: tuple[str, ...]
    """Workers that ended badly."""

    @property
    def browser(self) -> int:
        """Pages that a browser fetched."""
        return sum(n for step, n in self.requests.items() if step.startswith("browser"))

    @property
    def passed(self) -> bool:
        """Every product of each section, no more browser than it takes, dead proxies at rest."""
        thrifty = self.browser <= self.needed * (1 + TOLERANCE) + 1
        rest = all(proxy.harmless for proxy in self.dead)
        got = all(section.verdict.passed for section in self.sections)
        return got and thrifty and rest and not self.failed


async def run_hostile(
    where: Endpoints,
    *,
    products: int,
    folder: Path,
    say: Callable[[str], None],
    browser: str = "chromium",
) -> Outcome:
    """Crawl every section with a plain worker and one that has a browser.

    *browser* is its PLAYWRIGHT_BROWSER_TYPE.

    Raises:
        ConfigError: there is no browser, or no scrapy-playwright.
        RuntimeError: the shop did not start.
        StoreError: a store failed.
    """
    find_browser(kind=browser)
    try:
        import scrapy_playwright  # noqa: F401
    except ImportError:
        raise ConfigError(
            "the browser lane is not installed: pip install 'scrapy-seine[browser]'"
        ) from None
    redis = redis_client(where.redis_url)
    try:
        async with own_name(redis) as crawl:
            log = _shop_log(folder / crawl)
            return await _run(
                redis, crawl, where, products=products, log=log, browser=browser, say=say
            )
    finally:
        await redis.aclose()


async def _run(
    redis: Redis,
    crawl: str,
    where: Endpoints,
    *,
    products: int,
    log: Path,
    browser: str,
    say: Callable[[str], None],
) -> Outcome:
    frontier, seeds = Frontier(redis, crawl), f"{crawl}:start_urls"
    await frontier.erase()
    await redis.unlink(seeds)
    migrate(where.database_url)
    names = list(SECTIONS)
    sites = {name: f"{crawl}-{number}" for number, name in enumerate(names, 1)}
    for site in sites.values():
        forget(where.database_url, site)
    guards = [f"127.0.0.{n}={kind}" for n, kind in enumerate(SECTIONS.values(), 1) if kind]
    stores = {"REDIS_URL": where.redis_url, "DATABASE_URL": where.database_url}
    quota, ways = quota_of(products), proxies_of()
    with (
        served(products=products, hosts=len(SECTIONS), guard=guards, log=log, quota=quota) as shop,
        forwarders(*ways),
        fleet(_settings(crawl, _listed(ways, log.parent), browser), stores, log.parent) as workers,
    ):
        addresses = {name: _address(shop, n) for n, name in enumerate(names, 1)}
        for name, address in addresses.items():
            say(f"http://{address}/ {name}")
            seed = {"url": f"http://{address}/", "meta": {"site_id": sites[name]}}
            await redis.lpush(seeds, orjson.dumps(seed))
        began = time.monotonic()
        await _crawl(workers, frontier, say)
        places = {p.domain: p.path for p in await LadderStore(redis, crawl).places()}
        health = await ProxyPool(redis, crawl).health()
        return Outcome(
            sections=tuple(
                Section(
                    name=name,
                    verdict=judge(catalogue(products), stored(where.database_url, sites[name])),
                    path=steps_of(places.get(addresses[name], ())),
                )
                for name in names
            ),
            quota=quota,
            dead=dead_ones(ways, health),
            seconds=time.monotonic() - began,
            requests=requests_of(workers),
            needed=_pages_of(log, addresses[RENDERED]),
            failed=tuple(worker.name for worker in workers.failed),
        )


def _shop_log(folder: Path) -> Path:
    """Make the folder of the logs; returns where the shop writes its own."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "shop.log"
    log.unlink(missing_ok=True)
    return log


def quota_of(products: int) -> int:
    """Pages that one address is shown: a direct visitor and any one proxy get far too few.

    >>> quota_of(40)
    16
    """
    return max(5, products * 2 // 5)


def proxies_of() -> list[Forward]:
    """Give the demo's proxies, each with an exit of its own; the first ones do not work."""
    good: Mode = "good"
    modes = [*DEAD, *[good] * GOOD]
    return [
        Forward("http", f"127.0.0.{n}", "demo", f"secret-{n}", mode=mode)
        for n, mode in enumerate(modes, ELSEWHERE)
    ]


def dead_ones(ways: Sequence[Forward], health: Sequence[Health]) -> tuple[DeadProxy, ...]:
    """Look up what became of the proxies that do not work."""
    by_id = {found.id: found for found in health}
    proxies, _ = parse(way.url for way in ways)
    return tuple(
        DeadProxy(way.mode, found.bans, bool(found.resting_s or found.domains))
        for way, proxy in zip(ways, proxies, strict=True)
        if way.mode != "good" and (found := by_id[proxy.id])
    )


def _listed(ways: Sequence[Forward], folder: Path) -> Path:
    """Write the list of proxies as an operator would, for our eyes only."""
    path = folder / "proxies.txt"
    path.touch(0o600)
    path.write_text("".join(f"{way.url} pool=residential\n" for way in ways), "utf-8")
    return path


def _settings(crawl: str, proxies: Path, browser: str) -> dict[str, object]:
    return {
        "SEINE_CRAWL": crawl,
        "FRONTIER_PARTITIONS": 1,
        "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
        "SEINE_LEASE_SECONDS": LEASE_S,
        "SEINE_KEEP_ALIVE": 0,
        "CLOSESPIDER_TIMEOUT": LIMIT_S,
        # The ladder's memory is the demo's own, so that each demo climbs from the bottom.
        "SEINE_FLEET": crawl,
        "SEINE_LADDER": "on",
        "SEINE_IDENTITY": "chrome-windows",
        "COOKIES_ENABLED": 1,
        "SEINE_RENDER": json.dumps({"wait_for": "h1"}),
        "PLAYWRIGHT_BROWSER_TYPE": browser,
        "SEINE_PROXIES_PATH": proxies,
        # Only the ladder's step asks for them.
        "SEINE_PROXY_POOL": "none",
        "DOWNLOAD_TIMEOUT": TIMEOUT_S,
    }


def _address(shop: ServedShop, number: int) -> str:
    return f"127.0.0.{number}:{urlsplit(shop.url).port}"


async def _crawl(workers: Fleet, frontier: Frontier, say: Callable[[str], None]) -> None:
    """Start both workers, and look on until they have left."""
    common = dict(workers.settings)
    workers.settings = {**common, "SEINE_BROWSER": 1}
    say(f"{workers.start().name}: has a browser")
    workers.settings = common
    say(f"{workers.start().name}: has none")
    told = time.monotonic()
    while workers.alive:
        await asyncio.sleep(0.5)
        if time.monotonic() - told >= 10:  # noqa: PLR2004
            told, counts = time.monotonic(), await frontier.counts()
            say(f"{counts.totals.get('done', 0)} pages done, {counts.undone} to do")


def steps_of(path: Sequence[str]) -> tuple[str, ...]:
    """Read a domain's moves, newest first, as the steps it was on.

    >>> steps_of(["9 tls browser why", "5 plain tls why"])
    ('plain', 'tls', 'browser')
    """
    moves = [line.split(" ", 3) for line in reversed(path)]
    return (moves[0][1], *(move[2] for move in moves)) if moves else ("plain",)


def requests_of(workers: Fleet) -> dict[str, int]:
    """Add up what the workers said of the ladder when they left."""
    found: dict[str, int] = {}
    for worker in workers.workers:
        text = worker.log.read_text(encoding="utf-8", errors="replace")
        for step, count in _STEP.findall(text):
            found[step] = found.get(step, 0) + int(count)
    return found


def _pages_of(log: Path, address: str) -> int:
    """Count the pages of one section that were asked for."""
    visits = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    paths = {visit["path"] for visit in visits if visit["host"] == address}
    return len(paths - {"/robots.txt"})
