"""Store a batch of products: each row is written, refreshed or skipped (`freshness`).

Most pages of a crawl show no change. So a batch first reads the digests of its keys, and sends only
new or changed products. The statements check again, so that a row which another writer stores in
between is neither lost nor overwritten by an older page.

Every writer takes its locks in one order, so that none deadlocks: sites, products (by key), URLs
(by key), rejections (by id).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import orjson
from psycopg2 import extensions

from crawler.stores.doubtful import replace_doubtful, settle_doubts, write_doubtful
from crawler.stores.doubts_by_history import Doubtful, conflicts_within
from crawler.stores.freshness import Action, StoredVersion, decide
from crawler.stores.queries import query
from crawler.stores.rows import Confirmed, ProductRow, RejectedRow, Vanished, swallowed_row_error
from crawler.stores.same_product import find_twins
from scrapy_seine.sinks.postgres.database import transaction

#: The statements that store products, and the name of their parameter.
_STORING_STATEMENTS = {
    "add_sites": "names",
    "upsert_products": "items",
    "refresh_products": "rows",
    "add_urls": "rows",
    "add_sightings": "rows",
    "add_doubtful": "rows",
    "settle_doubtful": "rows",
}


def newest(rows: Iterable[ProductRow]) -> list[ProductRow]:
    """Return the newest row of each key, ordered by key."""
    newest_rows: dict[tuple[str, str], ProductRow] = {}
    for row in rows:
        key = (row.site_id, row.external_id)
        earlier = newest_rows.get(key)
        if earlier is None or earlier.scraped_at <= row.scraped_at:
            newest_rows[key] = row
    return [newest_rows[key] for key in sorted(newest_rows)]


def write_products(
    cursor: extensions.cursor, rows: Sequence[ProductRow], window: timedelta
) -> Counter[str]:
    """Store a batch inside the caller's transaction; return the number of rows by action.

    Raises:
        psycopg2.Error: the caller rolls back.
        BadItem: PostgreSQL left a row out without an error; the caller rolls back.
    """
    if not rows:
        return _check_tables(cursor)
    batch = newest(rows)
    stored_versions = _stored_rows(cursor, batch)
    twins = find_twins(cursor, [row for i, row in enumerate(batch) if i not in stored_versions])
    if twins:
        rows = [
            row.renamed(twins[key]) if (key := (row.site_id, row.external_id)) in twins else row
            for row in rows
        ]
        batch = newest(rows)
        stored_versions = _stored_rows(cursor, batch)
    doubtful = conflicts_within(rows) if len(batch) < len(rows) else []
    refused = {id(doubt.row) for doubt in doubtful}
    if not refused:
        batch, stored_versions, doubtful = _without_doubtful(cursor, batch, stored_versions)
        refused = {id(doubt.row) for doubt in doubtful if doubt.is_essential}
    if refused:
        # Another page of the batch may be the product's own.
        write_doubtful(cursor, [doubt for doubt in doubtful if id(doubt.row) in refused])
        remaining_rows = [row for row in rows if id(row) not in refused]
        return write_products(cursor, remaining_rows, window) + Counter(doubtful=len(refused))
    indexes: dict[Action, list[int]] = {}
    for i, row in enumerate(batch):
        indexes.setdefault(decide(row, stored_versions.get(i), window), []).append(i)
    _upsert(cursor, [batch[i] for i in (*indexes.get("new", ()), *indexes.get("changed", ()))])
    unwritten = set(indexes.get("unchanged", ()))
    unwritten.update(_refresh(cursor, batch, indexes.get("refreshed", ())))
    _add_urls(cursor, rows, batch, stored_versions)
    _add_sightings(cursor, [batch[i] for i in sorted(unwritten)])
    write_doubtful(cursor, doubtful)
    counts = Counter(
        {str(action): len(rows_of_action) for action, rows_of_action in indexes.items()}
    )
    counts["twice"] += len(rows) - len(batch)
    counts["merged"] += len(twins)
    counts["doubtful"] += len(doubtful)
    return counts


def _without_doubtful(
    cursor: extensions.cursor, rows: list[ProductRow], stored_versions: Mapping[int, StoredVersion]
) -> tuple[list[ProductRow], dict[int, StoredVersion], list[Doubtful]]:
    """Replace doubtful values of new and changed rows; settle the doubts of unchanged ones."""
    candidates = [
        i
        for i, row in enumerate(rows)
        if row.judged
        and (
            row.doubts
            or (i in stored_versions and stored_versions[i].content_hash != row.content_hash)
        )
    ]
    unchanged = set(range(len(rows))).difference(candidates)
    settle_doubts(cursor, [rows[i] for i in sorted(unchanged) if rows[i].judged])
    if not candidates:
        return rows, dict(stored_versions), []
    storable, doubtful = replace_doubtful(cursor, [rows[i] for i in candidates])
    settle_doubts(cursor, list(storable.values()), doubtful, are_new=True)
    replacements = {i: storable.get(place) for place, i in enumerate(candidates)}
    remaining = [
        (i, row)
        for i, original in enumerate(rows)
        if (row := replacements.get(i, original)) is not None
    ]
    return (
        [row for _, row in remaining],
        {n: stored_versions[i] for n, (i, _) in enumerate(remaining) if i in stored_versions},
        doubtful,
    )


def confirm_products(cursor: extensions.cursor, rows: Sequence[Confirmed]) -> Counter[str]:
    """Mark products as fresh whose pages are unchanged, inside the caller's transaction.

    Only products that were read from a page with the request's validators are marked. If another
    state was stored meanwhile, the product is skipped, because it falls due again by itself.

    Raises:
        psycopg2.Error: the caller rolls back.
        BadItem: a trigger kept a sighting out; the caller rolls back.
    """
    if not rows:
        return _check_tables(cursor)
    records = [
        {"i": i, "s": row.site_id, "u": row.url, **_validators(row)} for i, row in enumerate(rows)
    ]
    cursor.execute(query("find_confirmed"), {"rows": _json(records)})
    confirmed = [
        ProductRow(
            rows[i].site_id,
            external_id,
            rows[i].url,
            b"",
            rows[i].at,
            rows[i].job_id,
            b"",
            validators=attrs.evolve(rows[i].validators, parser=parser),
        )
        for i, external_id, parser in cursor.fetchall()
    ]
    batch = newest(confirmed)
    unwritten = _refresh(cursor, batch, range(len(batch)))
    _add_sightings(cursor, [batch[i] for i in sorted(unwritten)])
    return Counter(confirmed=len(batch), unmatched=len(rows) - len({row.url for row in confirmed}))


def mark_vanished(cursor: extensions.cursor, rows: Sequence[Vanished]) -> Counter[str]:
    """Mark products whose own page does not exist, inside the caller's transaction.

    Raises:
        psycopg2.Error: the caller rolls back.
        BadItem: a trigger prevented the update of a product; the caller rolls back.
    """
    records = [
        {
            "s": row.site_id,
            "u": row.url,
            "t": row.at,
            "f": row.final,
            "d": row.may_pass,
            "b": row.is_blank,
        }
        for row in rows
    ]
    cursor.execute(query("mark_vanished"), {"rows": _json(records), "now": datetime.now(UTC)})
    marks = cursor.fetchall()
    if not all(is_marked for _, is_marked in marks):
        raise swallowed_row_error("products")
    return Counter("gone" if final else "missing" for final, _ in marks)


def _check_tables(cursor: extensions.cursor) -> Counter[str]:
    """Run the storing statements without rows, because a closed table refuses these as well.

    Raises:
        psycopg2.Error: a table is missing, or this user may not write to it.
    """
    for name, parameter in _STORING_STATEMENTS.items():
        cursor.execute(query(name), {parameter: "[]", "now": datetime.now(UTC)})
    return Counter()


def _validators(row: Confirmed) -> dict[str, str | None]:
    return {"g": row.validators.etag, "l": row.validators.last_modified}


def write_rejected(cursor: extensions.cursor, rows: Sequence[RejectedRow]) -> Counter[str]:
    """Store a batch of refused items inside the caller's transaction.

    Raises:
        psycopg2.Error: the caller rolls back.
        BadItem: PostgreSQL left a row out without an error; the caller rolls back.
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
        raise swallowed_row_error("rejected_items")
    return Counter(rejected=len(unique))


def set_importance(database_url: str, urls: Sequence[str], value: float | None) -> set[str]:
    """Set the importance of the products at *urls*; return the URLs that are a product's.

    *value* is at most 1000; None restores the importance of the site file.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    with transaction(database_url) as connection, connection.cursor() as cursor:
        # PostgreSQL's text cannot contain a NUL.
        storable_urls = [url for url in urls if "\0" not in url]
        cursor.execute(query("set_importance"), {"urls": storable_urls, "importance": value})
        return {url for (url,) in cursor.fetchall()}


def _json(rows: Iterable[object]) -> str:
    return orjson.dumps(list(rows)).decode()


def _stored_rows(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> dict[int, StoredVersion]:
    if not rows:
        return {}
    keys = _json({"i": i, "s": row.site_id, "e": row.external_id} for i, row in enumerate(rows))
    cursor.execute(query("look"), {"keys": keys, "now": datetime.now(UTC)})
    return {
        i: StoredVersion(bytes(content_hash), scraped_at, is_gone, url, ahead)
        for i, content_hash, scraped_at, is_gone, url, ahead in cursor.fetchall()
    }


def _upsert(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> None:
    if not rows:
        return
    cursor.execute(query("add_sites"), {"names": _json({row.site_id for row in rows})})
    items = _json(
        {
            "h": row.content_hash.hex(),
            "v": orjson.Fragment(row.body),
            "n": row.is_announced or None,
            **_validators_and_parser(row),
        }
        for row in rows
    )
    cursor.execute(query("upsert_products"), {"items": items, "now": datetime.now(UTC)})
    if cursor.rowcount < len(rows):
        _raise_if_swallowed(cursor, rows)


def _raise_if_swallowed(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> None:
    """Raise if a trigger swallowed a row, rather than another writer stored a newer one.

    Raises:
        BadItem: a row was swallowed.
    """
    stored_versions = _stored_rows(cursor, rows)
    actions = {decide(row, stored_versions.get(i), timedelta.max) for i, row in enumerate(rows)}
    if actions & {"new", "changed"}:
        raise swallowed_row_error("products")


def _validators_and_parser(row: ProductRow) -> dict[str, str | None]:
    validators = row.validators
    return (
        {"g": validators.etag, "l": validators.last_modified, "p": validators.parser}
        if validators is not None
        else {}
    )


def _refresh(
    cursor: extensions.cursor, rows: Sequence[ProductRow], indexes: Sequence[int]
) -> set[int]:
    """Renew scraped_at; return the indexes of rows that another writer had locked."""
    if not indexes:
        return set()
    records: list[dict[str, Any]] = [
        {
            "i": i,
            "s": rows[i].site_id,
            "e": rows[i].external_id,
            "u": rows[i].url,
            "t": rows[i].scraped_at,
            "j": rows[i].job_id,
            **_validators_and_parser(rows[i]),
        }
        for i in indexes
    ]
    cursor.execute(query("refresh_products"), {"rows": _json(records), "now": datetime.now(UTC)})
    return set(indexes) - {i for (i,) in cursor.fetchall()}


def _add_urls(
    cursor: extensions.cursor,
    rows: Sequence[ProductRow],
    batch: Sequence[ProductRow],
    stored_versions: Mapping[int, StoredVersion],
) -> None:
    """Store URLs of products other than the one in the product's own row."""
    further_urls: dict[tuple[str, str], tuple[str, datetime]] = {}
    main_urls = {}
    for i, row in enumerate(batch):
        url = stored_versions[i].url if i in stored_versions else row.url
        main_urls[row.site_id, row.external_id] = url
        if url != row.url:  # the update may replace the product's URL by the new one
            seen_at = stored_versions[i].scraped_at
            further_urls[row.site_id, url] = row.external_id, min(seen_at, row.scraped_at)
    for row in rows:
        if row.url != main_urls[row.site_id, row.external_id]:
            further_urls[row.site_id, row.url] = row.external_id, row.scraped_at
    if further_urls:
        records = _json(
            {"s": site, "u": url, "e": key, "t": scraped_at}
            for (site, url), (key, scraped_at) in further_urls.items()
        )
        cursor.execute(query("add_urls"), {"rows": records})
        if cursor.rowcount < len(further_urls):  # stored already, or swallowed
            cursor.execute(query("count_urls"), {"rows": records})
            if cursor.fetchone() != (len(further_urls),):
                raise swallowed_row_error("product_urls")


def _add_sightings(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> None:
    if not rows:
        return
    sites: dict[tuple[str, str | None], list[ProductRow]] = {}
    for row in rows:
        sites.setdefault((row.site_id, row.job_id), []).append(row)
    records = [
        {
            "s": site,
            "j": job,
            "t": max(row.scraped_at for row in site_rows),
            "k": [row.external_id for row in site_rows],
        }
        for (site, job), site_rows in sites.items()
    ]
    cursor.execute(query("add_sightings"), {"rows": _json(records)})
    if cursor.rowcount < len(records):
        raise swallowed_row_error("sightings")
