"""`scrapy demo`: crawl the demo shop with several workers, and judge what they stored."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console
from scrapy.commands import ScrapyCommand

from crawler.config import SettingsLike, flag, number
from crawler.demo.run import Audience, Options, Outcome, run
from crawler.demo.screen import Screen
from crawler.errors import SeineError
from crawler.stores.connect import Endpoints, endpoints

#: Sentences about wrong rows that are printed, at most.
SHOWN = 5


class Command(ScrapyCommand):
    """Crawls the demo shop and says whether every product was stored as it should be."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def short_desc(self) -> str:
        """Say in a line what the command does."""
        return "Crawl the demo shop with two workers and judge what they stored"

    def syntax(self) -> str:
        """What comes after the command's name."""
        return "[--products N] [--workers N] [--kill]"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options; the environment gives their defaults."""
        super().add_options(parser)
        parser.add_argument("--products", help="products of the shop (PRODUCTS, 1000)")
        parser.add_argument("--workers", help="worker processes (WORKERS, 2)")
        parser.add_argument("--kill", action="store_true", help="kill one half way (KILL=1)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the demo; exit status 1 where a product is missing or wrong."""
        assert self.settings is not None  # Scrapy sets them before it runs a command
        try:
            options = _options(opts, self.settings)
            outcome = asyncio.run(_demo(endpoints(self.settings), options))
        except (SeineError, RuntimeError) as error:
            Console(stderr=True).print(f"demo: {error}", markup=False, soft_wrap=True)
            self.exitcode = 1
        except KeyboardInterrupt:
            Console(stderr=True).print("demo: stopped; workers and shop are gone")
            self.exitcode = 130
        else:
            self.exitcode = 0 if outcome.passed else 1


def _options(opts: argparse.Namespace, settings: SettingsLike) -> Options:
    given = {**os.environ, **{name.upper(): value for name, value in vars(opts).items() if value}}
    given = {name: value for name, value in given.items() if value != ""}
    return Options(
        products=int(number(given, "PRODUCTS", 1000, low=1)),
        workers=int(number(given, "WORKERS", 2, low=1)),
        kill=flag(given, "KILL"),
        folder=Path(settings.get("SEINE_DATA_DIR") or ".seine"),
    )


async def _demo(where: Endpoints, options: Options) -> Outcome:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    console = Console(highlight=False)
    with Screen(console) as screen:
        outcome = await run(where, options, Audience(screen.say, screen.show))
    screen.table(outcome.sample)
    for worker in outcome.failed:
        screen.say(f"{worker.name} ended with status {worker.process.returncode}; see {worker.log}")
    lost = [f"{sku}: missing" for sku in outcome.verdict.missing]
    for text in [*lost, *outcome.verdict.wrong][:SHOWN]:
        screen.say(text)
    screen.say(outcome.verdict.line(outcome.seconds))
    return outcome
