"""OpenGraph, and the tags for products that Facebook, Pinterest and Twitter added to it."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.money.amounts import number, parse_price
from crawler.extract.money.currencies import currency_of
from crawler.extract.page.page import Page, short_text
from crawler.extract.stock.availability import availability
from crawler.extract.structured.schema import gtin, plain_text, stated_text

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
#: Characters up to which a title's last part is too short to be the host's name.
_MAX_UNSURE_HOST = 2
#: Characters of a tag in which a price is looked for, where the tag is repeated.
_MAX_PRICE_TEXT = 200
_CODES = frozenset({"sku", "mpn"})
_BARS = lazy_patterns.pattern(r"(?<!\s)\s++[|»·•]\s++")
_DIVIDERS = lazy_patterns.pattern(r"(?<!\s)\s++[|–—·•:»-]\s++")
_HOST = lazy_patterns.pattern(r"https?://([^/?#]*+)")
_WWW_HOST = lazy_patterns.pattern(r"https?://(?:www\.)?([^/?#:]*+)")
_NON_WORD = lazy_patterns.pattern(r"\W")
_WORDS = lazy_patterns.pattern(r"[^\W_]+")


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
        "brand": stated_text(_first_tag(tags, _BRANDS)),
        "sku": stated_text(_first_tag(tags, _SKUS)),
        "mpn": plain_text(tags.get("product:mfr_part_no")),
        "gtin": next((code for name in _GTINS if (code := gtin(tags.get(name)))), None),
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
    before = number(_first_tag(tags, _REGULAR), currency)
    listed = number(tags.get("product:price:amount"), currency)
    if before is None and listed is not None and price is not None and listed > price:
        before = listed
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
    if not name or _is_shop_name(name, page):
        return None
    return without_host(without_site_name(name, plain_text(tags.get("og:site_name"))), page.url)


def _is_shop_name(name: str, page: Page) -> bool:
    """Return whether og:title is the shop's part of the page's title, as it is on all its pages.

    It is where another part is the main heading, and more of that part's words are in the address.
    """
    if name not in page.title or len(name) == len(page.title):
        return False
    parts = [part.casefold() for part in _DIVIDERS.split(page.title)]
    if len(parts) < 2 or name.casefold() not in parts:
        return False
    headings = [text for h in page.headings if h.tag == "h1" and (text := short_text(h).casefold())]
    address = set(_WORDS.findall(unquote(page.url).casefold()))

    def words_in_address(text: str) -> int:
        return len(address & set(_WORDS.findall(text)))

    return any(
        text in parts and words_in_address(text) > words_in_address(name.casefold())
        for text in headings[:2]
    )


def without_site_name(title: str, site: str | None) -> str:
    """Return a title without the shop's name at its end.

    >>> without_site_name("Lamp 12 | My Shop", "My Shop"), without_site_name("Lamp - red", None)
    ('Lamp 12', 'Lamp - red')
    """
    if not site:
        return title
    parts = list(_DIVIDERS.finditer(title))
    if parts and title[parts[-1].end() :].casefold() == site.casefold():
        return title[: parts[-1].start()].strip()
    return title


def without_title_ending(name: str, heading: str, title: str) -> str:
    """Return the heading where the name is the heading and the end of the page's title.

    >>> without_title_ending("Lamp 12 — Studio", "Lamp 12", "Lamp 12 — Studio")
    'Lamp 12'
    >>> without_title_ending("Lamp 12 — red", "Lamp 12", "Lamp 12 — Studio")
    'Lamp 12 — red'
    """
    ending = name[len(heading) :]
    if not heading or not name.startswith(heading) or _DIVIDERS.match(ending) is None:
        return name
    return heading if title.endswith(ending) else name


def has_parts(title: str) -> bool:
    """Return whether bars divide a title; a dash is none, because a colour often follows it."""
    return _BARS.search(title) is not None


def is_first_part(heading: str, title: str) -> bool:
    """Return whether a title begins with the heading and a bar behind it.

    >>> is_first_part("Lamp 12", "Lamp 12 | Best price"), is_first_part("Lamp", "Lamp 12 | Best")
    (True, False)
    """
    ending = title[len(heading) :]
    return title.casefold().startswith(heading.casefold()) and _BARS.match(ending) is not None


def without_host(title: str, url: str) -> str:
    """Return a title without its last part, if that is the host's name.

    >>> without_host("Lamp 12 | a-shop.co.uk", "https://www.a-shop.co.uk/12")
    'Lamp 12'
    >>> without_host("Lamp 12 - A Shop", "https://a-shop.example/12"), without_host("Lamp", "")
    ('Lamp 12', 'Lamp')
    """
    parts = list(_DIVIDERS.finditer(title))
    if not parts:
        return title
    host_match = _WWW_HOST.match(url)
    host = host_match[1].lower() if host_match else url.lower()
    names = {_NON_WORD.sub("", name) for name in (host, host.partition(".")[0])}
    last_part = _NON_WORD.sub("", title[parts[-1].end() :]).lower()
    return (
        title[: parts[-1].start()].strip()
        if last_part in names and len(last_part) > _MAX_UNSURE_HOST
        else title
    )


def name_from_title(title: str, url: str) -> str | None:
    """Return the first part of a title that is not the shop's name, for pages without another name.

    >>> name_from_title("My Shop | Lamp 12 | Lamps", "https://myshop.example/12"), name_from_title("Lamp - A", "")
    ('Lamp 12', 'Lamp')
    """
    host_match = _HOST.match(url)
    host = host_match[1].lower() if host_match else url.lower()
    parts = [part.strip() for part in _DIVIDERS.split(title)]
    return next((p for p in parts if p and _NON_WORD.sub("", p).lower() not in host), None)
