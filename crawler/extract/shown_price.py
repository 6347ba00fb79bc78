"""What a page shows of a price, and the price of its data that is stale beside it."""

from __future__ import annotations

import re
from decimal import Decimal
from html import unescape
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.page import without_scripts
from crawler.extract.price.other_amounts import WITH_TAX, WITHOUT_TAX
from crawler.extract.price.tax_rates import may_be_reduction, taxed_by
from crawler.extract.price.words_beside import says_from
from crawler.extract.visible_signs import Visible

#: Separators of groups of three digits.
_GROUPS = rb"(?:[.,' ]|\xc2\xa0|\xe2\x80[\x89\xaf]|&nbsp;)?"
#: Lines at most from the heading to the price of the product that it names.
MAX_PRICE_DISTANCE = 15
#: Lines from the price to the words for its tax.
MAX_TAX_LINES = 3
#: Whole units of a price from which on its digits are no coincidence.
_MANY_DIGITS = 100
#: Places of a number in a page that are looked at, and bytes around each.
_MAX_PLACES, _AROUND = 100, 40
#: A tag, or the part of one at the begin or end of a text.
_TAGS = lazy_patterns.pattern(rb"^[^<>]*>|<[^<>]*>|<[^<>]*$")
#: A meta element, which nobody sees.
_META = lazy_patterns.pattern(rb"(?i)<meta\s[^>]{0,2000}>")
_NO_FIELDS: Fields = {}


def is_beside_name(visible: Visible) -> bool:
    """Whether the visible price stands near the heading in a box for prices."""
    return visible.price_marked and is_near_name(visible)


def is_near_name(visible: Visible) -> bool:
    """Whether the visible price stands near the heading, in whatever box."""
    if visible.price_is_loose or visible.price_after_link:
        return False
    return (visible.price_distance or 0) <= MAX_PRICE_DISTANCE


def contains_price(price: Decimal, body: bytes, *, cents: bool = False) -> bool:
    """Return whether a page contains a price's whole units, with or without groups of three.

    With *cents*, its cents have to follow, if it has any.
    """
    groups = f"{int(price):,}".encode().split(b",")
    end = rb"[.,]%02d" % int(price % 1 * 100) if cents and price % 1 else b""
    return re.search(rb"(?<!\d)" + _GROUPS.join(groups) + end + rb"(?!\d)", body) is not None


def shows_price(price: Decimal, raw: bytes) -> bool:
    """Return whether a page contains a price's whole units outside of scripts."""
    return contains_price(price, without_scripts(raw))


def _shows_amount(price: Decimal, body: bytes) -> bool:
    """Whether a page contains a price: one of few digits as an amount, and not as any number."""
    is_long = price >= _MANY_DIGITS or price != round(price, 2)  # 1.299 may be a thousand
    if is_long or not contains_price(price, body):
        return contains_price(price, body)
    number = re.compile(rb"(?<![\d.,])%d(?!\d)" % int(price))
    for match in islice(number.finditer(body), _MAX_PLACES):
        around = body[max(0, match.start() - _AROUND) : match.end() + _AROUND]
        text = " ".join(unescape(_TAGS.sub(b" | ", around).decode("utf-8", "replace")).split())
        if any(money.value == price for money in find_prices(text) if money.currency):
            return True
        if price % 1 and contains_price(price, around, cents=True):
            return True
    return False


def _may_lack_tax(visible: Visible, shown: Decimal, stated: Decimal) -> bool:
    """Whether the visible price may be the other one without its tax, by their ratio or by words."""
    first = visible.price_line or 0
    near = [line for line in visible.lines if 0 <= line.index - first <= MAX_TAX_LINES]
    if any(WITHOUT_TAX(line.text) for line in near):
        return True
    ratio = taxed_by(shown, stated)
    if ratio is None or may_be_reduction(ratio):
        return False
    return not any(WITH_TAX(line.text) for line in near)


def _is_in_attribute(price: Decimal, body: bytes) -> bool:
    """Return whether an attribute's value is the price, with or without zeros at its end."""
    plain = f"{price.normalize():f}".encode()
    attribute = (
        rb"=\s?[\"']" + re.escape(plain) + (rb"0{0,4}" if b"." in plain else rb"(?:\.0{1,4})?")
    )
    return re.search(attribute + rb"[\"']", body) is not None


def drop_stale_price(offered: dict[str, Fields], visible: Visible, raw: bytes) -> None:
    """Drop a stale price of JSON-LD, or of OpenGraph alone, beside which the page shows another one.

    No other source may have the stale price. The visible one has to stand near the heading in a box
    for prices, and in an attribute; the stale one nowhere outside of scripts and meta elements.
    Beside the price before its reduction, and no other amount that may be the price, it is right as
    well, because an instalment has none; the data keep their price then, so that the two differ
    where the site's other pages are compared.
    """
    source = stated_source(offered)
    structured = offered.get(source, _NO_FIELDS)
    stated_price, shown_price = structured.get("price"), visible.fields.get("price")
    if (
        not stated_price
        or not shown_price
        or stated_price == shown_price
        or not is_beside_name(visible)
    ):
        return
    if visible.fields.get("currency") != structured.get("currency"):
        return
    if any(
        offered.get(name, _NO_FIELDS).get("price", shown_price) != shown_price
        for name in ("microdata", "rdfa", "opengraph", "state")
        if name != source
    ):
        return
    body = without_scripts(raw)
    if source != "json-ld":
        body = _META.sub(b"", body)
    if _is_in_attribute(shown_price, body) and not contains_price(stated_price, body):
        for name in ("price", "currency", "regular_price"):
            structured.pop(name, None)
    elif visible.price_is_sole and not says_from(visible.words_before):
        is_shown = _shows_amount(stated_price, body)
        visible.outweighs_data = not is_shown and not _may_lack_tax(
            visible, shown_price, stated_price
        )


def stated_source(offered: dict[str, Fields]) -> str:
    """Return the source whose price may be stale: JSON-LD, without a price there OpenGraph."""
    return "json-ld" if offered.get("json-ld", _NO_FIELDS).get("price") else "opengraph"


def take_stated_price(fields: Fields, sources: dict[str, str], offered: dict[str, Fields]) -> None:
    """Take the data's price again, because the site's other pages decide."""
    source = stated_source(offered)
    structured = offered.get(source, _NO_FIELDS)
    for name in ("price", "regular_price"):
        fields.pop(name, None)
        sources.pop(name, None)
        if name in structured:
            fields[name], sources[name] = structured[name], source


def take_shown_price(fields: Fields, sources: dict[str, str], shown: Fields) -> None:
    """Take the visible price and the one before its reduction into the merged fields."""
    for name in ("price", "regular_price"):
        if name in shown:
            fields[name], sources[name] = shown[name], "text"
