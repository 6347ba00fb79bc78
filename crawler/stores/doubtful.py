"""Values that are not believed stay out of the products' table: the last good ones stay in it.

A page's own doubts come from its site's template (`crawler.extract.template`). Two more need the
stored product: a price that became many times what it was, told by one source; and a key under
which another page with another name is stored. A value that the product has already is never
doubtful, and one that a later look tells again is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import attrs
import orjson
from psycopg2 import extensions

from crawler.stores.queries import query
from crawler.stores.rows import ProductRow, digest_of

#: A value that is told again so long after its first time is believed.
SECOND_LOOK = timedelta(hours=1)
#: A product whose own page was not seen for so long gives its key to another page.
_ABANDONED = timedelta(days=7)
#: A price that grew or fell by more needs two sources; by much more, a second look.
_JUMP, _LEAP, _SURE = 5, 20, 0.97
#: Fields that belong together: a new currency beside the old price is no price.
_WITH = {"price": ("regular_price", "currency"), "currency": ("price", "regular_price")}
#: So many prices of a site may jump at once; more are a template's doing.
_FEW = 10
_WORDS = re.compile(r"\w+")
_LASTING = frozenset({"missing", "repeated"})
#: Without these nothing is stored.
_ESSENTIAL = frozenset({"external_id", "name"})


@attrs.frozen
class Stored:
    """What the table holds under a key, as far as doubts need it."""

    item: Mapping[str, Any]
    url: str
    scraped_at: datetime


@attrs.frozen
class Doubtful:
    """One value that was kept out."""

    row: ProductRow
    field: str
    kind: str
    reason: str
    value: Any
    kept: Any

    @property
    def is_essential(self) -> bool:
        """Whether nothing of the page can be stored."""
        return self.field in _ESSENTIAL and self.kept is None


def sort_out(
    cursor: extensions.cursor, rows: Sequence[ProductRow]
) -> tuple[dict[int, ProductRow], list[Doubtful]]:
    """Replace the doubtful values of new and changed *rows* by the stored ones.

    Returns what is stored, by its place in *rows*, and the values that are not.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    stored = _look(cursor, rows)
    told = _told_before(cursor, rows)
    kept: dict[int, ProductRow] = {}
    doubtful: list[Doubtful] = []
    for i, row in enumerate(rows):
        found = [
            doubt
            for doubt in doubts_of(row, stored.get(i))
            if not is_told_again(doubt, told.get((i, doubt.field)))
        ]
        doubtful += found
        if not any(doubt.is_essential for doubt in found):
            kept[i] = _without(row, found, stored.get(i)) if found else row
    return kept, doubtful


def write_doubtful(cursor: extensions.cursor, found: Sequence[Doubtful]) -> None:
    """Store the values that are not believed, the newest of each field.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    unique = {(*_key(doubt.row), doubt.field): doubt for doubt in found}
    made = [
        {
            "s": site,
            "e": key,
            "f": field,
            "d": doubt.kind,
            "r": doubt.reason[:500],
            "u": doubt.row.url,
            "v": doubt.value,
            "k": doubt.kept,
            "t": doubt.row.scraped_at,
        }
        for (site, key, field), doubt in sorted(unique.items(), key=lambda pair: pair[0])
    ]
    if made:
        cursor.execute(query("add_doubtful"), {"rows": orjson.dumps(made).decode()})


def settle_doubts(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> None:
    """Forget the doubts about products that are stored without any now.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    if rows:
        keys = [{"s": row.site_id, "e": row.external_id, "t": row.scraped_at} for row in rows]
        cursor.execute(query("settle_doubtful"), {"rows": orjson.dumps(keys).decode()})


def _look(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> dict[int, Stored]:
    keys = [
        {"i": i, "s": row.site_id, "e": row.external_id, "d": bool(row.doubts)}
        for i, row in enumerate(rows)
    ]
    cursor.execute(query("look_closer"), {"keys": orjson.dumps(keys).decode()})
    return {i: Stored(item, url, scraped_at) for i, item, url, scraped_at in cursor.fetchall()}


def _told_before(
    cursor: extensions.cursor, rows: Sequence[ProductRow]
) -> dict[tuple[int, str], tuple[Any, datetime, int]]:
    keys = [{"i": i, "s": row.site_id, "e": row.external_id} for i, row in enumerate(rows)]
    cursor.execute(query("find_doubtful"), {"keys": orjson.dumps(keys).decode()})
    return {(i, field): (value, at, jumps) for i, field, value, at, jumps in cursor.fetchall()}


def doubts_of(row: ProductRow, stored: Stored | None) -> list[Doubtful]:
    """What is doubtful of a row, beside what is stored under its key: pure."""
    item = orjson.loads(row.body)
    before: Mapping[str, Any] = stored.item if stored is not None else {}
    if stored is not None and (reason := _claim(item, row, stored)):
        return [Doubtful(row, "external_id", "conflict", reason, item, None)]
    found = [
        Doubtful(row, field, kind, reason, item.get(field), before.get(field))
        for field, (kind, reason) in row.doubts.items()
        if (item.get(field) != before.get(field) if stored is not None else kind != "make")
    ]
    if "price" not in row.doubts and (reason := _jump(item, before)):
        found.append(Doubtful(row, "price", "jump", reason, item["price"], before["price"]))
    return found


def _claim(item: Mapping[str, Any], row: ProductRow, stored: Stored) -> str | None:
    """Why a page is another product's than the one that is stored under its key; None: it is not.

    One product has many addresses, and a name may change with its address: only another name at
    another address, while the stored one was seen of late, is a conflict.
    """
    if row.url == stored.url or row.scraped_at - stored.scraped_at > _ABANDONED:
        return None
    if item.get("canonical_url") in {stored.url, stored.item.get("canonical_url", "")}:
        return None
    gtins = item.get("gtin"), stored.item.get("gtin")
    if gtins[0] is not None and gtins[0] == gtins[1]:
        return None
    mine, other = (_words(told.get("name")) for told in (item, stored.item))
    if 2 * len(mine & other) >= min(len(mine), len(other)):
        return None
    return f"its key is that of {str(stored.item.get('name'))[:80]!r} at {stored.url[:200]}"


def _jump(item: Mapping[str, Any], before: Mapping[str, Any]) -> str | None:
    """Why a new price is not believed at once; None: it is."""
    now, was = _amount(item.get("price")), _amount(before.get("price"))
    if not now or not was or item.get("currency") != before.get("currency"):
        return None
    times = max(now / was, was / now)
    sure = item.get("confidence", {}).get("price", 1) >= _SURE
    if times < _JUMP or (times < _LEAP and sure):
        return None
    return f"it was {was}, and {'one source tells' if not sure else 'now is'} {now}"


def _amount(value: Any) -> Decimal | None:
    return Decimal(str(value)) if isinstance(value, str | int | float) else None


def _words(name: Any) -> set[str]:
    return set(_WORDS.findall(str(name or "").casefold()))


def is_told_again(doubt: Doubtful, before: tuple[Any, datetime, int] | None) -> bool:
    """Whether a later look tells the same value, so that it is believed.

    What a template lacks it lacks each time; and where many prices of a site have jumped, the
    template tells something else, each time as well.
    """
    if before is None or doubt.kind in _LASTING or doubt.field == "external_id":
        return False
    value, first_at, jumps = before
    if doubt.kind in {"jump", "make"} and jumps > _FEW:
        return False
    return bool(value == doubt.value and doubt.row.scraped_at - first_at >= SECOND_LOOK)


def _without(row: ProductRow, found: Iterable[Doubtful], stored: Stored | None) -> ProductRow:
    item = orjson.loads(row.body)
    before: Mapping[str, Any] = stored.item if stored is not None else {}
    for doubt in found:
        _put(item, doubt.field, doubt.kept)
        for name in _WITH.get(doubt.field, ()):
            _put(item, name, before.get(name))
    return attrs.evolve(row, body=orjson.dumps(item), content_hash=digest_of(item))


def _put(item: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        item.pop(name, None)
    else:
        item[name] = value


def _key(row: ProductRow) -> tuple[str, str]:
    return row.site_id, row.external_id
