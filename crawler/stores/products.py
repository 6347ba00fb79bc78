"""How a batch of products becomes rows, each written, refreshed or left alone (`freshness`).

Most pages of a crawl show what is known already. So a batch first asks for the digests of its
keys, and only new or changed products are sent. The statements guard themselves as well: what
another writer does in between is neither lost nor overwritten by an older page.

Locks are taken in one order by every writer: sites, products (by key), addresses (by key),
rejections (by id). So writers wait for each other and never in a circle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import orjson
from psycopg2 import extensions

from crawler.stores.doubtful import Doubtful, settle_doubts, sort_out, write_doubtful
from crawler.stores.freshness import Action, Known, decide
from crawler.stores.queries import query
from crawler.stores.rows import Confirmed, ProductRow, RejectedRow, Vanished, swallowed
from crawler.stores.same_product import find_twins
from scrapy_seine.sinks.postgres.database import transaction

#: What stores products, and the name of its parameter.
_STORING = {
    "add_sites": "names",
    "upsert_products": "items",
    "refresh_products": "rows",
    "add_urls": "rows",
    "add_sightings": "rows",
    "add_doubtful": "rows",
    "settle_doubtful": "rows",
}


def newest(rows: Iterable[ProductRow]) -> list[ProductRow]:
    """Keep one row a key, the newest, in the order of the keys."""
    best: dict[tuple[str, str], ProductRow] = {}
    for row in rows:
        key = (row.site_id, row.external_id)
        other = best.get(key)
        if other is None or other.scraped_at <= row.scraped_at:
            best[key] = row
    return [best[key] for key in sorted(best)]


def write_products(
    cursor: extensions.cursor, rows: Sequence[ProductRow], window: timedelta
) -> Counter[str]:
    """Store a batch inside the caller's transaction; counts what became of the rows.

    Raises:
        psycopg2.Error: the caller rolls back.
        BadItem: PostgreSQL left a row out without an error; the caller rolls back.
    """
    if not rows:
        return _write_none(cursor)
    wanted = newest(rows)
    known = _look(cursor, wanted)
    names = find_twins(cursor, [row for i, row in enumerate(wanted) if i not in known])
    if names:
        rows = [
            row.renamed(names[key]) if (key := (row.site_id, row.external_id)) in names else row
            for row in rows
        ]
        wanted = newest(rows)
        known = _look(cursor, wanted)
    wanted, known, doubtful = _sort_out(cursor, wanted, known)
    if left_out := {id(doubt.row) for doubt in doubtful if doubt.is_essential}:
        # Another page of the batch may be the product's own.
        write_doubtful(cursor, [doubt for doubt in doubtful if id(doubt.row) in left_out])
        left = [row for row in rows if id(row) not in left_out]
        return write_products(cursor, left, window) + Counter(doubtful=len(left_out))
    done: dict[Action, list[int]] = {}
    for i, row in enumerate(wanted):
        done.setdefault(decide(row, known.get(i), window), []).append(i)
    _upsert(cursor, [wanted[i] for i in (*done.get("new", ()), *done.get("changed", ()))])
    unwritten = set(done.get("unchanged", ()))
    unwritten.update(_refresh(cursor, wanted, done.get("refreshed", ())))
    _note_urls(cursor, rows, wanted, known)
    _note_sightings(cursor, [wanted[i] for i in sorted(unwritten)])
    write_doubtful(cursor, doubtful)
    counts = Counter({str(action): len(found) for action, found in done.items()})
    counts["twice"] += len(rows) - len(wanted)
    counts["merged"] += len(names)
    counts["doubtful"] += len(doubtful)
    return counts


def _sort_out(
    cursor: extensions.cursor, rows: list[ProductRow], known: Mapping[int, Known]
) -> tuple[list[ProductRow], dict[int, Known], list[Doubtful]]:
    """Keep doubtful values out of what is new or changed; what is unchanged settles its doubts."""
    asked = [
        i
        for i, row in enumerate(rows)
        if row.judged and (row.doubts or (i in known and known[i].content_hash != row.content_hash))
    ]
    unchanged = set(range(len(rows))).difference(asked)
    settle_doubts(cursor, [rows[i] for i in sorted(unchanged) if rows[i].judged])
    if not asked:
        return rows, dict(known), []
    kept, doubtful = sort_out(cursor, [rows[i] for i in asked])
    settle_doubts(cursor, list(kept.values()), doubtful)
    sorted_out = {i: kept.get(place) for place, i in enumerate(asked)}
    left = [(i, row) for i, one in enumerate(rows) if (row := sorted_out.get(i, one)) is not None]
    return (
        [row for _, row in left],
        {n: known[i] for n, (i, _) in enumerate(left) if i in known},
        doubtful,
    )


def confirm_products(cursor: extensions.cursor, rows: Sequence[Confirmed]) -> Counter[str]:
    """Count products as fresh whose pages are unchanged, inside the caller's transaction.

    Only those that were read from the very state that the request named. Where another state was
    stored meanwhile nothing is said about it: the product falls due again by itself.

    Raises:
        psycopg2.Error: the caller rolls back.
        BadItem: a trigger kept a sighting out; the caller rolls back.
    """
    if not rows:
        return _write_none(cursor)
    asked = [{"i": i, "s": row.site_id, "u": row.url, **_named(row)} for i, row in enumerate(rows)]
    cursor.execute(query("find_confirmed"), {"rows": _json(asked)})
    found = [
        ProductRow(
            rows[i].site_id,
            external_id,
            rows[i].url,
            b"",
            rows[i].at,
            rows[i].job_id,
            b"",
            seen=attrs.evolve(rows[i].seen, parser=parser),
        )
        for i, external_id, parser in cursor.fetchall()
    ]
    wanted = newest(found)
    left = _refresh(cursor, wanted, range(len(wanted)))
    _note_sightings(cursor, [wanted[i] for i in sorted(left)])
    return Counter(confirmed=len(wanted), unmatched=len(rows) - len({row.url for row in found}))


def mark_vanished(cursor: extensions.cursor, rows: Sequence[Vanished]) -> Counter[str]:
    """Note of products that their own page is not there, inside the caller's transaction.

    Raises:
        psycopg2.Error: the caller rolls back.
        BadItem: a trigger kept a product as it is; the caller rolls back.
    """
    made = [{"s": row.site_id, "u": row.url, "t": row.at, "f": row.final} for row in rows]
    cursor.execute(query("mark_vanished"), {"rows": _json(made), "now": datetime.now(UTC)})
    found = cursor.fetchall()
    if not all(is_marked for _, is_marked in found):
        raise swallowed("products")
    return Counter("gone" if final else "missing" for final, _ in found)


def _write_none(cursor: extensions.cursor) -> Counter[str]:
    """Run what stores products, with no rows: a table that takes none at all refuses that too.

    Raises:
        psycopg2.Error: a table is missing, or takes nothing from this user.
    """
    for name, given in _STORING.items():
        cursor.execute(query(name), {given: "[]", "now": datetime.now(UTC)})
    return Counter()


def _named(row: Confirmed) -> dict[str, str | None]:
    return {"g": row.seen.etag, "l": row.seen.last_modified}


def write_rejected(cursor: extensions.cursor, rows: Sequence[RejectedRow]) -> Counter[str]:
    """Store a batch of refused items inside the caller's transaction.

    Raises:
        psycopg2.Error: the caller rolls back.
        BadItem: PostgreSQL left one out without an error; the caller rolls back.
    """
    unique = {row.id: row for row in rows}
    cursor.execute(
        query("add_rejected"),
        {
            "rows": _json(
                {
                    "id": key,
                    "s": row.site_id,
                    "j": row.job_id,
                    "u": row.url,
                    "r": row.reason,
                    "v": orjson.Fragment(row.body),
                    "t": row.rejected_at,
                    "c": row.code,
                    "n": row.constraint_name,
                }
                for key, row in unique.items()
            )
        },
    )
    if cursor.rowcount < len(unique):
        raise swallowed("rejected_items")
    return Counter(rejected=len(unique))


def set_importance(database_url: str, urls: Sequence[str], value: float | None) -> set[str]:
    """Say how much the products at some addresses matter; returns those that are a product's.

    *value* is at most 1000; None leaves it to the site file again.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        # No text of PostgreSQL holds a NUL.
        asked = [url for url in urls if "\0" not in url]
        cursor.execute(query("set_importance"), {"urls": asked, "importance": value})
        return {url for (url,) in cursor.fetchall()}


def _json(rows: Iterable[object]) -> str:
    return orjson.dumps(list(rows)).decode()


def _look(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> dict[int, Known]:
    if not rows:
        return {}
    keys = _json({"i": i, "s": row.site_id, "e": row.external_id} for i, row in enumerate(rows))
    cursor.execute(query("look"), {"keys": keys, "now": datetime.now(UTC)})
    return {
        i: Known(bytes(content_hash), scraped_at, gone, url, ahead)
        for i, content_hash, scraped_at, gone, url, ahead in cursor.fetchall()
    }


def _upsert(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> None:
    if not rows:
        return
    cursor.execute(query("add_sites"), {"names": _json({row.site_id for row in rows})})
    items = _json(
        {
            "h": row.content_hash.hex(),
            "v": orjson.Fragment(row.body),
            "n": row.told or None,
            **_state(row),
        }
        for row in rows
    )
    cursor.execute(query("upsert_products"), {"items": items, "now": datetime.now(UTC)})
    if cursor.rowcount < len(rows):
        _find_swallowed(cursor, rows)


def _find_swallowed(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> None:
    """Tell rows that another writer made needless from those that a trigger swallowed.

    Raises:
        BadItem: one was swallowed.
    """
    known = _look(cursor, rows)
    left = {decide(row, known.get(i), timedelta.max) for i, row in enumerate(rows)}
    if left & {"new", "changed"}:
        raise swallowed("products")


def _state(row: ProductRow) -> dict[str, str | None]:
    seen = row.seen
    return {"g": seen.etag, "l": seen.last_modified, "p": seen.parser} if seen is not None else {}


def _refresh(
    cursor: extensions.cursor, rows: Sequence[ProductRow], which: Sequence[int]
) -> set[int]:
    """Renew scraped_at; returns those that another writer held."""
    if not which:
        return set()
    made: list[dict[str, Any]] = [
        {
            "i": i,
            "s": rows[i].site_id,
            "e": rows[i].external_id,
            "u": rows[i].url,
            "t": rows[i].scraped_at,
            "j": rows[i].job_id,
            **_state(rows[i]),
        }
        for i in which
    ]
    cursor.execute(query("refresh_products"), {"rows": _json(made), "now": datetime.now(UTC)})
    return set(which) - {i for (i,) in cursor.fetchall()}


def _note_urls(
    cursor: extensions.cursor,
    rows: Sequence[ProductRow],
    kept: Sequence[ProductRow],
    known: Mapping[int, Known],
) -> None:
    """Remember addresses other than the one in the product's own row."""
    other: dict[tuple[str, str], tuple[str, datetime]] = {}
    main = {}
    for i, row in enumerate(kept):
        url = known[i].url if i in known else row.url
        main[row.site_id, row.external_id] = url
        if url != row.url:  # the row may be about to take the new address
            other[row.site_id, url] = row.external_id, row.scraped_at
    for row in rows:
        if row.url != main[row.site_id, row.external_id]:
            other[row.site_id, row.url] = row.external_id, row.scraped_at
    if other:
        made = _json(
            {"s": site, "u": url, "e": key, "t": at} for (site, url), (key, at) in other.items()
        )
        cursor.execute(query("add_urls"), {"rows": made})
        if cursor.rowcount < len(other):  # known already, or swallowed
            cursor.execute(query("count_urls"), {"rows": made})
            if cursor.fetchone() != (len(other),):
                raise swallowed("product_urls")


def _note_sightings(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> None:
    if not rows:
        return
    sites: dict[tuple[str, str | None], list[ProductRow]] = {}
    for row in rows:
        sites.setdefault((row.site_id, row.job_id), []).append(row)
    made = [
        {
            "s": site,
            "j": job,
            "t": max(row.scraped_at for row in seen),
            "k": [row.external_id for row in seen],
        }
        for (site, job), seen in sites.items()
    ]
    cursor.execute(query("add_sightings"), {"rows": _json(made)})
    if cursor.rowcount < len(made):
        raise swallowed("sightings")
