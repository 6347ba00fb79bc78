"""`scrapy demo`: crawl the demo shop with several workers, and judge what they stored."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys

import attrs
from rich.console import Console
from rich.table import Table

from crawler.cli import SeineCommand, complain
from crawler.config import SettingsLike, flag, number
from crawler.demo.hostile import run_hostile
from crawler.demo.run import Audience, Options, Outcome, run
from crawler.demo.screen import Screen
from crawler.errors import StoreError
from crawler.stores.connect import Endpoints, data_folder, endpoints

#: Products of each section of the hostile shop.
HOSTILE_PRODUCTS = 40
#: Sentences about wrong rows that are printed, at most.
SHOWN = 5


class Command(SeineCommand):
    """Crawls the demo shop and says whether every product was stored as it should be."""

    summary = "Crawl the demo shop with two workers, and judge what they stored"
    example = "scrapy demo --products 300 --kill"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options; the environment gives their defaults."""
        super().add_options(parser)
        parser.add_argument("--products", help="products of the shop (PRODUCTS, 1000)")
        parser.add_argument("--workers", help="worker processes (WORKERS, 2)")
        parser.add_argument("--kill", action="store_true", help="kill one half way (KILL=1)")
        parser.add_argument(
            "--hostile", action="store_true", help="a shop that defends itself (HOSTILE=1)"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Run the demo; exit status 1 where a product is missing or wrong."""
        if opts.hostile or flag(os.environ, "HOSTILE"):
            return self._hostile(opts)
        options = _options(opts, self.project)
        # With --json the object is all that standard output gets.
        console = Console(highlight=False, file=sys.stderr if self.as_json else None)
        outcome = asyncio.run(_demo(endpoints(self.project), options, console))
        for text in _complaints(outcome):
            complain(text)
        line = outcome.verdict.line(outcome.seconds)
        verdict = attrs.asdict(outcome.verdict)
        self.show(f"demo: {line}", crawl=outcome.crawl, seconds=outcome.seconds, **verdict)
        return 0 if outcome.passed else 1

    def _hostile(self, opts: argparse.Namespace) -> int:
        """Crawl the shop's defended sections; exit status 1 where one was not got whole."""
        products = opts.products or os.environ.get("PRODUCTS") or HOSTILE_PRODUCTS
        work = run_hostile(
            endpoints(self.project),
            products=int(number({"PRODUCTS": products}, "PRODUCTS", HOSTILE_PRODUCTS, low=1)),
            folder=data_folder(self.project),
            say=lambda text: print(text, file=sys.stderr if self.as_json else None, flush=True),
        )
        try:
            outcome = asyncio.run(work)
        except RuntimeError as error:
            raise StoreError(str(error)) from None
        table = Table("section", "products", "missing", "wrong", "steps", box=None)
        for section in outcome.sections:
            verdict = section.verdict
            counts = (verdict.stored, len(verdict.missing), len(verdict.wrong))
            table.add_row(section.name, *map(str, counts), " → ".join(section.path))
        if not self.as_json:
            Console(highlight=False).print(table)
            for proxy in outcome.dead:
                rests = "in quarantine" if proxy.resting else "NOT in quarantine"
                print(f"dead proxy ({proxy.mode}): {rests} after {proxy.bans} failed uses")
        for name in outcome.failed:
            complain(f"{name} ended badly")
        share = 100 * outcome.browser / max(1, sum(outcome.requests.values()))
        self.show(
            f"demo: {outcome.browser} of {sum(outcome.requests.values())} requests "
            f"({share:.0f} %) by the browser, {outcome.needed} pages need it; "
            f"{outcome.seconds:.0f} s",
            passed=outcome.passed,
            **attrs.asdict(outcome),
        )
        return 0 if outcome.passed else 1


def _options(opts: argparse.Namespace, settings: SettingsLike) -> Options:
    given = {**os.environ, **{name.upper(): value for name, value in vars(opts).items() if value}}
    given = {name: value for name, value in given.items() if value != ""}
    return Options(
        products=int(number(given, "PRODUCTS", 1000, low=1)),
        workers=int(number(given, "WORKERS", 2, low=1)),
        kill=flag(given, "KILL"),
        folder=data_folder(settings),
    )


async def _demo(where: Endpoints, options: Options, console: Console) -> Outcome:
    task = asyncio.current_task()
    assert task is not None
    for sign in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(sign, task.cancel)
    try:
        with Screen(console) as screen:
            outcome = await run(where, options, Audience(screen.say, screen.show))
        screen.table(outcome.sample)
    except RuntimeError as error:
        raise StoreError(str(error)) from None
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    return outcome


def _complaints(outcome: Outcome) -> list[str]:
    lost = [f"{sku}: missing" for sku in outcome.verdict.missing]
    failed = [
        f"{worker.name} ended with status {worker.process.returncode}; see {worker.log}"
        for worker in outcome.failed
    ]
    if outcome.wanted_kill and not outcome.killed:
        failed.append("the crawl was over before a worker could be killed; give it more products")
    return failed + [*lost, *outcome.verdict.wrong][:SHOWN]
