"""The archive: batches of pages become one object each, and rows of the index.

An object is stored before its rows are committed, so that every row of the index has its object.
An object without rows, which a crash in between leaves, does no harm.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import orjson
import psycopg2
from psycopg2 import extensions

from crawler.stores.archive.object_storage import ObjectMissing, ObjectStore
from crawler.stores.archive.spellings import spellings
from crawler.stores.archive.warc import Page, Place, pack, places_of
from crawler.stores.queries import query
from crawler.stores.rows import swallowed_row_error
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.sinks.postgres.batches import Limits
from scrapy_seine.sinks.postgres.database import connect

#: Pages of one object.
_MAX_PAGES = 100_000
#: Objects that are looked for at the end; of more, as many chosen at random.
MAX_CHECKED = 100


def limits_of(size: int, age_s: float, pause_bytes: int) -> Limits:
    """Return when a batch becomes an object: at *size* bytes, or *age_s* seconds after its start.

    Requests are paused at *pause_bytes* waiting bytes, as for rows, but at two full batches at
    least, because the next batch is filled while an object is stored.
    """
    pause_bytes = max(pause_bytes, size * 2)
    return Limits(
        rows=_MAX_PAGES,
        size=size,
        age_s=age_s,
        pause_bytes=pause_bytes,
        refuse_bytes=pause_bytes * 4,
    )


class PageTable:
    """Writes batches of pages; a table of the writer (scrapy_seine.sinks.postgres.writer)."""

    def __init__(self, store: ObjectStore, worker: Callable[[], str]) -> None:
        self.store = store
        self.worker = worker
        self.objects = 0
        """Objects stored so far."""
        self._checked: list[str] = []
        """Keys of the objects that are looked for at the end."""

    def __call__(self, cursor: extensions.cursor, pages: Sequence[Page]) -> Counter[str]:
        """Store the object, then add its rows to the caller's transaction.

        Raises:
            StoreUnreachable: the object could not be stored.
            psycopg2.Error: the caller rolls back.
            BadItem: PostgreSQL left a row out without an error; the caller rolls back.
        """
        key = self._key()
        data, places = pack(pages, key)
        if pages:
            self.store.put(key, data)
            self._remember(key)
        rows = [
            row | {"site_id": page.site_id, "job_id": page.job_id}
            for page, place in zip(pages, places, strict=True)
            for row in _rows_of(key, page.url, page.at, page.status, place)
        ]
        cursor.execute(query("add_pages"), {"rows": orjson.dumps(rows).decode()})
        if cursor.rowcount < len(rows):
            raise swallowed_row_error("archive")
        return Counter(archived=len(pages))

    def _remember(self, key: str) -> None:
        self.objects += 1
        if len(self._checked) < MAX_CHECKED:
            self._checked.append(key)
        elif (place := random.randrange(self.objects)) < MAX_CHECKED:
            self._checked[place] = key

    def missing(self) -> list[str]:
        """Return the stored objects that somebody deleted since, of those that are looked for.

        Raises:
            StoreUnreachable: the archive does not answer.
        """
        return [key for key in self._checked if not self._has(key)]

    def _has(self, key: str) -> bool:
        try:
            self.store.get(key, 0, 1)
        except ObjectMissing:
            return False
        return True

    def _key(self) -> str:
        now = datetime.now(UTC)
        return f"{now:%Y/%m/%d/%H%M%S}-{self.worker()}-{uuid.uuid4().hex[:8]}.warc.gz"


def _rows_of(key: str, url: str, at: datetime, status: int, place: Place) -> list[dict[str, Any]]:
    """Return the index's rows of a page in the object *key*, one for each spelling of its URL."""
    page = {"at": at, "status": status, "key": key, "start": place.start, "length": place.length}
    return [{"url": spelled, **page} for spelled in spellings(url)]


def index(store: ObjectStore, database_url: str) -> Counter[str]:
    """Add every page of an archive to this database's index, because another database wrote it.

    Objects that the index has already are skipped; an object that is no WARC file counts as bad.

    Raises:
        StoreUnreachable: the archive or the database cannot be reached.
    """
    counts: Counter[str] = Counter(objects=0, known=0, pages=0, bad=0)
    try:
        with closing(connect(database_url)) as connection:
            for key in store.names():
                with connection, connection.cursor() as cursor:
                    counts.update(_index_one(cursor, store, key))
    except psycopg2.Error as error:
        raise StoreUnreachable(f"DATABASE_URL: {' '.join(str(error).split())}") from None
    return counts


def _index_one(cursor: extensions.cursor, store: ObjectStore, key: str) -> Counter[str]:
    try:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM archive WHERE key = %s)", (key,))
        if (cursor.fetchone() or (False,))[0]:
            return Counter(known=1)
        pages = places_of(store.get(key, 0))
        rows = [row for page in pages for row in _rows_of(key, *page)]
        cursor.execute(query("add_pages"), {"rows": orjson.dumps(rows).decode()})
    except (ValueError, psycopg2.DataError, psycopg2.IntegrityError):
        # PostgreSQL refuses a URL with a NUL and a status of 20 digits; the other files are read.
        return Counter(bad=1)
    return Counter(objects=1, pages=len({row["start"] for row in rows}))
