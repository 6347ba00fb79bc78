"""A product in the data that a page's own scripts start from: Next, Nuxt, inline JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from html import unescape
from itertools import islice
from typing import Any
from urllib.parse import unquote

import orjson

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.money.amounts import number
from crawler.extract.money.cents import counts_in_cents
from crawler.extract.money.currencies import CODES, currency_of
from crawler.extract.page.page import Page, short_text
from crawler.extract.scripts import literal, trackers
from crawler.extract.stock.availability import availability
from crawler.extract.structured.schema import Node, first, gtin, images, many, plain, without_tags

#: Characters of data that are read on one page: a script's, and all scripts' together.
_MOST_BYTES, _MOST_IN_ALL = 3_000_000, 6_000_000
#: Mappings of the page's own name that are read as products.
_MOST_LIKE = 300
_MOST_NODES = 20_000
_MOST_DIGITS, _MOST_TOLD = 8, 6
#: A name to which an object or a list is given, and what such a name holds.
_ASSIGNED = lazy_patterns.pattern(
    r"(\.push|(?<!\w)\w{1,100}+)[\"'\]]*+\s*+[=:(]\s*+(?=[{\[])", re.I
)
_NAMED = lazy_patterns.pattern(
    r"__[a-z_]{1,100}__|\.push|utag|layer|digital|state|product|item|data|meta|config|store", re.I
)
_MOST_ASSIGNED = 12
_FUNCTION = lazy_patterns.pattern(r"__NUXT__\s*+=\s*+(?=\(?\s*+function)")
_HANDED = lazy_patterns.pattern(
    r"(?:JSON\.parse\(|decodeURIComponent\(|\b__[A-Z_]{1,100}__\s*+=)\s*+(?:decodeURIComponent\(\s*+)?(?=[\"'`])"
)
_ATTRIBUTE = lazy_patterns.pattern(
    rb"=\"(?=\s*+[\[{]++\s*+(?:&quot;|&#34;|&#x22;))|='(?=\s*+[\[{]++\s*+\")"
)
#: What Alpine's boxes hold is JavaScript: `x-data="shown({ name: 'lamp' })"`.
_BOXED = lazy_patterns.pattern(rb"\sx-data=(\"|')(?=\s*+(?:[\w.$]{1,60}\(\s*+)?\{)")
_PIECE = lazy_patterns.pattern(r"\s*(?:self|window)\.__next_f\.push\(\[1,\s?(?=[\"'])")
#: How Angular writes signs that end a script.
_ESCAPED = lazy_patterns.pattern(r"&([qsalg]);")
_UNESCAPED = {"q": '"', "s": "'", "a": "&", "l": "<", "g": ">"}
_LONGEST_ROW_NAME = 8
_LONGEST_ATTRIBUTE = 400_000
_RULES = lazy_patterns.pattern(r"(?<!\s)\s++[|–—·•-]\s++")
_TOLD = lazy_patterns.pattern(
    rb"urrency(?:[-_]?[cC]ode|_?[iI]so\w{0,20})?[\"']?\s*+[:=,]\s*+(?:\{\s*+[\"']?(?:active|code|iso)[\"']?\s*+:\s*+)?[\"']([A-Z]{3})[\"']"
)
_CODE = lazy_patterns.pattern(r"\b[A-Z]{3}\b")
#: Dollars that shops call by their country, and not by their code.
_DOLLARS = {
    "Canadian Dollar": "CAD", "Australian Dollar": "AUD", "New Zealand Dollar": "NZD",
    "Hong Kong Dollar": "HKD", "Singapore Dollar": "SGD", "US Dollar": "USD",
}  # fmt: skip
_LONGEST_NAME, _MOST_OPTIONS = 200, 100
_STOCKED = lazy_patterns.pattern(
    rb"\sdata-(?:is-?)?(?:available|in-?stock|purchasable)=[\"'](true|false)[\"']"
)
_NAMES = (
    "name", "title", "productName", "product_name", "displayName", "productTitle", "item_name",
)  # fmt: skip
_NOW = (
    "salePrice", "sale_price", "specialPrice", "special_price", "finalPrice", "final_price",
    "currentPrice", "current_price", "price", "priceValue", "sellingPrice", "selling_price",
    "priceAmount", "unitPrice", "prices", "pricing", "priceInfo", "price_min", "minPrice",
    "priceRange", "priceWithTax", "gross", "offers", "offer", "price_range", "discountedPrice",
    "discounted_price", "offerPrice", "offer_price", "buyPrice", "promoPrice",
)  # fmt: skip
_BEFORE = (
    "compare_at_price", "compareAtPrice", "listPrice", "list_price", "originalPrice", "oldPrice",
    "original_price", "regularPrice", "regular_price", "wasPrice", "rrp", "msrp", "old_price",
    "strikePrice", "basePrice", "mrp", "mrpPrice", "retailPrice", "retail_price", "fullPrice",
    "priceBeforeDiscount", "price_before_discount", "beforePrice", "strikethroughPrice",
)  # fmt: skip
_STOCK = (
    "availability", "availabilityStatus", "stockStatus", "stock_status", "inStock", "in_stock", "instock",
    "isInStock", "is_in_stock", "available", "availableForSale", "isAvailable", "inventoryStatus",
)  # fmt: skip
#: How many there are.
_PIECES = (
    "countInStock", "quantityAvailable", "availableQuantity", "stockQuantity", "stock_quantity",
    "stockCount", "inventoryQuantity", "inventory_quantity", "stockLevel", "totalInventory",
)  # fmt: skip
_NUMBERS = (
    "sku", "articleNumber", "productCode", "item_id", "articleNo", "itemNumber", "itemCode",
    "productNumber", "product_code", "item_code", "code",
)  # fmt: skip
_CURRENCIES = (
    "currency", "currencyCode", "priceCurrency", "currency_code", "currencyIso", "currencyIsoCode",
)  # fmt: skip
_AMOUNTS = (
    "centAmount", "amount", "value", "price", "current", "currentPrice", "sale", "salePrice",
    "finalPrice", "final", "minVariantPrice", "min", "lowPrice", "low", "gross", "now", "regular",
    "final_price", "regularPrice", "raw", "minPrice", "priceRange", "net", "minimum_price",
    "minimumPrice", "sellingPrice", "selling_price", "selling", "offerPrice", "discountedPrice",
    "discounted_price", "discounted", "sale_price", "special_price", "specialPrice", "special",
    "current_price", "promo", "promoPrice", "with_tax", "without_tax",
)  # fmt: skip
_ONE_VARIANT = (
    "selectedVariant", "selectedOrFirstAvailableVariant", "firstVariant", "defaultVariant",
    "masterVariant",
)  # fmt: skip
_OLD_AMOUNTS = ("was", "old", "original", "list", "regular", "full", "before", "listPrice", "regularPrice", "rrp",
                "compareAtPrice", "originalPrice", "base")  # fmt: skip


def fields(page: Page, expected: str | None) -> Fields:
    """The fields of the state's product whose name the page shows; *expected* is one known."""
    if b"rice" not in page.raw and trackers.SIGN.encode() not in page.raw:
        return {}
    best: Fields = {}
    shown: set[str] | None = None
    left = _MOST_LIKE
    for value in _values(page):
        shown = _shown(page, expected) if shown is None else shown
        if not shown:
            break
        best = best or _of_own(value)
        for node, currency in _products(value):
            name = plain(first(node, *_NAMES))
            if not name or name.casefold() not in shown:
                continue
            left -= 1
            found = _fields(node)
            if currency and "price" in found:
                found.setdefault("currency", currency)
            if ("price" in found, len(found)) > ("price" in best, len(best)):
                best = found
            if left <= 0:
                return best
        if "price" in best:
            break
    return best


def told_currency(page: Page) -> str | None:
    """The one currency that the page's scripts name, for prices that stand without any.

    Else the one that is chosen where the page offers several.
    """
    named = {match[1] for match in _TOLD.finditer(page.raw, 0, _MOST_BYTES)}
    found = {code.decode() for code in named} & CODES
    return found.pop() if len(found) == 1 else _chosen_currency(page)


def _chosen_currency(page: Page) -> str | None:
    """The currency that is selected in a choice that is called one of currencies."""
    for select in page.selects:
        called = f"{select.get('id') or ''} {select.get('name') or ''} {select.get('class') or ''}"
        if "currency" not in called[:_LONGEST_NAME].lower():
            continue
        for option in islice(select.iter("option"), _MOST_OPTIONS):
            if option.get("selected") is not None:
                text = f"{short_text(option)} {option.get('value') or ''}"[:_LONGEST_NAME]
                code = next((code for code in _CODE.findall(text) if code in CODES), None)
                return code or next((c for name, c in _DOLLARS.items() if name in text), None)
    return None


def told_stock(page: Page) -> str | None:
    """What the attributes of a product's boxes say of the stock, where all that do say the same."""
    told = {match[1] for match in _STOCKED.finditer(page.raw, 0, _MOST_BYTES)}
    return availability(told.pop().decode()) if len(told) == 1 else None


def _shown(page: Page, expected: str | None) -> set[str]:
    """Names under which the page presents its product, folded."""
    names = [expected or "", page.meta("og:title"), page.title]
    # Other headings are those of a listing's tiles.
    mains = (heading for heading in page.headings if heading.tag == "h1")
    for heading in islice(mains, 5):  # the maker may stand before the name, in a box of its own
        names += [short_text(heading), *map(short_text, heading[-1:])]
    found = {" ".join(name.split()).casefold() for name in names if name}
    for name in list(found):
        found.add(_RULES.split(name)[0])
    return {name for name in found if len(name) > 2}


def _values(page: Page) -> Iterator[Any]:
    left = _MOST_IN_ALL
    if b"__next_f" in page.raw:
        yield from _streamed(page)
    for script in page.scripts:
        text = script.text
        kind = (script.get("type") or "")[:100].lower()
        if not text or len(text) > _MOST_BYTES or "ld+json" in kind:
            continue
        if "rice" not in text and trackers.SIGN not in text:
            continue
        left -= len(text)
        if left < 0:
            break
        if "json" in kind:
            value = _loads(text)
            if script.get("id") == "__NUXT_DATA__" and isinstance(value, list):
                value = _unflattened(value)
            yield value
        elif not kind or "javascript" in kind or kind == "module":
            if "__NUXT__" in text and (called := _called(text)) is not None:
                yield called
            yield from _assigned(text)
            yield from _parsed(text)
            yield from (_literal(text, place)[0] for place in trackers.calls(text))
    yield from _attributes(page)


def _loads(text: str) -> Any:
    if "&q;" in text:  # Angular's own manner of escaping what its server hands over
        text = _ESCAPED.sub(lambda found: _UNESCAPED[found[1]], text)
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def _assigned(text: str) -> Iterator[Any]:
    """The JSON values that a script assigns or passes on."""
    place, count = 0, 0
    while count < _MOST_ASSIGNED:
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
    found = _ASSIGNED.finditer(text, place)
    return next((match for match in found if _NAMED.search(match[1])), None)


def _literal(text: str, place: int) -> tuple[Any, int]:
    """What is no JSON may be JavaScript; None where it is neither."""
    try:
        return literal.read(text, place)
    except literal.Unreadable:
        return None, place


def _called(text: str) -> Any:
    """What Nuxt 2 returns from a function that is called at once."""
    match = _FUNCTION.search(text)
    try:
        return literal.call(text, match.end()) if match else None
    except literal.Unreadable:
        return None


def _parsed(text: str) -> Iterator[Any]:
    """JSON that scripts hold as a text, escaped once more or encoded as in an address."""
    for match, _ in zip(_HANDED.finditer(text), range(_MOST_ASSIGNED), strict=False):
        try:
            inner = literal.text_at(text, match.end())[0]
        except literal.Unreadable:
            continue
        inner = unquote(inner) if inner[:3].upper() in {"%7B", "%5B"} else inner
        if inner[:1] in {"{", "["} and "rice" in inner:
            yield _loads(inner)


def _streamed(page: Page) -> Iterator[Any]:
    """What Next's newer pages send piece by piece: rows of JSON, cut anywhere, as texts of scripts."""
    pieces, left = [], _MOST_BYTES
    for script in page.scripts:
        match = _PIECE.match(script.text or "")
        if match is None or (left := left - len(script.text)) < 0:
            continue
        with suppress(literal.Unreadable):
            pieces.append(literal.text_at(script.text, match.end())[0])
    for row in "".join(pieces).split("\n"):
        name, _, value = row.partition(":")
        if "rice" in value and value[:1] in {"[", "{"} and len(name) < _LONGEST_ROW_NAME:
            yield _loads(value)


def _attributes(page: Page) -> Iterator[Any]:
    """JSON in elements' attributes: `data-product="{&quot;name&quot;: …}"`."""
    if b"{" not in page.raw and b"[" not in page.raw:
        return
    for match, _ in zip(_ATTRIBUTE.finditer(page.raw), range(_MOST_ASSIGNED), strict=False):
        quote = page.raw[match.end() - 1 : match.end()]
        end = page.raw.find(quote, match.end(), match.end() + _LONGEST_ATTRIBUTE)
        inner = page.raw[match.end() : end] if end > 0 else b""
        if b"rice" in inner:
            yield _loads(unescape(inner.decode("utf-8", "replace")))
    if b"x-data=" in page.raw:
        yield from _boxed(page)


def _boxed(page: Page) -> Iterator[Any]:
    """The object in the attribute of each of Alpine's boxes."""
    for match, _ in zip(_BOXED.finditer(page.raw), range(_MOST_ASSIGNED), strict=False):
        end = page.raw.find(match[1], match.end(), match.end() + _LONGEST_ATTRIBUTE)
        inner = page.raw[match.end() : end] if end > 0 else b""
        if b"rice" in inner:
            text = unescape(inner.decode("utf-8", "replace"))
            yield _literal(text, text.index("{"))[0]


_DECODER = json.JSONDecoder(strict=False)


def _unflattened(flat: list[Any], depth: int = 12) -> Any:
    """Nuxt 3 writes each value once and refers to it by its place in one list."""
    left = [_MOST_NODES]

    def revive(place: Any, depth: int) -> Any:
        left[0] -= 1
        if not isinstance(place, int) or not 0 <= place < len(flat) or depth <= 0 or left[0] < 0:
            return None
        value = flat[place]
        if isinstance(value, dict):
            return {key: revive(inner, depth - 1) for key, inner in value.items()}
        if isinstance(value, list):
            if value and isinstance(value[0], str):
                return revive(value[1], depth - 1) if len(value) > 1 else None
            return [revive(inner, depth - 1) for inner in value]
        return value

    return revive(0, depth)


def _products(value: Any) -> Iterator[tuple[Node, str | None]]:
    """Every mapping with a name and a price, outside in, with the currency told around it."""
    stack: list[tuple[Any, str | None]] = [(value, None)]
    left = _MOST_NODES
    while stack and left:
        here, currency = stack.pop()
        left -= 1
        if isinstance(here, list):
            stack.extend((v, currency) for v in reversed(here[:500]) if isinstance(v, dict | list))
        elif isinstance(here, dict):
            here = trackers.as_product(here)
            currency = _currency(here) or currency
            if any(here.get(name) for name in _NAMES) and _has_price(here):
                yield here, currency
            inner = [v for v in here.values() if isinstance(v, dict | list)]
            stack.extend((v, currency) for v in reversed(inner))


def _of_own(value: Any) -> Fields:
    """What a widespread system tells of a page's own product, without its name."""
    own = value.get("product_attributes") if isinstance(value, dict) else None
    return _fields(own) if isinstance(own, dict) and _has_price(own) else {}


def _has_price(node: Node) -> bool:
    return any(name in node for name in _NOW) or any(
        isinstance(variant, dict) and "price" in variant for variant in _variants(node)
    )


def _fields(node: Node) -> Fields:
    variant = next((v for v in _variants(node) if isinstance(v, dict)), {})
    cents = counts_in_cents(node)
    price, currency = _amount(node, _NOW, cents)
    if price is None:
        price, currency = _amount(variant, _NOW, cents)
    before, _ = _amount(node, _BEFORE, cents)
    if before is None:
        before, _ = _amount(variant, _BEFORE, cents)
    if before is None:
        before = _old_inside(node, cents)
    if before is None and price is not None:
        before, _ = _amount(node, ("price",), cents)  # beside a special price it is the usual one
    found: Fields = {
        "name": plain(first(node, *_NAMES)),
        "price": price,
        "regular_price": before
        if before is not None and price is not None and before > price
        else None,
        "currency": currency or _currency(node),
        "availability": availability(_stock(node)),
        "sku": plain(first(node, *_NUMBERS)) or plain(variant.get("sku")),
        "brand": plain(first(node, "brand", "brandName", "vendor", "manufacturer", "item_brand")),
        "gtin": gtin(first(node, "gtin", "gtin13", "ean", "barcode", "upc"))
        or gtin(variant.get("barcode")),
        "mpn": plain(node.get("mpn")),
        "external_id": plain(first(node, "id", "productId", "product_id")),
        "description": without_tags(plain(first(node, "description", "body_html"))),
        "images": images(first(node, "images", "image", "media", "featured_image", "imageUrl")),
        "breadcrumbs": _categories(node),
    }
    return {name: value for name, value in found.items() if value not in (None, "", [])}


def _categories(node: Node) -> list[str]:
    """The names of a node's categories, where each is an object with other fields."""
    told = many(first(node, "category", "categories", "breadcrumbs"))[:_MOST_TOLD]
    names = (plain(first(c, "name", "title")) for c in told if isinstance(c, dict))
    return [*filter(None, names)]


def _stock(node: Node) -> Any:
    """What a node tells of the stock: a word, a truth value, or a quantity as one."""
    told = first(node, *_STOCK)
    if told is None:
        offer = next((o for o in many(node.get("offers")) if isinstance(o, dict)), {})
        told = first(offer, *_STOCK)
    if told is None:
        told = node.get("available", _any_available(node))
    if told is None:
        told = first(node, "stock", "inventory", "stockInfo", *_PIECES)
        if isinstance(told, int | float):
            return told > 0
    if isinstance(told, dict):
        told = first(told, "status", "value", *_STOCK, "stockLevelStatus")
    return told


def _variants(node: Node) -> list[Any]:
    value = node.get("variants")
    if value is None:
        value = first(node, *_ONE_VARIANT)
        return [value] if isinstance(value, dict) else []
    if isinstance(value, dict):  # GraphQL wraps lists twice
        value = value.get("nodes") or [many(edge.get("node"))[0] for edge in many(value.get("edges"))
                                       if isinstance(edge, dict) and edge.get("node")]  # fmt: skip
    return many(value)


def _any_available(node: Node) -> Any:
    """Whether any variant can be had; None where none tells."""
    variants = [v for v in _variants(node) if isinstance(v, dict)]
    told = [v[name] for v in variants for name in ("available", "availableForSale") if name in v]
    return (True in told or told[0]) if told else None


def _amount(node: Node, names: tuple[str, ...], cents: bool) -> tuple[Decimal | None, str | None]:
    for name in names:
        value = node.get(name)
        if value in (None, "", 0, "0", [], {}) or isinstance(value, bool):
            continue
        found, currency = _money(value, cents or "cents" in name.lower(), 4)
        if found:
            return found, currency
    return None, None


def _money(value: Any, cents: bool, depth: int) -> tuple[Decimal | None, str | None]:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        if depth <= 0:
            return None, None
        currency = _currency(value)
        for name in _AMOUNTS:
            if name in value:
                digits = value.get("fractionDigits", 2)
                digits = digits if isinstance(digits, int) and 0 <= digits <= _MOST_DIGITS else 2
                found, inner = _money(value[name], False, depth - 1)
                if found is not None and name == "centAmount":
                    found = found.scaleb(-digits)
                if found is not None:
                    return found, currency or inner
        return None, currency
    found = number(value) if isinstance(value, int | float | str) else None
    if found is not None and cents and isinstance(value, int):
        found = found.scaleb(-2)
    return found, currency_of(value[-3:]) if isinstance(value, str) and value[
        -3:
    ] in CODES else None


def _old_inside(node: Node, cents: bool) -> Decimal | None:
    for name in ("price", "prices", "pricing", "priceInfo", "price_range", "priceRange"):
        inner = node.get(name)
        inner = (
            first(inner, "minimum_price", "minimumPrice") or inner
            if isinstance(inner, dict)
            else None
        )
        if isinstance(inner, dict):
            for old in (*_OLD_AMOUNTS, *_BEFORE):
                if inner.get(old):
                    return _money(inner[old], cents, 3)[0]
    return None


def _currency(node: Node) -> str | None:
    text = plain(first(node, *_CURRENCIES))
    return currency_of(text) if text else None
