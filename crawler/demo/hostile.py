"""The hostile demo: one crawl of a shop whose sections have different defences."""

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
from crawler.access.proxies.list_format import parse
from crawler.access.proxies.pool import Health, ProxyPool
from crawler.demo.catalogue import catalogue
from crawler.demo.forward_proxies import Forward, Mode, forwarders
from crawler.demo.guards import FIRST_OUTSIDE
from crawler.demo.judge import Verdict, judge
from crawler.demo.run import LEASE_S, LIMIT_S, reserved_name
from crawler.demo.shop_process import ServedShop, served
from crawler.demo.stored_rows import forget, stored_products
from crawler.demo.worker_processes import Fleet, fleet
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import Endpoints, redis_client
from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.frontier import Frontier

#: Defence by section ('' = none); the section's position is its address: 127.0.0.1, …
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
#: The number of good proxies, and the modes of the bad ones.
GOOD_PROXIES = 8
BAD_MODES: tuple[Mode, ...] = ("gone", "hang", "garbage", "auth")
#: DOWNLOAD_TIMEOUT, seconds; a hanging proxy is given up after it.
TIMEOUT_S = 5
#: Pages that the browser may fetch beyond those that need it, as a share of them.
TOLERANCE = 0.1
_STEP = re.compile(r"'ladder/requests/(\w+)': (\d+)")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Section(Value):
    """The result of one section."""

    name: str
    verdict: Verdict
    path: tuple[str, ...]
    """Steps of the ladder, in order of use."""


@attrs.frozen(eq=False, repr=False)
class DeadProxy(Value):
    """The final state of a bad proxy."""

    mode: str
    bans: int
    """Failed uses by the whole fleet."""
    resting: bool
    """Whether the proxy is in quarantine."""

    @property
    def harmless(self) -> bool:
        """Whether the proxy is in quarantine, or was never used because good proxies came first."""
        return self.resting or not self.bans


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Outcome(Value):
    """The result of the crawl."""

    sections: tuple[Section, ...]
    quota: int
    """Pages that one client was shown in the quota section."""
    dead: tuple[DeadProxy, ...]
    seconds: float
    requests: Mapping[str, int]
    """Requests by step of the ladder."""
    needed: int
    """Pages that only a browser can read."""
    failed: tuple[str, ...]
    """Workers that failed."""

    @property
    def browser(self) -> int:
        """Pages that a browser fetched."""
        return sum(n for step, n in self.requests.items() if step.startswith("browser"))

    @property
    def passed(self) -> bool:
        """Whether all products are stored, the browser was used little, and bad proxies rest."""
        thrifty = self.browser <= self.needed * (1 + TOLERANCE) + 1
        resting = all(proxy.harmless for proxy in self.dead)
        complete = all(section.verdict.passed for section in self.sections)
        return complete and thrifty and resting and not self.failed


async def run_hostile(
    stores: Endpoints,
    *,
    products: int,
    folder: Path,
    report: Callable[[str], None],
    browser: str = "chromium",
) -> Outcome:
    """Crawl every section with a plain worker and one with a browser.

    *browser* is the second worker's PLAYWRIGHT_BROWSER_TYPE.

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
    redis = redis_client(stores.redis_url)
    try:
        async with reserved_name(redis) as crawl:
            log = _shop_log(folder / crawl)
            return await _run(
                redis, crawl, stores, products=products, log=log, browser=browser, report=report
            )
    finally:
        await redis.aclose()


async def _run(
    redis: Redis,
    crawl: str,
    stores: Endpoints,
    *,
    products: int,
    log: Path,
    browser: str,
    report: Callable[[str], None],
) -> Outcome:
    frontier, seeds = Frontier(redis, crawl), f"{crawl}:start_urls"
    await frontier.erase()
    await redis.unlink(seeds)
    migrate(stores.database_url)
    names = list(SECTIONS)
    sites = {name: f"{crawl}-{number}" for number, name in enumerate(names, 1)}
    for site in sites.values():
        forget(stores.database_url, site)
    guards = [f"127.0.0.{n}={kind}" for n, kind in enumerate(SECTIONS.values(), 1) if kind]
    environment = {"REDIS_URL": stores.redis_url, "DATABASE_URL": stores.database_url}
    quota, proxies = quota_of(products), proxies_of()
    with (
        served(products=products, hosts=len(SECTIONS), guard=guards, log=log, quota=quota) as shop,
        forwarders(*proxies),
        fleet(
            _settings(crawl, _write_proxy_list(proxies, log.parent), browser),
            environment,
            log.parent,
        ) as workers,
    ):
        addresses = {name: _address(shop, n) for n, name in enumerate(names, 1)}
        for name, address in addresses.items():
            report(f"http://{address}/ {name}")
            seed = {"url": f"http://{address}/", "meta": {"site_id": sites[name]}}
            await redis.lpush(seeds, orjson.dumps(seed))
        began = time.monotonic()
        await _crawl(workers, frontier, report)
        places = {p.domain: p.path for p in await LadderStore(redis, crawl).places()}
        health = await ProxyPool(redis, crawl).health()
        return Outcome(
            sections=tuple(
                Section(
                    name=name,
                    verdict=judge(
                        catalogue(products), stored_products(stores.database_url, sites[name])
                    ),
                    path=steps_of(places.get(addresses[name], ())),
                )
                for name in names
            ),
            quota=quota,
            dead=bad_proxies(proxies, health),
            seconds=time.monotonic() - began,
            requests=requests_of(workers),
            needed=_pages_of(log, addresses[RENDERED]),
            failed=tuple(worker.name for worker in workers.failed),
        )


def _shop_log(folder: Path) -> Path:
    """Create the folder of the logs; returns the path of the shop's log."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "shop.log"
    log.unlink(missing_ok=True)
    return log


def quota_of(products: int) -> int:
    """Return the quota section's limit, which is too low for a direct crawl or a single proxy.

    >>> quota_of(40)
    16
    """
    return max(5, products * 2 // 5)


def proxies_of() -> list[Forward]:
    """Return the demo's proxies, each with its own exit address; the first ones are bad."""
    good_mode: Mode = "good"
    modes = [*BAD_MODES, *[good_mode] * GOOD_PROXIES]
    return [
        Forward("http", f"127.0.0.{n}", "demo", f"secret-{n}", mode=mode)
        for n, mode in enumerate(modes, FIRST_OUTSIDE)
    ]


def bad_proxies(forwards: Sequence[Forward], health: Sequence[Health]) -> tuple[DeadProxy, ...]:
    """Return the final state of the bad proxies."""
    by_id = {state.id: state for state in health}
    proxies, _ = parse(forward.url for forward in forwards)
    return tuple(
        DeadProxy(forward.mode, state.bans, bool(state.resting_s or state.domains))
        for forward, proxy in zip(forwards, proxies, strict=True)
        if forward.mode != "good" and (state := by_id[proxy.id])
    )


def _write_proxy_list(proxies: Sequence[Forward], folder: Path) -> Path:
    """Write the list of proxies as an operator would, readable by its owner only."""
    path = folder / "proxies.txt"
    path.touch(0o600)
    path.write_text("".join(f"{proxy.url} pool=residential\n" for proxy in proxies), "utf-8")
    return path


def _settings(crawl: str, proxies: Path, browser: str) -> dict[str, object]:
    return {
        "SEINE_CRAWL": crawl,
        "FRONTIER_PARTITIONS": 1,
        "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
        "SEINE_LEASE_SECONDS": LEASE_S,
        "SEINE_KEEP_ALIVE": 0,
        "CLOSESPIDER_TIMEOUT": LIMIT_S,
        # A fleet of its own, so that each demo starts at the ladder's lowest step.
        "SEINE_FLEET": crawl,
        "SEINE_LADDER": "on",
        "SEINE_IDENTITY": "chrome-windows",
        "COOKIES_ENABLED": 1,
        "SEINE_RENDER": json.dumps({"wait_for": "h1"}),
        "PLAYWRIGHT_BROWSER_TYPE": browser,
        "SEINE_PROXIES_PATH": proxies,
        # Proxies are used only at the ladder's step `pool`.
        "SEINE_PROXY_POOL": "none",
        "DOWNLOAD_TIMEOUT": TIMEOUT_S,
    }


def _address(shop: ServedShop, number: int) -> str:
    return f"127.0.0.{number}:{urlsplit(shop.url).port}"


async def _crawl(workers: Fleet, frontier: Frontier, report: Callable[[str], None]) -> None:
    """Start both workers, and report progress until they have ended."""
    common = dict(workers.settings)
    workers.settings = {**common, "SEINE_BROWSER": 1}
    report(f"{workers.start().name}: has a browser")
    workers.settings = common
    report(f"{workers.start().name}: has none")
    reported_s = time.monotonic()
    while workers.alive:
        await asyncio.sleep(0.5)
        if time.monotonic() - reported_s >= 10:  # noqa: PLR2004
            reported_s, counts = time.monotonic(), await frontier.counts()
            report(f"{counts.totals.get('done', 0)} pages done, {counts.undone} to do")


def steps_of(path: Sequence[str]) -> tuple[str, ...]:
    """Convert a domain's moves, newest first, to its steps in order.

    >>> steps_of(["9 tls browser why", "5 plain tls why"])
    ('plain', 'tls', 'browser')
    """
    moves = [line.split(" ", 3) for line in reversed(path)]
    return (moves[0][1], *(move[2] for move in moves)) if moves else ("plain",)


def requests_of(workers: Fleet) -> dict[str, int]:
    """Sum the requests by step of the ladder, from the statistics in the workers' logs."""
    requests: dict[str, int] = {}
    for worker in workers.workers:
        text = worker.log.read_text(encoding="utf-8", errors="replace")
        for step, count in _STEP.findall(text):
            requests[step] = requests.get(step, 0) + int(count)
    return requests


def _pages_of(log: Path, address: str) -> int:
    """Count the requested pages of one section."""
    visits = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    paths = {visit["path"] for visit in visits if visit["host"] == address}
    return len(paths - {"/robots.txt"})
