"""`scrapy migrate`: bring the database's schema up to date."""

from __future__ import annotations

import argparse
import time

from scrapy.exceptions import UsageError

from crawler.stores.migrations import migrate, pending
from crawler.stores.store_endpoints import endpoints
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.one_line_errors import complain
from scrapy_seine.config import number
from scrapy_seine.errors import StoreUnreachable

#: Pause between two checks of --wait, seconds.
_PAUSE_S = 2.0


class Command(SeineCommand):
    """Applies the migrations that are missing, one process at a time."""

    summary = "Bring the database's schema up to date"
    arguments = "[--check [--wait SECONDS]]"
    example = "scrapy migrate --check"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --check."""
        super().add_options(parser)
        parser.add_argument(
            "--check",
            action="store_true",
            help="list missing migrations, apply none; exit status 1 if any",
        )
        parser.add_argument(
            "--wait",
            metavar="SECONDS",
            help="with --check: seconds to wait until no migration is missing",
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Apply the migrations, or only list them.

        Raises:
            UsageError: --wait without --check.
            ConfigError: --wait is no number.
        """
        if opts.wait is not None and not opts.check:
            raise UsageError("--wait needs --check: only a look can wait for what another applies")
        wait_s = number({"--wait": opts.wait or 0}, "--wait", 0)
        names = self._awaited(wait_s) if opts.check else migrate(self._url())
        state = "missing" if opts.check else "applied"
        text = "\n".join(f"{state} {name}" for name in names) or "the schema is up to date"
        self.show(text, **{state: names})
        return 1 if opts.check and names else 0

    def _url(self) -> str:
        return endpoints(self.project, need=("postgres",)).database_url

    def _awaited(self, wait_s: float) -> list[str]:
        """Wait for up to *wait_s* until no migration is missing; return the missing ones.

        Raises:
            StoreUnreachable: the database did not answer the last check.
        """
        until, last_reason = time.monotonic() + wait_s, ""
        while True:
            try:
                names = pending(self._url())
                if not names or time.monotonic() >= until:
                    return names
                reason = f"the schema lacks {', '.join(names)}"
            except StoreUnreachable as error:
                if time.monotonic() >= until:
                    raise
                reason = str(error)
            if reason != last_reason:
                complain(f"waiting for `scrapy migrate`: {reason}")
                last_reason = reason
            time.sleep(min(_PAUSE_S, max(0.0, until - time.monotonic())))
