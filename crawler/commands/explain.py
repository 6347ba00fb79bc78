"""`scrapy explain`: what is read from a page, from where, and which links it leads to."""

from __future__ import annotations

import argparse
from typing import Any

from crawler.cli_page import PageCommand, told
from crawler.extract import Found, Link
from scrapy_seine.reads import paint

_SHOWN = 20


class Command(PageCommand):
    """Fetches one page and tells how it is understood."""

    summary = "Show what is read from a page, from where, and which links would be followed"
    example = "scrapy explain https://books.toscrape.com/catalogue/olio_984/index.html"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare how many links are shown."""
        super().add_options(parser)
        parser.add_argument("--links", type=int, default=_SHOWN, help="links shown, at most")

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Fetch, read, print."""
        got = self.got(args, opts)
        site, page, found = self.read(got, opts)
        items = list(site.products(page, found))
        links = sorted(site.links(page, got.robots), key=lambda link: -link.priority)
        if self.as_json:
            self.show(
                "",
                url=got.url,
                kind=found.kind,
                reasons=found.verdict.reasons,
                fields=told(found),
                sources=found.sources,
                items=len(items),
                offered=found.offered,
                links=[_plain(link) for link in links],
            )
            return 0
        console = paint.Console(highlight=False)
        name = f"site file {type(site).__name__}" if site.name else "the default parser"
        console.print(f"[bold]{paint.escape(got.url)}[/]\n[bold]{found.kind}[/], read by {name}")
        for reason in found.verdict.reasons:
            console.print(f"  {paint.escape(reason)}")
        console.print(_fields(found) if found.fields else f"{len(items)} items")
        console.print(_links(links, opts.links))
        return 0


def _plain(link: Link) -> dict[str, Any]:
    return {
        "url": link.url, "kind": link.kind, "priority": link.priority, "reason": link.reason
    }  # fmt: skip


def _fields(found: Found) -> paint.Table:
    table = paint.Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="bold")
    table.add_column(style="cyan")
    table.add_column(overflow="fold")
    for name, value in told(found).items():
        text = str(value)
        table.add_row(name, found.sources.get(name, ""), paint.escape(text[:200]))
    return table


def _links(links: list[Link], most: int) -> paint.Table:
    table = paint.Table(
        box=None, title=f"{len(links)} links would be followed", title_justify="left"
    )
    for column in ("priority", "kind", "address", "because"):
        table.add_column(column, overflow="fold")
    for link in links[:most]:
        table.add_row(str(link.priority), link.kind, paint.escape(link.url), link.reason)
    return table
