"""Doubtful values stay out of the products' table: the last good ones stay in it.

A page's own doubts come from its site's template (`crawler.extract.template`). Two more need the
stored product: a price that became many times what it was, told by one source, or is in another
currency; and a key under which another page with another name is stored. A value that the product
has already is not doubtful, unless it came with those that repeat on all pages since; and one that
a later look tells again is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import attrs
import orjson
from psycopg2 import extensions

from crawler.extract.template.mass_changes import amount
from crawler.extract.template.observation import FIELDS
from crawler.stores.content_hash import MEANINGFUL, digest_of
from crawler.stores.queries import query
from crawler.stores.rows import ProductRow, fitting
from scrapy_seine.records import Value
from scrapy_seine.sinks.postgres.database import transaction

#: A value that is told again so long after its first time is believed.
SECOND_LOOK = timedelta(hours=1)
#: For so long an operator's word for a site's field holds.
ACCEPTED_FOR = timedelta(days=1)
#: A product whose own page was not seen for so long gives its key to another page.
_ABANDONED = timedelta(days=7)
#: A price that grew or fell by more needs two sources; by much more, a second look.
_JUMP, _LEAP, _SURE = 5, 20, 0.97
#: Fields that belong together: a new currency beside the old price is no price.
_WITH = {"price": ("regular_price", "currency"), "currency": ("price", "regular_price")}
#: So many prices of a site may jump at once; more are a template's doing.
_FEW = 10
_WORDS = re.compile(r"\w+")
#: What a page contradicts itself by, or lacks, does so each time.
_LASTING = frozenset({"missing", "repeated", "order", "cut"})
#: What was noticed on several pages: the first ones are stored by then.
_TAKEN_BACK = frozenset({"repeated", "changed"})
#: Without these nothing is stored.
_ESSENTIAL = frozenset({"external_id", "name"})


@attrs.frozen(eq=False, repr=False)
class Stored(Value):
    """What the table holds under a key, as far as doubts need it."""

    item: Mapping[str, Any]
    url: str
    scraped_at: datetime
    lately: Mapping[str, Any] = attrs.Factory(dict)
    """What changed within `SECOND_LOOK`, as it was before."""


class Told(NamedTuple):
    """A value that was told before and not believed."""

    value: Any
    first_at: datetime
    jumps: int
    """Prices of the site that are doubtful because they jumped."""
    mixed: bool = False
    """Other products of the site have what this one had, and were seen with it since."""


@attrs.frozen(eq=False, repr=False)
class Doubtful(Value):
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
    doubted = {i: found for i, row in enumerate(rows) if (found := doubts_of(row, stored.get(i)))}
    accepted = _accepted(cursor, {rows[i].site_id for i in doubted})
    for i, row in enumerate(rows):
        found = [
            doubt
            for doubt in doubted.get(i, ())
            if (row.site_id, doubt.field) not in accepted
            and not is_told_again(doubt, told.get((i, doubt.field)))
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


def settle_doubts(
    cursor: extensions.cursor, rows: Sequence[ProductRow], still: Iterable[Doubtful] = ()
) -> None:
    """Forget the doubts about products that are stored without them now.

    Raises:
        psycopg2.Error: the caller rolls back.
    """
    if rows:
        fields: dict[tuple[str, str], list[str]] = {}
        for doubt in still:
            fields.setdefault(_key(doubt.row), []).append(doubt.field)
        keys = [
            {
                "s": row.site_id,
                "e": row.external_id,
                "t": row.scraped_at,
                "f": fields.get(_key(row), []),
            }
            for row in rows
        ]
        cursor.execute(query("settle_doubtful"), {"rows": orjson.dumps(keys).decode()})


def accept(database_url: str, site_id: str, field: str, until: datetime) -> int:
    """Believe what a site's pages tell of a field until then; returns the values that wait.

    Raises:
        StoreUnreachable: the database does not answer.
    """
    given = {"site": site_id, "field": field, "until": until}
    with transaction(database_url) as connection, connection.cursor() as cursor:
        cursor.execute(query("accept_doubts"), given)
        (waiting,) = cursor.fetchone() or (0,)
        return int(waiting)


def _accepted(cursor: extensions.cursor, sites: Iterable[str]) -> set[tuple[str, str]]:
    """Sites and fields whose doubts an operator does not share."""
    if not sites:
        return set()
    cursor.execute(query("accepted_fields"), {"sites": sorted(sites)})
    return set(cursor.fetchall())


def _look(cursor: extensions.cursor, rows: Sequence[ProductRow]) -> dict[int, Stored]:
    keys = [
        {
            "i": i,
            "s": row.site_id,
            "e": row.external_id,
            "d": bool(row.doubts),
            "r": _taken_back(row),
            "t": row.scraped_at - SECOND_LOOK,
        }
        for i, row in enumerate(rows)
    ]
    cursor.execute(query("look_closer"), {"keys": orjson.dumps(keys).decode()})
    return {i: Stored(*told) for i, *told in cursor.fetchall()}


def _taken_back(row: ProductRow) -> list[str]:
    """The fields whose value of before a first wrong page has to be known."""
    if _is_no_products(row):
        return list(FIELDS)
    return [field for field, (kind, _) in row.doubts.items() if kind in _TAKEN_BACK]


def _is_no_products(row: ProductRow) -> bool:
    """Whether a page is no product's, because many pages in a row have the same name."""
    return row.doubts.get("name", ("", ""))[0] == "repeated"


def _told_before(
    cursor: extensions.cursor, rows: Sequence[ProductRow]
) -> dict[tuple[int, str], Told]:
    keys = [{"i": i, "s": row.site_id, "e": row.external_id} for i, row in enumerate(rows)]
    cursor.execute(query("find_doubtful"), {"keys": orjson.dumps(keys).decode()})
    return {(i, field): Told(*told) for i, field, *told in cursor.fetchall()}


def doubts_of(row: ProductRow, stored: Stored | None) -> list[Doubtful]:
    """What is doubtful of a row, beside what is stored under its key: pure."""
    item = orjson.loads(row.body)
    before: Mapping[str, Any] = stored.item if stored is not None else {}
    if stored is not None and (reason := _claim(item, row, stored)):
        return [Doubtful(row, "external_id", "conflict", reason, item, None)]
    found = [
        Doubtful(row, field, _lasting(field, kind, item, before), reason, item.get(field), kept)
        for field, (kind, reason) in row.doubts.items()
        for kept in (_last_good(field, kind, item, stored),)
        if (item.get(field) != kept if stored is not None else _is_of_new(field, kind))
    ]
    if "currency" in row.doubts and not any(doubt.field == "currency" for doubt in found):
        # It is the stored one; a new price may be in another.
        found += _with_currency(row, item, before)
    if "price" not in row.doubts and (reason := _jump(item, before)):
        found.append(Doubtful(row, "price", "jump", reason, item["price"], before["price"]))
    if reason := _cut(item, before):
        found.append(Doubtful(row, "gtin", "cut", reason, item["gtin"], before["gtin"]))
    if "currency" not in row.doubts and (reason := _turn(item, before)):
        found.append(
            Doubtful(row, "currency", "turned", reason, item["currency"], before["currency"])
        )
    return found


def _is_of_new(field: str, kind: str) -> bool:
    """Whether a doubt is about products as well that are not stored yet."""
    return kind != "make" and (kind != "changed" or field == "external_id")


def _lasting(field: str, kind: str, item: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """The kind of a doubt: a price in a new place that is the one before a reduction stays one."""
    regular = amount(before.get("regular_price"))
    left = field == "price" and kind == "place" and regular is not None
    return "order" if left and amount(item.get("price")) == regular else kind


def _with_currency(
    row: ProductRow, item: Mapping[str, Any], before: Mapping[str, Any]
) -> list[Doubtful]:
    """The doubt about a new price whose currency is doubtful."""
    now, was = item.get("price"), before.get("price")
    if "price" in row.doubts or was is None or now == was:
        return []
    kind, reason = row.doubts["currency"]
    return [Doubtful(row, "price", kind, f"its currency: {reason}", now, was)]


def _last_good(field: str, kind: str, item: Mapping[str, Any], stored: Stored | None) -> Any:
    """The value that stays: of one that repeats and came of late, what was there before it."""
    before = None if stored is None else stored.item.get(field)
    if stored is None or kind not in _TAKEN_BACK or item.get(field) != before:
        return before
    return stored.lately.get(field, before)


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
    now, was = amount(item.get("price")), amount(before.get("price"))
    if not now or not was or item.get("currency") != before.get("currency"):
        return None
    if now < was == amount(item.get("regular_price")):
        return None  # a sale: the page shows the price of before as such
    times = max(now / was, was / now)
    sure = item.get("confidence", {}).get("price", 1) >= _SURE
    if times < _JUMP or (times < _LEAP and sure):
        return None
    return f"it was {was}, and {'one source says' if not sure else 'now is'} {now}"


def _cut(item: Mapping[str, Any], before: Mapping[str, Any]) -> str | None:
    """Why a barcode is not believed: it is a part of the stored one; None: it is not.

    One of ten shortened ones ends in a right check digit by chance. Zeros before it are no loss.
    """
    now, was = str(item.get("gtin") or ""), str(before.get("gtin") or "")
    if not now or len(now) >= len(was) or now not in was or was.lstrip("0") == now.lstrip("0"):
        return None
    return f"it is a part of {was}, which the page had before"


def _turn(item: Mapping[str, Any], before: Mapping[str, Any]) -> str | None:
    """Why another currency is not believed at once; None: it is.

    Shops take a currency by the country that asks, which is that of a worker's exit.
    """
    now, was = item.get("currency"), before.get("currency")
    if not now or not was or now == was:
        return None
    return f"the price was in {was}, and is in {now} now: does the worker ask from another country?"


def _words(name: Any) -> set[str]:
    return set(_WORDS.findall(str(name or "").casefold()))


def is_told_again(doubt: Doubtful, before: Told | None) -> bool:
    """Whether a later look tells the same value, so that it is believed.

    What a template lacks it lacks each time; where many prices of a site have jumped, the template
    tells something else, each time as well; and a currency that other products do not have changes
    with who asks.
    """
    if before is None or doubt.kind in _LASTING:
        return False
    if doubt.field == "external_id" and doubt.kind != "changed":
        return False
    if doubt.kind in {"jump", "make"} and before.jumps > _FEW:
        return False
    if doubt.field == "currency" and before.mixed:
        return False
    later = doubt.row.scraped_at - before.first_at >= SECOND_LOOK
    return bool(before.value == doubt.value and later)


def _without(row: ProductRow, found: Iterable[Doubtful], stored: Stored | None) -> ProductRow:
    item = orjson.loads(row.body)
    before: Mapping[str, Any] = stored.item if stored is not None else {}
    if stored is not None and _is_no_products(row):
        for name in MEANINGFUL:
            _put(item, name, stored.lately.get(name, before.get(name)))
    for doubt in found:
        _put(item, doubt.field, doubt.kept)
        for name in _WITH.get(doubt.field, ()):
            _put(item, name, before.get(name))
    return attrs.evolve(row, body=fitting(orjson.dumps(item)), content_hash=digest_of(item))


def _put(item: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        item.pop(name, None)
    else:
        item[name] = value


def _key(row: ProductRow) -> tuple[str, str]:
    return row.site_id, row.external_id
