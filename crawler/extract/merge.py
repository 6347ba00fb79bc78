"""Merging of a page's sources: where they differ, one source's value wins for each field."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from crawler.extract import lazy_patterns, name_choice
from crawler.extract.currency_choice import choose_currency
from crawler.extract.external_id import identify
from crawler.extract.fields import Fields
from crawler.extract.gtin import has_check_digit
from crawler.extract.money import cents
from crawler.extract.money.amounts import amount, find_prices, grouped
from crawler.extract.money.currencies import TOMAN, share_a_sign
from crawler.extract.page.lines import HIDDEN
from crawler.extract.page.page import Page, without_scripts
from crawler.extract.price.other_amounts import WITH_TAX
from crawler.extract.price.tax_rates import may_be_reduction, taxed_by
from crawler.extract.price.words_beside import says_from
from crawler.extract.scripts import state
from crawler.extract.shop_name_in_title import name_from_title, names_shop, without_site_name
from crawler.extract.shop_number import set_number, set_vendor
from crawler.extract.shown_price import (
    MAX_PRICE_DISTANCE,
    MAX_TAX_LINES,
    contains_price,
    drop_stale_price,
    is_beside_name,
    is_near_name,
)
from crawler.extract.stock.availability import UNAVAILABLE
from crawler.extract.visible.page_currency import currency_of_place
from crawler.extract.visible_signs import Visible

#: The price of a product's dearest variant, in JSON and in markup.
_HIGH_PRICE = lazy_patterns.pattern(
    rb"[Hh]igh[Pp]rice[\"'](?:\s{0,9}:|\s{1,9}content\s?=)\s{0,9}[\"']?(\d(?:[\d.,]{0,13}\d)?)"
)
#: The same for a price in a price box without its currency.
_MAX_BARE_DISTANCE = 23
#: The same for a price that is the highest one of the data's range.
_MAX_HIGHEST_DISTANCE = 40
#: Fields of which the value of a less trusted source may be better.
_IMPROVABLE_FIELDS = frozenset({"price", "gtin", "brand"})
_NO_FIELDS: Fields = {}
#: Availabilities of what has to be ordered, and those that themes write of all their products.
_ORDERED = frozenset({"PreOrder", "BackOrder"})
_NONE: frozenset[str] = frozenset()
_FEW_LEFT = frozenset({"LimitedAvailability"})
_DEFAULT_STOCKS = frozenset({"InStock", *_FEW_LEFT})
_SOLD_OUT = frozenset({"OutOfStock", "SoldOut"})
#: Sources that follow schema.org.
STRUCTURED = ("json-ld", "microdata", "rdfa")
#: The source of values that a repair of JSON-LD guessed.
GUESSED = "repaired"
#: The sources of a page, the most trusted first; of a field's values, the first source's wins.
ORDER = (*STRUCTURED, "opengraph", "state", "text", GUESSED)
_SOURCES = frozenset(ORDER)


def merged(
    offered: dict[str, Fields], site: str = "", page: Page | None = None
) -> tuple[Fields, dict[str, str]]:
    """Return each field's value and its source, which is the first in ORDER that has a value.

    A brand that is the shop's name on the *page* gives way to another brand.

    Raises ValueError where a source is not in ORDER, because its values would be lost.
    """
    if not _SOURCES.issuperset(offered):
        raise ValueError(f"{sorted(offered.keys() - _SOURCES)}: not in tuple ORDER")
    fields: Fields = {}
    sources: dict[str, str] = {}
    for source in filter(offered.get, ORDER):
        values = offered[source]
        if not fields:
            fields, sources = dict(values), dict.fromkeys(values, source)
            continue
        for name, value in values.items():
            if name not in fields:  # true of most values
                fields[name], sources[name] = value, source
            elif name == "attributes":
                fields[name] = {**value, **fields[name]}
            elif name in _IMPROVABLE_FIELDS and _is_better(name, value, fields[name], page):
                fields[name], sources[name] = value, source
    if sources.get("name") in STRUCTURED:
        fields["name"] = without_site_name(fields["name"], site)
    if "text" in offered:
        _fit(fields, sources, offered)
    return fields, sources


def _fit(fields: Fields, sources: dict[str, str], offered: dict[str, Fields]) -> None:
    """Fit the values of several sources together: prices and currency, a name with a slogan."""
    if sources.get("currency") != sources.get("price") or "regular_price" in sources:
        _fit_price(fields, sources, offered)
    # Shops add their own name and a slogan to og:title; the heading is the bare name.
    name = offered["text"].get("name") if sources.get("name") == "opengraph" else None
    if name and name_choice.adds_to_heading(fields["name"], name):
        fields["name"], sources["name"] = name, "text"


def _fit_price(fields: Fields, sources: dict[str, str], offered: dict[str, Fields]) -> None:
    """Drop the regular price of another price, and prefer the currency of a source with the price."""
    price, regular, currency = map(fields.get, ("price", "regular_price", "currency"))
    if regular is not None:
        missing = None if sources["regular_price"] == "text" else price
        if offered[sources["regular_price"]].get("price", missing) != price:
            del fields["regular_price"], sources["regular_price"]
    if price and currency and offered[sources["currency"]].get("price", price) != price:
        same = (s for s in ORDER if offered.get(s, _NO_FIELDS).get("price") == price)
        if source := next((s for s in same if "currency" in offered[s]), None):
            fields["currency"], sources["currency"] = offered[source]["currency"], source


def take_guesses(offered: dict[str, Fields], page: Page) -> Fields:
    """Remove and return the fields of JSON-LD whose text has an end that a repair guessed."""
    jsonld_fields = offered.get("json-ld", {}) if page.guessed_texts else {}
    names = [
        name
        for name, text in jsonld_fields.items()
        if isinstance(text, str) and text in page.guessed_texts
    ]
    return {name: jsonld_fields.pop(name) for name in names}


def _is_better(name: str, value: Any, trusted_value: Any, page: Page | None) -> bool:
    """Return whether a value replaces that of a more trusted source.

    A price of 0 is a template's gap where another source has a price, and a barcode with a wrong
    check digit has lost digits. Themes write the shop's name as the brand of all its products.
    """
    if value == trusted_value:
        return False
    if name == "brand":
        return names_shop(trusted_value, page) and trusted_value.casefold() not in value.casefold()
    if name == "price":
        return bool(value) and not trusted_value
    return name == "gtin" and has_check_digit(value) and not has_check_digit(trusted_value)


def disputed(offered: dict[str, Fields]) -> bool:
    """Return whether the page's meta elements have another price than its structured data.

    One of them is stale, without tax, or the regular price; the page's other sources decide.
    """
    structured_price, tag_price = (
        _structured_price(offered),
        offered.get("opengraph", {}).get("price"),
    )
    return bool(structured_price and tag_price and structured_price != tag_price)


def outvote(offered: dict[str, Fields], raw: bytes) -> None:
    """Replace structured data's price where two other sources agree, and none agrees with it.

    It is the regular price if it is higher and the page shows it, too; else it is stale.
    """
    structured_price = _structured_price(offered)
    prices = [offered.get(source, {}).get("price") for source in ("opengraph", "state", "text")]
    stated_prices = [price for price in prices if price]
    agreed = next((price for price in stated_prices if stated_prices.count(price) > 1), None)
    if structured_price is None or agreed is None or structured_price in stated_prices:
        return
    for source in STRUCTURED:
        if "price" in offered.get(source, ()):
            fields = offered[source]
            fields["price"] = agreed
            is_regular = structured_price > agreed and "regular_price" not in offered.get(
                "text", ()
            )
            if is_regular and contains_price(structured_price, without_scripts(raw), cents=True):
                fields.setdefault("regular_price", structured_price)
            if stock := offered.get("text", {}).get("availability"):
                fields["availability"] = stock  # a source with a stale price has a stale stock


def weigh_shown(offered: dict[str, Fields], visible: Visible, page: Page, known: Fields) -> None:
    """Correct the data of a page, with the merged fields *known*, by what the page shows."""
    if visible.fields.get("price") not in {None, known.get("price")}:
        _take_shown_variant(offered, visible, page.url)
        _take_variant_price(offered, visible, page.raw)
        drop_stale_price(offered, visible, page.raw)
        _drop_regular_price(offered, visible.reduced)
        _drop_net_price(offered, visible)
        if is_beside_name(visible):
            cents.in_shown_units(offered)
    if visible.fields.get("currency") not in {None, known.get("currency")}:
        _drop_default_currency(offered, visible)
        _drop_converted_price(offered, visible, page)
    if visible.sells and known.get("availability") in UNAVAILABLE:
        _drop_stock_of_variant(offered, visible.fields.get("sku"))
    _take_unavailability(offered, visible)


def _take_shown_variant(offered: dict[str, Fields], visible: Visible, url: str) -> None:
    """Take the price beside the name if it is that of one of the variants in structured data.

    The data's price is that of their first variant, unless a query names another one. "From" stands
    before the price of the cheapest one, which may not be the page's.
    """
    shown_price = visible.fields.get("price")
    if "?" in url or not is_near_name(visible) or says_from(visible.words_before):
        return
    for fields in filter(None, map(offered.get, STRUCTURED)):
        variants = fields.get("variants", ())
        if any(variant.get("price") == shown_price for variant in variants):
            fields["price"] = shown_price


def _take_variant_price(offered: dict[str, Fields], visible: Visible, raw: bytes) -> None:
    """Take the visible variant's price where structured data has a range of prices.

    The amount has to stand near the heading, and within the range. It may stand farther off where
    it is the highest of the range: the lowest is then that of many pieces, or of paying at once.
    """
    shown_price, lowest = visible.fields.get("price"), _structured_price(offered)
    if (
        shown_price is None
        or lowest is None
        or not lowest < shown_price
        or (visible.price_is_loose and not visible.price_marked)
    ):
        return
    distance = visible.price_distance or 0
    if distance > _MAX_HIGHEST_DISTANCE or (high_price := _HIGH_PRICE.search(raw)) is None:
        return
    highest = amount(high_price[1].decode())
    if highest is None or shown_price > highest:
        return
    limit = MAX_PRICE_DISTANCE if "currency" in visible.fields else _MAX_BARE_DISTANCE
    if distance > limit and shown_price != highest:
        return
    for source in STRUCTURED:
        if offered.get(source, {}).get("price") == lowest:
            offered[source]["price"] = shown_price


def _drop_regular_price(offered: dict[str, Fields], marked: bool) -> None:
    """Drop the price of sources that have the regular price, if the page *marked* it as regular."""
    if not marked:
        return
    before = offered["text"].get("regular_price")
    stated = _structured_price(offered) or offered.get("opengraph", _NO_FIELDS).get("price")
    if before is None or stated != before:
        return
    for source, fields in offered.items():
        if source != "text" and fields.get("price") == before:
            del fields["price"]


def _drop_converted_price(offered: dict[str, Fields], visible: Visible, page: Page) -> None:
    """Drop the meta elements' price in a currency other than that of the price beside the name.

    Shops that convert their prices leave these elements in the currency of another visitor.
    """
    tags, shown = offered["opengraph"], visible.fields
    tag_currency, currency = tags.get("currency"), shown.get("currency")
    if not (tag_currency and currency and tag_currency != currency and "price" in tags):
        return
    if tags["price"] == shown.get("price") or not is_beside_name(visible):
        return
    is_guessed = share_a_sign(currency, tag_currency) and currency_of_place(page) is None
    if _structured_price(offered) is None and not is_guessed:
        for name in ("price", "currency", "regular_price"):
            tags.pop(name, None)


def _drop_default_currency(offered: dict[str, Fields], visible: Visible) -> None:
    """Drop the currency of data that has the amount beside the name in another than the page.

    Themes write their default currency; a currency with the same sign is none that the page shows,
    unless its code stands beside the amount: then the data has that one.
    """
    is_spelled = visible.spells_currency and not visible.price_is_loose
    price, currency = visible.fields.get("price"), visible.fields.get("currency")
    for fields in offered.values():
        stated = fields.get("currency")
        if stated == currency or stated is None or fields.get("price", price) != price:
            continue  # a source whose price was dropped has a stale currency, too
        if not share_a_sign(stated, currency):
            if stated != TOMAN and is_beside_name(visible):
                del fields["currency"]
        elif is_spelled and "price" in fields:
            fields["currency"] = currency


def _drop_net_price(offered: dict[str, Fields], visible: Visible) -> None:
    """Drop the price of sources that have it without tax, if the page shows it with its tax.

    The same price in another currency is without tax, too.
    """
    if visible.price_is_loose:
        return
    net = visible.net_price or _untaxed_price(offered, visible)
    if net is None:
        return
    # Shops that show whole units round what their data has with cents.
    error = 0 if net % 1 else 1
    shown_currency = visible.fields.get("currency")
    for source, fields in offered.items():
        price = fields.get("price")
        if source == "text" or not price:
            continue
        is_foreign = shown_currency and fields.get("currency", shown_currency) != shown_currency
        if price == net or abs(price - net) < error or is_foreign:
            del fields["price"]


def _untaxed_price(offered: dict[str, Fields], visible: Visible) -> Decimal | None:
    """Return structured data's price, else the scripts', if the page shows that price and its tax.

    Words have to say that the tax is included, where the ratio of the two may be a reduction, and
    where the page shows structured data's price as well.
    """
    shown = visible.fields.get("price")
    price = _structured_price(offered) or offered.get("state", _NO_FIELDS).get("price")
    if not price or not shown or price >= shown or not is_near_name(visible):
        return None
    ratio = taxed_by(price, shown)
    if ratio is None:
        return None
    first = visible.price_line or 0
    near = [line for line in visible.lines if 0 <= line.index - first <= MAX_TAX_LINES]
    if any(WITH_TAX(line.text) for line in near):
        return price
    if not visible.price_marked:
        return None
    shown_texts = (line.text for line in near if not line.flags & HIDDEN)
    is_shown = any(money.value == price for text in shown_texts for money in find_prices(text))
    # What is reduced already is not the price before another reduction.
    is_unsure = may_be_reduction(ratio) and not visible.reduced
    return None if is_shown or is_unsure else price


def _take_unavailability(offered: dict[str, Fields], visible: Visible) -> None:
    """Take the visible availability where data has one that themes write of all their products."""
    stock = visible.fields.get("availability")
    if not stock and visible.sells and not visible.on_request:
        visible.fields["availability"] = "InStock"  # a button sells it, a script may draw its price
    if stock in _ORDERED:
        in_scripts = offered.get("state", _NO_FIELDS)
        if in_scripts.get("availability") in UNAVAILABLE:
            in_scripts["availability"] = stock  # scripts count pieces, and there are none yet
    if stock == "InStock":  # a box for the stock and a button outweigh another day's data
        stale = _SOLD_OUT if visible.sells and visible.stock_boxed else _NONE
    else:
        stale = _outweighed(stock, visible) if stock else _NONE
    for source in (*STRUCTURED, "opengraph") if stale else ():
        fields = offered.get(source, _NO_FIELDS)
        if fields.get("availability") in stale and "variants" not in fields:
            fields["availability"] = stock


def _drop_stock_of_variant(offered: dict[str, Fields], number: str | None) -> None:
    """Drop a missing stock that data has of one variant: the variant's number begins as *number*."""
    for fields in filter(None, map(offered.get, STRUCTURED)):
        own_number = fields.get("sku")
        if number and own_number and own_number != number and own_number.startswith(number):
            fields.pop("availability", None)


def _outweighed(stock: str | None, visible: Visible) -> frozenset[str]:
    """Return the availabilities in data that a visible one outweighs.

    A button sells what can be ordered, and not what cannot be had. Without a box for the stock,
    words may be about something else than the product.
    """
    if stock in _ORDERED:
        # Themes know two states, and call what has to be ordered out of stock.
        # PrestaShop calls all of it a pre-order.
        return _DEFAULT_STOCKS | UNAVAILABLE | _ORDERED if visible.stock_boxed else _NONE
    if stock == "InStoreOnly":
        return _NONE if visible.sells else _DEFAULT_STOCKS | UNAVAILABLE
    if stock not in UNAVAILABLE or visible.sells:
        return _NONE
    if visible.stock_boxed or stock == "Discontinued":
        return _DEFAULT_STOCKS
    return _FEW_LEFT


def drop_zero_prices(offered: dict[str, Fields]) -> None:
    """Drop a page's data with a price of 0, which templates write where the shop has no price."""
    for source in (*STRUCTURED, "opengraph"):
        fields = offered.get(source, {})
        if "price" in fields and not fields["price"]:
            del fields["price"]
            fields.pop("currency", None)


def drop_hidden_price(offered: dict[str, Fields]) -> None:
    """Drop the price in a page's scripts, because the shop shows it after a login only."""
    for name in ("price", "regular_price", "currency"):
        offered.get("state", {}).pop(name, None)


def in_rials(offered: dict[str, Fields]) -> None:
    """Convert tomans to rials; those of the visible text are converted already.

    Some templates label tomans as rials; the price that the page shows is then ten times as high.
    """
    text_fields = offered.get("text", {})
    shown_price = text_fields.get("price") if text_fields.get("currency") == "IRR" else None
    for fields in offered.values():
        code, price = fields.get("currency"), fields.get("price")
        if code == TOMAN or (
            shown_price and price and code in {"IRR", None} and 10 * price == shown_price
        ):
            fields["currency"] = "IRR"
            for name in ("price", "regular_price"):
                if name in fields:
                    fields[name] *= 10


def _structured_price(offered: dict[str, Fields]) -> Decimal | None:
    prices: Any = (offered[s]["price"] for s in STRUCTURED if "price" in offered.get(s, ()))
    return next(prices, None)


def complete(
    fields: Fields, sources: dict[str, str], page: Page, offered: dict[str, Fields]
) -> None:
    """Complete the merged fields: addresses, identifiers, the currency of bare numbers."""
    links = (page.resolve(link) for link in fields.get("images", []))
    fields["images"] = list(dict.fromkeys(link for link in links if link))
    if not fields.get("name"):
        name = name_from_title(page.title, page.url)
        if name:
            fields["name"], sources["name"] = name, "text"
    if "price" in fields:
        fields["price"] = grouped(fields["price"], page.raw)
    fields["canonical_url"] = page.canonical
    identify(fields, sources, page)
    set_number(fields, sources, offered.get("text", {}), page)
    set_vendor(fields, sources, page)
    _set_stock(fields, sources, page)
    if fields.get("price") == 0 and fields.get("availability") in UNAVAILABLE:
        for name in ("price", "currency"):  # a template's number in place of none
            fields.pop(name, None)
            sources.pop(name, None)
    choose_currency(fields, sources, page)
    regular = fields.get("regular_price")
    if regular is not None and (fields.get("price") is None or regular <= fields["price"]):
        fields.pop("regular_price")
        sources.pop("regular_price", None)


def _set_stock(fields: Fields, sources: dict[str, str], page: Page) -> None:
    """Take the stock from attributes of the page's elements, where no other source has it."""
    if "price" in fields and fields.get("availability") is None:
        stock = state.stated_stock(page)
        if stock is not None:
            fields["availability"], sources["availability"] = stock, "state"
