"""OpenGraph, and the tags for products that Facebook, Pinterest and Twitter added to it."""

from __future__ import annotations

from typing import Any

from crawler.extract.fields import Fields
from crawler.extract.gtin import first_valid
from crawler.extract.money.amounts import number, parse_price, sure_currency
from crawler.extract.money.currencies import currency_of
from crawler.extract.page.page import Page
from crawler.extract.shop_name_in_title import is_shop_name, without_host, without_site_name
from crawler.extract.stock.availability import availability
from crawler.extract.structured.nodes import plain_text, stated_maker, stated_text

_PRICES = ("product:sale_price:amount", "product:price:amount", "og:price:amount", "og:price")
_REGULAR = ("product:original_price:amount", "og:price:standard_amount")
_CURRENCIES = (
    "product:price:currency", "og:price:currency", "product:sale_price:currency",
    "product:original_price:currency",
)  # fmt: skip
_STOCK = ("product:availability", "og:availability", "product:stock")
_BRANDS = ("product:brand", "og:brand")
_SKUS = ("product:retailer_item_id", "product:retailer_part_no", "product:sku")
_GTINS = ("product:ean", "product:upc", "product:isbn", "product:gtin", "books:isbn", "book:isbn")
#: Characters of a tag in which a price is looked for, where the tag is repeated.
_MAX_PRICE_TEXT = 200
_CODES = frozenset({"sku", "mpn"})


def is_product(page: Page) -> bool:
    """Return whether the tags say that the page is a product's."""
    kind = page.meta("og:type").lower()
    return kind in {"product", "og:product", "product.item", "book", "books.book"} or any(
        page.meta(name) for name in ("product:price:amount", "og:price:amount")
    )


def fields(page: Page) -> Fields:
    """Return the values of the page's meta elements, in Product's field names."""
    tags: dict[str, str] = {}
    for key, content in page.metas:
        # Some templates first write a tag with the price's name and the currency as its content.
        replaces = key not in tags or (
            key in _PRICES and number(tags[key][:_MAX_PRICE_TEXT]) is None
        )
        if replaces and key.startswith(("og:", "product:", "book", "twitter:")):
            tags[key] = content
    loose_codes = _loose_codes(page)
    if not tags:
        return loose_codes
    values: Fields = {
        "name": _name(page, tags),
        "brand": stated_maker(_first_tag(tags, _BRANDS)),
        "sku": stated_text(_first_tag(tags, _SKUS)),
        "mpn": stated_text(tags.get("product:mfr_part_no")),
        "gtin": first_valid(plain_text(tags.get(name)) for name in _GTINS),
        "description": plain_text(tags.get("og:description")),
        "images": [c for k, c in page.metas if k in {"og:image", "og:image:url"}],
        **_money(tags),
    }
    stock = _first_tag(tags, _STOCK) or _labelled(tags, ("availab", "stock"))
    values["availability"] = availability(stock) if stock else None
    return loose_codes | {
        name: value for name, value in values.items() if value not in (None, "", [])
    }


def _loose_codes(page: Page) -> Fields:
    """Return the codes in meta elements outside of items, where a name has one value only."""
    codes: dict[str, set[str]] = {}
    for key, content in page.metas:
        if key in _CODES and stated_text(content):
            codes.setdefault(key, set()).add(content)
    return {name: values.pop() for name, values in codes.items() if len(values) == 1}


def _first_tag(tags: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((tags[name] for name in names if tags.get(name)), None)


def _money(tags: dict[str, str]) -> dict[str, Any]:
    code = _first_tag(tags, _CURRENCIES)
    currency = currency_of(code) if code else None
    price = number(_first_tag(tags, _PRICES), currency)
    if not price:  # without a reduction, templates write 0 or a word as the price of a sale
        prices = (number(tags.get(name), currency) for name in _PRICES)
        price = next(filter(None, prices), price)
    before = number(_first_tag(tags, _REGULAR), currency)
    listed = number(tags.get("product:price:amount"), currency)
    if before is None and listed is not None and price is not None and listed > price:
        before = listed
    if price is not None and currency is None:
        currency = sure_currency(_first_tag(tags, _PRICES) or "")
    if price is None:
        money = parse_price(_labelled(tags, ("price",)) or "")
        if money:
            price, currency = money.value, currency or money.currency
    regular = before if before is not None and price is not None and before > price else None
    return {"price": price, "regular_price": regular, "currency": currency}


def _labelled(tags: dict[str, str], words: tuple[str, ...]) -> str | None:
    """Return the value in Twitter's card whose label holds one of the words."""
    for index in ("1", "2"):
        label = tags.get(f"twitter:label{index}", "").lower()
        if any(word in label for word in words):
            return tags.get(f"twitter:data{index}")
    return None


def _name(page: Page, tags: dict[str, str]) -> str | None:
    name = plain_text(tags.get("og:title") or tags.get("twitter:title"))
    if not name or is_shop_name(name, page):
        return None
    return without_host(without_site_name(name, plain_text(tags.get("og:site_name"))), page.url)
