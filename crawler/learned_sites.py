"""Loads what the fleet learned of sites from PostgreSQL, and stores what this worker learns."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import Any

import orjson
import psycopg2

from crawler.extract.bounded_dict import Newest
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
from scrapy_seine.printable import printable
from scrapy_seine.retry_until import tell_failure

logger = logging.getLogger(__name__)
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")

#: Every so often products' stored values are asked for, where these tell where a field went, s.
RECALL_S = 1.0
#: The same after the database refused to tell them, s.
FAILED_S = 60.0
#: Askings of a site after which the currencies that all workers stored are compared with one's own.
_COMPARED_AFTER = frozenset({3, 6, 12, 24, 48, 96})
_MOST_SITES = 500


class Templates:
    """The fleet's templates, as one worker takes and gives them."""

    def __init__(self, database_url: str) -> None:
        self.url = database_url
        self._read: list[tuple[str, str, Any]] = []
        self._asked: Newest[Iterator[int]] = Newest(lambda: count(1), _MOST_SITES)

    def read(self) -> None:
        """Read the newest templates; blocks. Where they are refused, sites are learned anew.

        Raises:
            StoreUnreachable: the database does not answer.
        """
        try:
            self._read = read_templates(self.url)
        except psycopg2.Error as error:  # a missing table or grant is no reason to stop a worker
            tell_failure(logger, "no template is read, so that sites are learned anew", error)

    def hand_over(self, book: Book) -> None:
        """Give what was read to a spider's book."""
        for site_id, cluster, plain in self._read:
            if not book.load(site_id, cluster, plain):
                logger.warning(
                    "the template of site %s is not readable and is learned anew",
                    printable(site_id),
                )
        self._read = []

    async def keep_recalling(self, book: Book) -> None:
        """Tell a book the stored values that it asks for: these tell where a field went."""
        wait_s = RECALL_S
        while True:
            await asyncio.sleep(wait_s)
            try:
                await self.recall(book)
                wait_s = RECALL_S
            except StoreUnreachable:
                logger.debug("no field is looked for: the database does not answer")
            except Exception as error:  # pages are read as before
                wait_s = FAILED_S
                tell_failure(logger, "no field that moved is looked for", error)

    async def recall(self, book: Book) -> None:
        """Tell the stored values that pages wait for.

        Raises:
            StoreUnreachable: the database does not answer.
        """
        loop = asyncio.get_running_loop()
        for site_id, urls in list(book.wanted()):
            stored = await loop.run_in_executor(None, stored_before, self.url, site_id, urls)
            book.recall(site_id, stored)
            if next(self._asked[site_id]) in _COMPARED_AFTER:
                told = await loop.run_in_executor(None, stored_currencies, self.url, site_id)
                book.tenders.compare(site_id, told)


def learned(book: Book, least: int, now: datetime) -> Iterator[TemplateRow]:
    """The templates of which so many pages were learned since they were stored."""
    for site_id, cluster, profile, changed in book.unsaved(least):
        text, told = _storable(profile.plain()), changed and printable(changed)
        yield TemplateRow(site_id, cluster, profile.version, profile.pages, text, told, now)


def _storable(plain: Any) -> bytes:
    """Write JSON that PostgreSQL takes: a page may hold NUL, and halves of surrogate pairs."""
    with suppress(TypeError):  # half a surrogate pair
        text = orjson.dumps(plain)
        if b"\\u0000" not in text:
            return text
    return orjson.dumps(_marked(plain))


def _marked(value: Any) -> Any:
    if isinstance(value, str):
        return _NOT_TEXT.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_marked(key): _marked(inner) for key, inner in value.items()}
    return [_marked(inner) for inner in value] if isinstance(value, list | tuple) else value


def led_nowhere(dead_ends: DeadEnds, now: datetime) -> Iterator[DeadEnd]:
    """The shapes of addresses that are left out since, or are not any more."""
    for shape, (site_id, pages) in dead_ends.news().items():
        yield DeadEnd(shape, site_id, pages, now)
