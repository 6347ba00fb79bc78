"""A product in the state that a page's scripts start from: Next, Nuxt, inline JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from functools import partial
from html import unescape
from itertools import islice
from typing import Any

import orjson

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.gtin import gtin
from crawler.extract.money.amounts import number, sure_currency
from crawler.extract.money.cents import as_written, counts_in_cents
from crawler.extract.money.currencies import CODES, currency_of
from crawler.extract.page.page import Page, short_text
from crawler.extract.scripts import literal, quoted_json, references, trackers
from crawler.extract.scripts.name_filter import NAMELESS, NameFilter
from crawler.extract.stock.availability import availability
from crawler.extract.structured.nodes import (
    Node,
    as_list,
    first_value,
    plain_text,
    stated_maker,
    stated_text,
    without_tags,
)
from crawler.extract.structured.product_fields import images

#: Characters of one script, and of all scripts of a page together, that are read.
_MAX_SCRIPT_LENGTH, _MAX_LENGTH_OF_ALL = 3_000_000, 6_000_000
#: Mappings with the name of the page's product that are compared.
_MAX_CANDIDATES = 300
#: Nodes of a state that are read, and how deep Nuxt 3's references are followed.
_MAX_NODES, _MAX_DEPTH = 20_000, 12
_MAX_DECIMALS, _MAX_CATEGORIES = 8, 6
#: A name to which an object or a list is assigned, and the words in names of which it is read.
_ASSIGNED = lazy_patterns.pattern(
    r"(\.push|(?<!\w)\w{1,100}+)[\"'\]]*+\s*+[=:(]\s*+(?=[{\[])", re.I
)
_NAMED = lazy_patterns.pattern(
    r"__[a-z_]{1,100}__|\.push|utag|layer|digital|state|product|item|data|meta|config|store", re.I
)
_MAX_VALUES = 12
_FUNCTION = lazy_patterns.pattern(r"__NUXT__\s*+=\s*+(?=\(?\s*+function)")
_ATTRIBUTE = lazy_patterns.pattern(
    rb"=(?:\"(?=\s*+[\[{]++\s*+(?:&quot;|&#34;|&#x22;))|'(?=\s*+[\[{]++\s*+\"))"
)
#: Alpine's attribute holds JavaScript: `x-data="shown({ name: 'lamp' })"`.
_ALPINE_DATA = lazy_patterns.pattern(rb"\sx-data=(\"|')(?=\s*+(?:[\w.$]{1,60}\(\s*+)?\{)")
_PIECE = lazy_patterns.pattern(r"\s*(?:self|window)\.__next_f\.push\(\[1,\s?(?=[\"'])")
#: Angular's escapes for signs that could end a script.
_ESCAPED = lazy_patterns.pattern(r"&([qsalg]);")
_UNESCAPED = {"q": '"', "s": "'", "a": "&", "l": "<", "g": ">"}
_MAX_ROW_NAME = 8
_MAX_ATTRIBUTE_LENGTH = 400_000
_DIVIDERS = lazy_patterns.pattern(r"(?<!\s)\s++[|–—·•-]\s++")
_STATED_CURRENCY = lazy_patterns.pattern(
    rb"urrency(?:[-_]?[cC]ode|_?[iI]so\w{0,20})?[\"']?\s*+[:=,]\s*+(?:\{\s*+[\"']?(?:active|code|iso)[\"']?\s*+:\s*+)?[\"']([A-Z]{3})[\"']"
)
_CODE = lazy_patterns.pattern(r"\b[A-Z]{3}\b")
#: Dollars by the names that shops write instead of their codes.
_DOLLARS = {
    "Canadian Dollar": "CAD", "Australian Dollar": "AUD", "New Zealand Dollar": "NZD",
    "Hong Kong Dollar": "HKD", "Singapore Dollar": "SGD", "US Dollar": "USD",
}  # fmt: skip
_MAX_NAME_LENGTH, _MAX_OPTIONS = 200, 100
_STOCK_ATTRIBUTE = lazy_patterns.pattern(
    rb"\sdata-(?:is-?)?(?:available|in-?stock|purchasable)=[\"'](true|false)[\"']"
)
_NAMES = (
    "name", "title", "productName", "product_name", "displayName", "productTitle", "item_name")  # fmt: skip
_PRICES = (
    "salePrice", "sale_price", "specialPrice", "special_price", "finalPrice", "final_price",
    "currentPrice", "current_price", "price", "priceValue", "sellingPrice", "selling_price",
    "priceAmount", "unitSalePrice", "unitPrice", "prices", "pricing", "priceInfo", "price_min", "minPrice",
    "priceRange", "priceWithTax", "gross", "offers", "offer", "price_range", "discountedPrice",
    "discounted_price", "offerPrice", "offer_price", "buyPrice", "promoPrice")  # fmt: skip
_REGULAR_PRICES = (
    "compare_at_price", "compareAtPrice", "compareAtPriceRange", "listPrice", "list_price", "oldPrice",
    "originalPrice", "original_price", "regularPrice", "regular_price", "wasPrice", "rrp", "msrp", "old_price",
    "strikePrice", "basePrice", "mrp", "mrpPrice", "retailPrice", "retail_price", "fullPrice",
    "priceBeforeDiscount", "price_before_discount", "beforePrice", "strikethroughPrice")  # fmt: skip
_STOCK = (
    "availability", "availabilityStatus", "stockStatus", "stock_status", "inStock", "in_stock", "instock",
    "isInStock", "is_in_stock", "available", "availableForSale", "isAvailable", "inventoryStatus")  # fmt: skip
#: Numbers of pieces in stock.
_QUANTITIES = (
    "countInStock", "quantityAvailable", "availableQuantity", "stockQuantity", "stock_quantity",
    "stockCount", "inventoryQuantity", "inventory_quantity", "stockLevel", "totalInventory")  # fmt: skip
_SKUS = (
    "sku", "articleNumber", "productCode", "item_id", "articleNo", "itemNumber", "itemCode",
    "productNumber", "product_code", "item_code", "code")  # fmt: skip
_CURRENCIES = (
    "currency", "currencyCode", "priceCurrency", "currency_code", "currencyIso", "currencyIsoCode")  # fmt: skip
_AMOUNTS = (
    "centAmount", "amount", "value", "price", "current", "currentPrice", "sale", "salePrice",
    "finalPrice", "final", "minVariantPrice", "min", "lowPrice", "low", "gross", "now", "regular",
    "final_price", "regularPrice", "raw", "minPrice", "priceRange", "net", "minimum_price",
    "minimumPrice", "sellingPrice", "selling_price", "selling", "offerPrice", "discountedPrice",
    "discounted_price", "discounted", "sale_price", "special_price", "specialPrice", "special",
    "current_price", "promo", "promoPrice", "with_tax", "without_tax")  # fmt: skip
_ONE_VARIANT = (
    "selectedVariant", "selectedOrFirstAvailableVariant", "firstVariant", "defaultVariant",
    "masterVariant")  # fmt: skip
_OLD_AMOUNTS = ("was", "old", "original", "list", "regular", "full", "before", "listPrice", "regularPrice", "rrp",
                "compareAtPrice", "originalPrice", "base")  # fmt: skip


def fields(page: Page, expected: str | None) -> Fields:
    """Return the best product of the state whose name is *expected* or on the page."""
    if not any(map(page.holds, (b"rice", trackers.SIGN.encode()))):
        return {}
    best_fields: Fields = {}
    may_name = NameFilter(partial(_page_names, page, expected))
    candidates_left = _MAX_CANDIDATES
    for value in _values(page, may_name):
        best_fields = best_fields or _product_attributes(value)
        for node, currency in _products(value):
            name = plain_text(first_value(node, *_NAMES))
            if not name or name.casefold() not in may_name.names:
                continue
            candidates_left -= 1
            candidate = _fields(references.followed(node, value), currency)
            if currency and "price" in candidate:
                candidate.setdefault("currency", currency)
            if ("price" in candidate, len(candidate)) > ("price" in best_fields, len(best_fields)):
                best_fields = candidate
            if candidates_left <= 0:
                return best_fields
        if "price" in best_fields:
            break
    return best_fields


def stated_currency(page: Page) -> str | None:
    """Return the only currency that the page's scripts name, else the selected one of a choice."""
    code_bytes = {match[1] for match in _STATED_CURRENCY.finditer(page.raw, 0, _MAX_SCRIPT_LENGTH)}
    codes = {code.decode() for code in code_bytes} & CODES
    return codes.pop() if len(codes) == 1 else _selected_currency(page)


def _selected_currency(page: Page) -> str | None:
    """Return the currency of the selected option in a choice of currencies."""
    for select in page.selects:
        names = f"{select.get('id') or ''} {select.get('name') or ''} {select.get('class') or ''}"
        if "currency" not in names[:_MAX_NAME_LENGTH].lower():
            continue
        for option in islice(select.iter("option"), _MAX_OPTIONS):
            if option.get("selected") is not None:
                text = f"{short_text(option)} {option.get('value') or ''}"[:_MAX_NAME_LENGTH]
                code = next((code for code in _CODE.findall(text) if code in CODES), None)
                return code or next((c for name, c in _DOLLARS.items() if name in text), None)
    return None


def stated_stock(page: Page) -> str | None:
    """Return the stock in attributes such as `data-in-stock`, where all of them agree."""
    values = {match[1] for match in _STOCK_ATTRIBUTE.finditer(page.raw, 0, _MAX_SCRIPT_LENGTH)}
    return availability(values.pop().decode()) if len(values) == 1 else None


def _page_names(page: Page, expected: str | None) -> set[str]:
    """Return the names that the page may give its product, case-folded."""
    names = [expected or "", page.meta("og:title"), page.title]
    # Headings of lower levels are those of a listing's tiles.
    headings = (heading for heading in page.headings if heading.tag == "h1")
    for heading in islice(headings, 5):  # the maker's box may stand before the name's
        names += [short_text(heading), *map(short_text, heading[-1:])]
    folded = {" ".join(name.split()).casefold() for name in names if name}
    for name in list(folded):
        folded.add(_DIVIDERS.split(name)[0])
    return {name for name in folded if len(name) > 2}


def _values(page: Page, may_name: NameFilter) -> Iterator[Any]:
    characters_left = _MAX_LENGTH_OF_ALL
    if page.holds(b"__next_f"):
        yield from _streamed(page, may_name)
    for script in page.scripts:
        text = script.text
        kind = (script.get("type") or "")[:100].lower()
        if not text or len(text) > _MAX_SCRIPT_LENGTH or "ld+json" in kind:
            continue
        if ("rice" not in text and trackers.SIGN not in text) or not may_name(text):
            continue
        characters_left -= len(text)
        if characters_left < 0:
            break
        if "json" in kind or (not kind and text[0] == "{"):  # VTEX's, in a template
            value = _loads(text)
            if script.get("id") == "__NUXT_DATA__" and isinstance(value, list):
                value = _unflattened(value)
            yield value
        elif not kind or "javascript" in kind or kind == "module":
            if "__NUXT__" in text and (returned := _nuxt_state(text)) is not None:
                yield returned
            yield from _assigned(text)
            yield from map(_loads, quoted_json.texts(text))
            yield from (_literal(text, place)[0] for place in trackers.call_objects(text))
    yield from _attributes(page, may_name)


def _loads(text: str) -> Any:
    if "&q;" in text:  # Angular escapes the state of its server in its own way
        text = _ESCAPED.sub(lambda found: _UNESCAPED[found[1]], text)
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def _assigned(text: str) -> Iterator[Any]:
    """Yield the objects and lists that a script assigns or passes to `push`."""
    place, count = 0, 0
    while count < _MAX_VALUES:
        match = _next_assigned(text, place)
        if match is None:
            return
        count += 1
        try:
            value, place = _DECODER.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            value, place = _literal(text, match.end())
            place = max(place, match.end())
            if value is None:
                continue
        yield value


def _next_assigned(text: str, place: int) -> re.Match[str] | None:
    matches = _ASSIGNED.finditer(text, place)
    return next((match for match in matches if _NAMED.search(match[1])), None)


def _literal(text: str, place: int) -> tuple[Any, int]:
    """Return the JavaScript literal at *place* and its end; None where the text is no literal."""
    try:
        return literal.parse(text, place)
    except literal.Unreadable:
        return None, place


def _nuxt_state(text: str) -> Any:
    """Return the state of Nuxt 2, which is the result of a function that is called at once."""
    match = _FUNCTION.search(text)
    try:
        return literal.parse_call(text, match.end()) if match else None
    except literal.Unreadable:
        return None


def _streamed(page: Page, may_name: NameFilter) -> Iterator[Any]:
    """Yield the rows of JSON that newer pages of Next send in pieces, each a text of a script."""
    pieces, characters_left = [], _MAX_SCRIPT_LENGTH
    for script in page.scripts:
        match = _PIECE.match(script.text or "")
        if match is None or (characters_left := characters_left - len(script.text)) < 0:
            continue
        with suppress(literal.Unreadable):
            pieces.append(literal.text_at(script.text, match.end())[0])
    for row in "".join(pieces).split("\n"):
        name, _, value = row.partition(":")
        is_json = value[:1] in {"[", "{"} and len(name) < _MAX_ROW_NAME
        if is_json and "rice" in value and may_name(value):
            yield _loads(value)


def _attributes(page: Page, may_name: NameFilter) -> Iterator[Any]:
    """Yield JSON in elements' attributes: `data-product="{&quot;name&quot;: …}"`."""
    if b"{" not in page.raw and b"[" not in page.raw:
        return
    for match, _ in zip(_ATTRIBUTE.finditer(page.raw), range(_MAX_VALUES), strict=False):
        quote = page.raw[match.end() - 1 : match.end()]
        end = page.raw.find(quote, match.end(), match.end() + _MAX_ATTRIBUTE_LENGTH)
        inner = page.raw[match.end() : end] if end > 0 else b""
        if b"rice" in inner and may_name(text := unescape(inner.decode("utf-8", "replace"))):
            yield _loads(text)
    if page.holds(b"x-data="):
        yield from _alpine_objects(page)


def _alpine_objects(page: Page) -> Iterator[Any]:
    """Yield the object in the `x-data` attribute of each of Alpine's components."""
    for match, _ in zip(_ALPINE_DATA.finditer(page.raw), range(_MAX_VALUES), strict=False):
        end = page.raw.find(match[1], match.end(), match.end() + _MAX_ATTRIBUTE_LENGTH)
        inner = page.raw[match.end() : end] if end > 0 else b""
        if b"rice" in inner:
            text = unescape(inner.decode("utf-8", "replace"))
            yield _literal(text, text.index("{"))[0]


_DECODER = json.JSONDecoder(strict=False)


def _unflattened(flat: list[Any]) -> Any:
    """Return the state of Nuxt 3, a list in which each value refers to others by their index."""
    budget = [_MAX_NODES]

    def revive(place: Any, depth: int) -> Any:
        budget[0] -= 1
        if not isinstance(place, int) or not 0 <= place < len(flat) or depth <= 0 or budget[0] < 0:
            return None
        value = flat[place]
        if isinstance(value, dict):
            return {key: revive(inner, depth - 1) for key, inner in value.items()}
        if isinstance(value, list):
            if value and isinstance(value[0], str):
                return revive(value[1], depth - 1) if len(value) > 1 else None
            return [revive(inner, depth - 1) for inner in value]
        return value

    return revive(0, _MAX_DEPTH)


def _products(value: Any) -> Iterator[tuple[Node, str | None]]:
    """Yield each mapping with a name and a price, outermost first, and the currency around it."""
    stack: list[tuple[Any, str | None]] = [(value, None)]
    nodes_left = _MAX_NODES
    while stack and nodes_left:
        item, currency = stack.pop()
        nodes_left -= 1
        if isinstance(item, list):
            stack.extend((v, currency) for v in reversed(item[:500]) if isinstance(v, dict | list))
        elif isinstance(item, dict):
            item = trackers.as_product(item)
            currency = _currency(item) or currency
            if any(item.get(name) for name in _NAMES) and _has_price(item):
                yield item, currency
            inner = [v for v in item.values() if isinstance(v, dict | list)]
            stack.extend((v, currency) for v in reversed(inner))


def _product_attributes(value: Any) -> Fields:
    """Return the page's product in one shop system's `product_attributes`, which hold no name."""
    attributes = value.get(NAMELESS) if isinstance(value, dict) else None
    return _fields(attributes) if isinstance(attributes, dict) and _has_price(attributes) else {}


def _has_price(node: Node) -> bool:
    return any(name in node for name in _PRICES) or any(
        isinstance(variant, dict) and "price" in variant for variant in _variants(node)
    )


def _fields(node: Node, around: str | None = None) -> Fields:
    variant = next((v for v in _variants(node) if isinstance(v, dict)), {})
    kind = counts_in_cents(node), around or _currency(node)
    price, currency = _amount(node, _PRICES, *kind)
    if price is None:
        price, currency = _amount(variant, _PRICES, *kind)
    regular, _ = _amount(node, _REGULAR_PRICES, *kind)
    if regular is None:
        regular, _ = _amount(variant, _REGULAR_PRICES, *kind)
    if regular is None:
        regular = _old_price_inside(node, *kind)
    if regular is None and price is not None:
        regular, _ = _amount(node, ("price",), *kind)  # beside a special price it is the usual one
    values: Fields = {
        "name": plain_text(first_value(node, *_NAMES)),
        "price": price,
        "regular_price": regular
        if regular is not None and price is not None and regular > price
        else None,
        "currency": currency or _currency(node),
        "availability": availability(_stock(node)),
        "sku": stated_text(first_value(node, *_SKUS), variant.get("sku")),
        "brand": stated_maker(
            first_value(node, "brandName", "brand", "vendor", "manufacturer", "item_brand")
        ),
        "gtin": gtin(
            plain_text(first_value(node, "gtin", "gtin13", "ean", "barcode", "upc")),
            may_be_isbn=False,
        )
        or gtin(plain_text(variant.get("barcode")), may_be_isbn=False),
        "mpn": stated_text(node.get("mpn")),
        "external_id": stated_text(first_value(node, "id", "productId", "product_id")),
        "description": without_tags(plain_text(first_value(node, "description", "body_html"))),
        "images": images(
            first_value(node, "images", "image", "media", "featured_image", "imageUrl")
        ),
        "breadcrumbs": _categories(node),
    }
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def _categories(node: Node) -> list[str]:
    """Return the names of a node's categories, where each category is an object."""
    items = as_list(first_value(node, "category", "categories", "breadcrumbs"))[:_MAX_CATEGORIES]
    names = (plain_text(first_value(c, "name", "title")) for c in items if isinstance(c, dict))
    return [*filter(None, names)]


def _stock(node: Node) -> Any:
    """Return a node's stock: a word, or whether any piece is available."""
    stock = first_value(node, *_STOCK)
    if stock is None:
        offer = next((o for o in as_list(node.get("offers")) if isinstance(o, dict)), {})
        stock = first_value(offer, *_STOCK)
    if stock is None:
        stock = node.get("available", _any_available(node))
    if stock is None:
        stock = first_value(node, "stock", "inventory", "stockInfo", *_QUANTITIES)
        if isinstance(stock, int | float):
            return stock > 0
    if isinstance(stock, dict):
        stock = first_value(stock, "status", "value", *_STOCK, "stockLevelStatus")
    return stock


def _variants(node: Node) -> list[Any]:
    value = node.get("variants")
    if value is None:
        value = first_value(node, *_ONE_VARIANT)
        return [value] if isinstance(value, dict) else []
    if isinstance(value, dict):  # GraphQL's `nodes`, or the `node` of each of its `edges`
        value = value.get("nodes") or [as_list(edge.get("node"))[0] for edge in as_list(value.get("edges"))
                                       if isinstance(edge, dict) and edge.get("node")]  # fmt: skip
    return as_list(value)


def _any_available(node: Node) -> Any:
    """Return whether any variant is available; None where no variant has such a flag."""
    variants = [v for v in _variants(node) if isinstance(v, dict)]
    flags = [v[name] for v in variants for name in ("available", "availableForSale") if name in v]
    return (True in flags or flags[0]) if flags else None


def _amount(
    node: Node, names: tuple[str, ...], cents: bool, around: str | None
) -> tuple[Decimal | None, str | None]:
    """Return a node's first amount and its currency; *around* is the currency of a bare number."""
    for name in names:
        value = node.get(name)
        if value in (None, "", 0, "0", [], {}) or isinstance(value, bool):
            continue
        amount, currency = _money(value, cents or "cents" in name.lower(), 4, around)
        if amount:
            return amount, currency
    return None, None


def _money(
    value: Any, cents: bool, depth: int, around: str | None
) -> tuple[Decimal | None, str | None]:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        if depth <= 0:
            return None, None
        currency = _currency(value)
        for name in _AMOUNTS:
            if name in value:
                digits = value.get("fractionDigits", 2)
                digits = digits if isinstance(digits, int) and 0 <= digits <= _MAX_DECIMALS else 2
                amount, inner_currency = _money(value[name], False, depth - 1, currency or around)
                if amount is not None and name == "centAmount":
                    amount = amount.scaleb(-digits)
                if amount is not None:
                    return as_written(value, amount), currency or inner_currency
        return None, currency
    amount = number(value, around) if isinstance(value, int | float | str) else None
    if amount is not None and cents and isinstance(value, int):
        amount = amount.scaleb(-2)
    return amount, sure_currency(value) if isinstance(value, str) else None


def _old_price_inside(node: Node, cents: bool, around: str | None) -> Decimal | None:
    for name in ("price", "prices", "pricing", "priceInfo", "price_range", "priceRange"):
        inner = node.get(name)
        inner = (
            first_value(inner, "minimum_price", "minimumPrice") or inner
            if isinstance(inner, dict)
            else None
        )
        if isinstance(inner, dict):
            for old_name in (*_OLD_AMOUNTS, *_REGULAR_PRICES):
                if inner.get(old_name):
                    return _money(inner[old_name], cents, 3, around)[0]
    return None


def _currency(node: Node) -> str | None:
    text = plain_text(first_value(node, *_CURRENCIES))
    return currency_of(text) if text else None
