"""The verdict, from outside: access logs, exit codes, rows, logs and screens."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg2
from psycopg2 import sql

from crawler.demo.judge import judge
from crawler.demo.pages import Site
from crawler.demo.stored_rows import TABLES, stored_products

#: Tables whose rows somebody may look at.
SHOWN = (*TABLES, "attempts", "quality", "jobs")


def pages_between(visits: Iterable[Mapping[str, Any]], start: float, end: float) -> int:
    """Good answers in a span of time (Unix s)."""
    return sum(v["status"] == 200 and start <= v["time"] < end for v in visits)


def longest_gap(visits: Iterable[Mapping[str, Any]], start: float, end: float) -> float:
    """Longest time for which nothing at all came in at the good hosts, seconds."""
    times = sorted(v["time"] for v in visits if start <= v["time"] < end)
    return max((b - a for a, b in zip([start, *times], [*times, end], strict=True)), default=0.0)


def rows_wrong(database_url: str, site: Site, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Products of good sites that are missing, and those that are not as the shop has them."""
    missing, wrong = [], []
    for name in names:
        verdict = judge(site.products, stored_products(database_url, name))
        missing += [f"{name} {sku}" for sku in verdict.missing]
        wrong += [f"{name} {text}" for text in verdict.wrong]
    return missing, wrong


def rows(database_url: str) -> Iterator[tuple[str, str]]:
    """Each table's rows as one text."""
    with closing(psycopg2.connect(database_url)) as connection, connection.cursor() as cursor:
        for table in SHOWN:
            query = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(table))
            cursor.execute(query)
            yield f"rows of {table}", "\n".join(row for (row,) in cursor)


def archived(folder: Path) -> Iterator[tuple[str, str]]:
    """Each object of the archive, unpacked."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            with suppress(OSError, EOFError, zlib.error):
                data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            yield f"archive {path.name}", data.decode("utf-8", "replace")


def holders(texts: Iterable[tuple[str, str]], words: Sequence[str]) -> list[str]:
    """Names of the texts with one of the words, and a bit of the place."""
    found = []
    for name, text in texts:
        for word in words:
            at = text.find(word)
            if at >= 0:
                count = text.count(word)
                line = text[max(0, at - 80) : at + 60]
                found.append(f"{name} ({count}): {line!r}")
    return found


def spellings(secret: str, users: Sequence[str] = ("user", "u", "")) -> list[str]:
    """A secret as it is and as a header of basic authentication has it."""
    return [secret, *(base64.b64encode(f"{u}:{secret}".encode()).decode() for u in users)]
