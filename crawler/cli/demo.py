"""The work of `scrapy demo`: crawl the shop, show progress, and judge the stored rows."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence

import attrs

from crawler.demo.hostile import run_hostile
from crawler.demo.own_stores import SCHEMA, clean, demo_endpoints
from crawler.demo.run import Audience, Options, Outcome, run
from crawler.demo.screen import Screen
from crawler.stores.store_endpoints import Endpoints, endpoints, missing_stores
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.one_line_errors import complain
from scrapy_seine.config import SettingsLike, flag, number
from scrapy_seine.embedded.data_folder import data_folder
from scrapy_seine.errors import ConfigError, StoreError
from scrapy_seine.reads import lazy_rich

#: Products of each section of the hostile shop.
HOSTILE_PRODUCTS = 40
#: Products of a demo's shop, at most, because its catalogue is made in memory.
_MOST_PRODUCTS = 10**6
#: Worker processes of a demo, at most: four hundred filled a laptop's memory.
_MOST_WORKERS = 32
#: Largest number of printed sentences about wrong rows.
MAX_COMPLAINTS = 5


def show(command: SeineCommand, opts: argparse.Namespace) -> int:
    """Run the demo; exit status 1 where a product is missing or wrong."""
    if opts.hostile or flag(os.environ, "HOSTILE"):
        return _hostile(command, opts)
    options = _options(opts, command.project)
    # With --json, standard output gets the object only.
    console = lazy_rich.Console(highlight=False, file=sys.stderr if command.as_json else None)
    stores = demo_endpoints(endpoints(command.project))
    outcome = asyncio.run(_demo(stores, options, console))
    for text in _complaints(outcome):
        complain(text)
    line = outcome.verdict.line(outcome.seconds)
    verdict = attrs.asdict(outcome.verdict)
    command.show(f"demo: {line}", crawl=outcome.crawl, seconds=outcome.seconds, **verdict)
    if not command.as_json:
        console.print(
            "\n".join(_afterwards(outcome.crawl, missing_stores(command.project))), soft_wrap=True
        )
    return 0 if outcome.passed else 1


def _afterwards(crawl: str, embedded: Sequence[str]) -> list[str]:
    """Return the lines about the data and servers that remain, and the next commands."""
    names = {"redis": "Redis", "postgres": "PostgreSQL"}
    running = " and ".join(names[name] for name in embedded)
    running_lines = (
        [f"still running: your embedded {running}; `scrapy down` stops them"] if embedded else []
    )
    return [
        f"its products are in the schema {SCHEMA}, its requests in the crawl {crawl}: "
        "none of them is among yours",
        *running_lines,
        "next:",
        "  . .venv/bin/activate                      so that `scrapy` is found",
        "  scrapy crawl catalog -a url=https://…/    a shop of your own",
        "  scrapy export products -o products.csv    its products as a table",
        "  scrapy demo --clean                       remove what the demo stored",
    ]


def clean_up(command: SeineCommand) -> int:
    """Remove what demos stored."""
    folder = data_folder(command.project)
    crawls, had_schema = asyncio.run(clean(endpoints(command.project), folder))
    removed = [f"crawl{'' if len(crawls) == 1 else 's'} {', '.join(crawls)}"] if crawls else []
    removed += [f"schema {SCHEMA}"] if had_schema else []
    text = f"removed {' and '.join(removed)}" if removed else "no demo left anything"
    command.show(f"demo: {text}", crawls=crawls, schema=had_schema)
    return 0


def _hostile(command: SeineCommand, opts: argparse.Namespace) -> int:
    """Crawl the shop's defended sections; exit status 1 where one is incomplete."""
    products = opts.products or os.environ.get("PRODUCTS") or HOSTILE_PRODUCTS
    work = run_hostile(
        demo_endpoints(endpoints(command.project)),
        products=int(
            number({"PRODUCTS": products}, "PRODUCTS", HOSTILE_PRODUCTS, low=1, high=_MOST_PRODUCTS)
        ),
        folder=data_folder(command.project),
        browser=str(command.project.get("PLAYWRIGHT_BROWSER_TYPE") or "chromium"),
        report=lambda text: print(text, file=sys.stderr if command.as_json else None, flush=True),
    )
    try:
        outcome = asyncio.run(work)
    except RuntimeError as error:
        raise StoreError(str(error)) from None
    table = lazy_rich.Table("section", "products", "missing", "wrong", "steps", box=None)
    for section in outcome.sections:
        verdict = section.verdict
        counts = (verdict.stored, len(verdict.missing), len(verdict.wrong))
        table.add_row(section.name, *map(str, counts), " → ".join(section.path))
    if not command.as_json:
        lazy_rich.Console(highlight=False).print(table)
        for proxy in outcome.dead:
            rests = "in quarantine" if proxy.resting else "NOT in quarantine"
            fate = f"{rests} after {proxy.bans} failed uses" if proxy.bans else "never asked"
            print(f"dead proxy ({proxy.mode}): {fate}")
    for name in outcome.failed:
        complain(f"{name} ended badly")
    share = 100 * outcome.browser / max(1, sum(outcome.requests.values()))
    command.show(
        f"demo: {outcome.browser} of {sum(outcome.requests.values())} requests "
        f"({share:.0f} %) by the browser, {outcome.needed} pages need it; "
        f"{outcome.seconds:.0f} s",
        passed=outcome.passed,
        **attrs.asdict(outcome),
    )
    return 0 if outcome.passed else 1


def _options(opts: argparse.Namespace, settings: SettingsLike) -> Options:
    values = {**os.environ, **{name.upper(): value for name, value in vars(opts).items() if value}}
    values = {name: value for name, value in values.items() if value != ""}
    workers = number(values, "WORKERS", 2, low=1)
    if workers > _MOST_WORKERS:
        raise ConfigError(f"WORKERS={workers:.0f} is above {_MOST_WORKERS}; each is a process")
    return Options(
        products=int(number(values, "PRODUCTS", 1000, low=1, high=_MOST_PRODUCTS)),
        workers=int(workers),
        kill=flag(values, "KILL"),
        folder=data_folder(settings),
    )


async def _demo(stores: Endpoints, options: Options, console: lazy_rich.Console) -> Outcome:
    task = asyncio.current_task()
    assert task is not None
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, task.cancel)
    try:
        with Screen(console) as screen:
            outcome = await run(stores, options, Audience(screen.report, screen.show))
        screen.table(outcome.sample)
    except RuntimeError as error:
        raise StoreError(str(error)) from None
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    return outcome


def _complaints(outcome: Outcome) -> list[str]:
    missing_products = [f"{sku}: missing" for sku in outcome.verdict.missing]
    failures = [
        f"{worker.name} ended with status {worker.process.returncode}; see {worker.log}"
        for worker in outcome.failed
    ]
    if outcome.wanted_kill and not outcome.killed:
        failures.append("the crawl was over before a worker could be killed; give it more products")
    return failures + [*missing_products, *outcome.verdict.wrong][:MAX_COMPLAINTS]
