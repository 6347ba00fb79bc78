"""`scrapy doctor`: check settings, stores, clocks and versions before a crawl."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable

import attrs

from crawler.cli.output_checks import check_files
from crawler.cli.start_warnings import options_of_files
from crawler.reads.doctor.facts import examine
from crawler.reads.doctor.finding import Finding
from crawler.reads.doctor.setting_sources import source_findings
from crawler.reads.unknown_settings import name_findings
from crawler.stores.store_endpoints import Endpoints, endpoints
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.which_spider import spider_class
from scrapy_seine.engine.settings_check import known_settings
from scrapy_seine.errors import SeineError
from scrapy_seine.reads import lazy_rich

_MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}
#: Marks for a stream whose encoding lacks the signs, which it would print as question marks.
_PLAIN_MARKS = {"✓": "ok", "✗": "FAIL"}


class Command(SeineCommand):
    """Lists risks of a crawl and their remedies; exit status 1 where a check fails."""

    summary = "Check settings, stores, clocks and versions, and say what to mend"
    example = "scrapy doctor"
    refuses_names = False  # they are findings

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --spider."""
        super().add_options(parser)
        parser.add_argument(
            "--spider", default="catalog", help="spider whose keys are checked (default: catalog)"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Run all checks and print their findings."""
        findings = self._findings(opts.spider)
        has_failure = any(finding.level == "fail" for finding in findings)
        if self.as_json:
            self.show("", healthy=not has_failure, findings=[attrs.asdict(f) for f in findings])
        else:
            lazy_rich.Console(highlight=False).print(_table(findings))
        return 1 if has_failure else 0

    def _findings(self, spider: str) -> list[Finding]:
        stores, unreachable = self._reachable_stores()
        site_options, broken = options_of_files(self.project, spider)
        names = known_settings(self.project)
        return [
            *name_findings(self.project, os.environ, names),
            *source_findings(self.project, os.environ, names),
            *_refused("spider", lambda: spider_class(self.project, spider), "say --spider NAME"),
            *_refused("files", lambda: check_files(self.project), "name another file"),
            *asyncio.run(examine(self.project, stores, spider, site_options, broken)),
            *unreachable,
        ]

    def _reachable_stores(self) -> tuple[Endpoints, list[Finding]]:
        """Return the addresses of the stores that answer, and findings about the others."""
        urls, findings = {"redis": "", "postgres": ""}, []
        for store, name in (("redis", "REDIS_URL"), ("postgres", "DATABASE_URL")):
            try:
                store_endpoints = endpoints(self.project, need=(store,))
                urls[store] = (
                    store_endpoints.redis_url if store == "redis" else store_endpoints.database_url
                )
            except SeineError as error:
                subject = "redis" if store == "redis" else "postgresql"
                findings.append(
                    Finding("fail", subject, str(error), f"check {name} and the server")
                )
        # Both embedded servers may fail for the same reason: their folder.
        finding_by_text = {finding.text: finding for finding in reversed(findings)}
        return Endpoints(urls["redis"], urls["postgres"]), [*reversed(finding_by_text.values())]


def _refused(subject: str, check: Callable[[], object], advice: str) -> list[Finding]:
    """Return the error of a check that a worker's start makes as a finding."""
    try:
        check()
    except SeineError as error:
        return [Finding("fail", subject, str(error), advice)]
    return []


def _table(findings: list[Finding]) -> lazy_rich.Table:
    table = lazy_rich.Table(box=None, show_header=False, padding=(0, 1))
    table.add_column()
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for finding in findings:
        mark, colour = _MARKS[finding.level]
        mark = mark if _can_show(mark) else _PLAIN_MARKS[mark]
        text = lazy_rich.Text(finding.text)
        if finding.advice:
            text.append(f"\n{'→' if _can_show('→') else '->'} {finding.advice}", style="dim")
        table.add_row(lazy_rich.Text(mark, style=colour), finding.subject, text)
    return table


def _can_show(sign: str) -> bool:
    """Whether standard output can encode a sign; in plain C locales it is ASCII."""
    try:
        sign.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True
