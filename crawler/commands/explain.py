"""`scrapy explain`: show a page's fields, their sources, and the links to follow."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import psycopg2

from crawler.cli.one_page import PageCommand, filled_fields
from crawler.extract import Found, Link
from crawler.extract.links.registered_domain import site_of as domain_of
from crawler.extract.site import Site
from crawler.extract.template import Book, Judgement
from crawler.extract.template.observation import observe
from crawler.reads.crawl_report import plural
from crawler.stores.store_endpoints import running_database
from crawler.stores.template_rows import read_templates
from scrapy_seine.commands.base import number_within
from scrapy_seine.errors import StoreError
from scrapy_seine.printable import redact
from scrapy_seine.reads import lazy_rich

_DEFAULT_LINKS = 20


class Command(PageCommand):
    """Fetches one page and shows what the parser reads from it."""

    summary = "Show what is read from a page, how sure it is, and which links would be followed"
    example = "scrapy explain https://books.toscrape.com/catalogue/olio_984/index.html"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the limit of links shown."""
        super().add_options(parser)
        parser.add_argument(
            "--links",
            type=number_within(0, 10**6),
            default=_DEFAULT_LINKS,
            help="links shown, at most",
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Fetch, read, print."""
        reply = self.get_page(args, opts)
        site, page, result = self.parse_reply(reply, opts)
        judgement, template_note = self._judge(result, site)
        items = list(site.products(page, result))
        links = sorted(site.links(page, reply.robots), key=lambda link: -link.priority)
        if self.as_json:
            self.show(
                "",
                url=redact(reply.url),
                kind=result.kind,
                reasons=result.verdict.reasons,
                unread=result.unread,
                fields=filled_fields(result),
                sources=result.sources,
                items=len(items),
                offered=result.offered,
                links=[_plain(link) for link in links],
                template=None if judgement is None else _template(judgement, result, template_note),
            )
            return 0
        console = lazy_rich.Console(highlight=False)
        name = f"site file {type(site).__name__}" if site.name else "the default parser"
        address = lazy_rich.escape(redact(reply.url))
        console.print(f"[bold]{address}[/]\n[bold]{result.kind}[/], read by {name}")
        for reason in result.verdict.reasons:
            console.print(f"  {lazy_rich.escape(reason)}")
        for source, error in result.unread.items():
            console.print(f"  its {source} is left out: {lazy_rich.escape(error)}", soft_wrap=True)
        console.print(_fields(result, judgement) if result.fields else plural(len(items), "item"))
        if judgement is not None:
            for line in _words(judgement, result, template_note):
                console.print(lazy_rich.escape(line), soft_wrap=True)
        console.print(_links(links, opts.links))
        return 0

    def _judge(self, result: Found, site: Site) -> tuple[Judgement | None, str]:
        """Return the judgement of a page by its site's stored templates, and a note on them."""
        if result.kind != "product":
            return None, ""
        book, site_id = Book(), site.name or domain_of(result.page.url)
        note = "no database runs or is set, so nothing is known of the site's template"
        if url := running_database(self.project):
            try:
                templates = read_templates(url, site_id)
            except (StoreError, psycopg2.Error) as error:
                note = f"the site's template cannot be read: {error}"
            else:
                note = f"{plural(len(templates), 'template')} stored for site {site_id}"
                for _, cluster, plain in templates:
                    book.load(site_id, cluster, plain)
        return book.judge(site_id, result), note


def _template(judgement: Judgement, result: Found, note: str) -> dict[str, Any]:
    """Return the page's template, and its judgement of the page, as plain data."""
    return {
        "cluster": judgement.cluster,
        "pages": judgement.pages,
        "version": judgement.version,
        "known": note,
        "confidence": judgement.confidence,
        "votes": {field: observed.votes for field, observed in observe(result).items()},
        "doubts": {
            field: {"kind": d.kind, "reason": d.reason} for field, d in judgement.doubts.items()
        },
    }


def _words(judgement: Judgement, result: Found, note: str) -> Iterator[str]:
    description = (
        f"{judgement.cluster}, version {judgement.version}, learned from {judgement.pages} pages"
    )
    yield f"template {description} ({note.splitlines()[0]})"
    for field, observed in observe(result).items():
        votes = "; ".join(
            f"{source}: {str(value)[:60]}" for source, value in observed.votes.items()
        )
        if len(observed.votes) > 1:
            yield f"  votes for {field}: {votes}"
    for field, doubt in judgement.doubts.items():
        yield f"  {field} is doubtful ({doubt.kind}): {doubt.reason}"


def _plain(link: Link) -> dict[str, Any]:
    return {
        "url": redact(link.url), "kind": link.kind, "priority": link.priority, "reason": link.reason
    }  # fmt: skip


def _fields(result: Found, judgement: Judgement | None) -> lazy_rich.Table:
    table = lazy_rich.Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="bold")
    table.add_column(style="cyan")
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for name, value in filled_fields(result).items():
        text = str(value)
        confidence = None if judgement is None else judgement.confidence.get(name)
        share = "" if confidence is None else f"{confidence:.0%}"
        table.add_row(name, result.sources.get(name, ""), share, lazy_rich.escape(text[:200]))
    return table


def _links(links: list[Link], limit: int) -> lazy_rich.Table:
    table = lazy_rich.Table(
        box=None, title=f"{plural(len(links), 'link')} would be followed", title_justify="left"
    )
    for column in ("priority", "kind", "address", "because"):
        table.add_column(column, overflow="fold")
    for link in links[:limit]:
        table.add_row(
            str(link.priority), link.kind, lazy_rich.escape(redact(link.url)), link.reason
        )
    return table
