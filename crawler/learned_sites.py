"""Loads the fleet's templates of sites from PostgreSQL, and prepares this worker's for storage."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import Any

import orjson
import psycopg2

from crawler.extract.limited_dict import Newest
from crawler.extract.links.dead_ends import DeadEnds
from crawler.extract.template import Book
from crawler.stores.dead_ends import DeadEnd
from crawler.stores.template_rows import (
    TemplateRow,
    read_templates,
    stored_before,
    stored_currencies,
)
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.printable import printable, storable
from scrapy_seine.store_wait import log_failure

logger = logging.getLogger(__name__)

#: Interval of queries for products' stored values, which show where a field moved to, s.
RECALL_S = 1.0
#: The interval after such a query failed, s.
FAILED_S = 60.0
#: Queries of a site after which its stored currencies are compared with this worker's.
_COMPARED_AFTER = frozenset({3, 6, 12, 24, 48, 96})
_MOST_SITES = 500


class Templates:
    """The fleet's templates, as one worker reads and stores them."""

    def __init__(self, database_url: str) -> None:
        self.url = database_url
        self._read: list[tuple[str, str, Any]] = []
        self._recalls: Newest[Iterator[int]] = Newest(lambda: count(1), _MOST_SITES)

    def read(self) -> None:
        """Read the newest templates; blocks. If the query fails, sites are learned anew.

        Raises:
            StoreUnreachable: the database does not answer.
        """
        try:
            self._read = read_templates(self.url)
        except psycopg2.Error as error:  # a missing table or grant is no reason to stop a worker
            log_failure(logger, "no template is read, so that sites are learned anew", error)

    def hand_over(self, book: Book) -> None:
        """Load the templates into a spider's book."""
        for site_id, cluster, plain in self._read:
            if not book.load(site_id, cluster, plain):
                logger.warning(
                    "the template of site %s is not readable and is learned anew",
                    printable(site_id),
                )
        self._read = []

    async def keep_recalling(self, book: Book) -> None:
        """Give a book the stored values that it asks for, to find where a field moved to."""
        wait_s = RECALL_S
        while True:
            await asyncio.sleep(wait_s)
            try:
                await self.recall(book)
                wait_s = RECALL_S
            except StoreUnreachable:
                logger.debug("no field is looked for: the database does not answer")
            except Exception as error:  # pages are still read, by the templates in use
                wait_s = FAILED_S
                log_failure(logger, "no field that moved is looked for", error)

    async def recall(self, book: Book) -> None:
        """Load the stored values that pages wait for.

        Raises:
            StoreUnreachable: the database does not answer.
        """
        loop = asyncio.get_running_loop()
        for site_id, urls in list(book.awaited_pages()):
            stored = await loop.run_in_executor(None, stored_before, self.url, site_id, urls)
            book.recall(site_id, stored)
            if next(self._recalls[site_id]) in _COMPARED_AFTER:
                currencies = await loop.run_in_executor(None, stored_currencies, self.url, site_id)
                book.currencies.compare(site_id, currencies)


def template_rows(book: Book, least: int, now: datetime) -> Iterator[TemplateRow]:
    """The rows of templates with at least so many pages learned since they were stored."""
    for site_id, cluster, profile, changed in book.unsaved(least):
        text, change_text = _storable(profile.plain()), changed and printable(changed)
        yield TemplateRow(site_id, cluster, profile.version, profile.pages, text, change_text, now)


def _storable(plain: Any) -> bytes:
    """Write JSON that PostgreSQL accepts: without NUL and lone surrogates, which pages may hold."""
    with suppress(TypeError):  # a lone surrogate
        text = orjson.dumps(plain)
        if b"\\u0000" not in text:
            return text
    return orjson.dumps(_marked(plain))


def _marked(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_marked(key): _marked(inner) for key, inner in value.items()}
    return [_marked(inner) for inner in value] if isinstance(value, list | tuple) else value


def dead_end_rows(dead_ends: DeadEnds, now: datetime) -> Iterator[DeadEnd]:
    """The rows of dead ends (shapes of URLs) that were found or lifted since the last call."""
    for shape, (site_id, pages) in dead_ends.take_changes().items():
        yield DeadEnd(shape, site_id, pages, now)
