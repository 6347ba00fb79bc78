"""OpenGraph, and the product tags that Facebook, Pinterest and Twitter added to it."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.money.amounts import number, parse_price
from crawler.extract.money.currencies import currency_of
from crawler.extract.page.page import Page, short_text
from crawler.extract.stock.availability import availability
from crawler.extract.structured.schema import gtin, meant, plain

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
_SHORTEST = 2
#: Characters in which a price is looked for, where several are told.
_LONGEST = 200
_CODES = frozenset({"sku", "mpn"})
_RULES = lazy_patterns.pattern(r"(?<!\s)\s++[|»·•]\s++")
_ENDS = lazy_patterns.pattern(r"(?<!\s)\s++[|–—·•:»-]\s++")
_HOST = lazy_patterns.pattern(r"https?://([^/?#]*+)")
_WWW_HOST = lazy_patterns.pattern(r"https?://(?:www\.)?([^/?#:]*+)")
_NO_WORD = lazy_patterns.pattern(r"\W")
_WORDS = lazy_patterns.pattern(r"[^\W_]+")


def is_product(page: Page) -> bool:
    """Whether the tags call the page a product's."""
    kind = page.meta("og:type").lower()
    return kind in {"product", "og:product", "product.item", "book", "books.book"} or any(
        page.meta(name) for name in ("product:price:amount", "og:price:amount")
    )


def fields(page: Page) -> Fields:
    """What the page's meta elements say, in Product's field names."""
    tags: dict[str, str] = {}
    for key, content in page.metas:
        # Some templates write the currency under the price's name first.
        unread = key not in tags or (key in _PRICES and number(tags[key][:_LONGEST]) is None)
        if unread and key.startswith(("og:", "product:", "book", "twitter:")):
            tags[key] = content
    loose = _loose(page)
    if not tags:
        return loose
    found: Fields = {
        "name": _name(page, tags),
        "brand": meant(_any(tags, _BRANDS)),
        "sku": meant(_any(tags, _SKUS)),
        "mpn": plain(tags.get("product:mfr_part_no")),
        "gtin": next((code for name in _GTINS if (code := gtin(tags.get(name)))), None),
        "description": plain(tags.get("og:description")),
        "images": [c for k, c in page.metas if k in {"og:image", "og:image:url"}],
        **_money(tags),
    }
    stock = _any(tags, _STOCK) or _labelled(tags, ("availab", "stock"))
    found["availability"] = availability(stock) if stock else None
    return loose | {name: value for name, value in found.items() if value not in (None, "", [])}


def _loose(page: Page) -> Fields:
    """Codes in meta elements that belong to no item, where there is one of each."""
    told: dict[str, set[str]] = {}
    for key, content in page.metas:
        if key in _CODES and meant(content):
            told.setdefault(key, set()).add(content)
    return {name: values.pop() for name, values in told.items() if len(values) == 1}


def _any(tags: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((tags[name] for name in names if tags.get(name)), None)


def _money(tags: dict[str, str]) -> dict[str, Any]:
    code = _any(tags, _CURRENCIES)
    currency = currency_of(code) if code else None
    price = number(_any(tags, _PRICES), currency)
    before = number(_any(tags, _REGULAR), currency)
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
    """What Twitter's card tells under a label."""
    for place in ("1", "2"):
        label = tags.get(f"twitter:label{place}", "").lower()
        if any(word in label for word in words):
            return tags.get(f"twitter:data{place}")
    return None


def _name(page: Page, tags: dict[str, str]) -> str | None:
    name = plain(tags.get("og:title") or tags.get("twitter:title"))
    if not name or _is_the_shops(name, page):
        return None
    return without_host(shorn(name, plain(tags.get("og:site_name"))), page.url)


def _is_the_shops(name: str, page: Page) -> bool:
    """Whether og:title is the part of the page's title that is the shop's, on all of its pages.

    The other part is the main heading then, whose words stand in the page's address.
    """
    if name not in page.title or len(name) == len(page.title):
        return False
    parts = [part.casefold() for part in _ENDS.split(page.title)]
    if len(parts) < 2 or name.casefold() not in parts:
        return False
    headings = [text for h in page.headings if h.tag == "h1" and (text := short_text(h).casefold())]
    address = set(_WORDS.findall(unquote(page.url).casefold()))

    def told(text: str) -> int:
        return len(address & set(_WORDS.findall(text)))

    return any(text in parts and told(text) > told(name.casefold()) for text in headings[:2])


def shorn(title: str, site: str | None) -> str:
    """A title without the shop's name at its end.

    >>> shorn("Lamp 12 | My Shop", "My Shop"), shorn("Lamp - red", None)
    ('Lamp 12', 'Lamp - red')
    """
    if not site:
        return title
    parts = list(_ENDS.finditer(title))
    if parts and title[parts[-1].end() :].casefold() == site.casefold():
        return title[: parts[-1].start()].strip()
    return title


def without_titles_end(name: str, heading: str, title: str) -> str:
    """A name without what the page's title ends in as well, where the heading says the rest.

    >>> without_titles_end("Lamp 12 — Studio", "Lamp 12", "Lamp 12 — Studio")
    'Lamp 12'
    >>> without_titles_end("Lamp 12 — red", "Lamp 12", "Lamp 12 — Studio")
    'Lamp 12 — red'
    """
    rest = name[len(heading) :]
    if not heading or not name.startswith(heading) or _ENDS.match(rest) is None:
        return name
    return heading if title.endswith(rest) else name


def has_parts(title: str) -> bool:
    """Whether rules divide a title; behind a dash often stands the colour."""
    return _RULES.search(title) is not None


def is_first_part(heading: str, title: str) -> bool:
    """Whether a title is a heading and more behind a rule.

    >>> is_first_part("Lamp 12", "Lamp 12 | Best price"), is_first_part("Lamp", "Lamp 12 | Best")
    (True, False)
    """
    rest = title[len(heading) :]
    return title.casefold().startswith(heading.casefold()) and _RULES.match(rest) is not None


def without_host(title: str, url: str) -> str:
    """A title without a last part that says the host's name.

    >>> without_host("Lamp 12 | a-shop.co.uk", "https://www.a-shop.co.uk/12")
    'Lamp 12'
    >>> without_host("Lamp 12 - A Shop", "https://a-shop.example/12"), without_host("Lamp", "")
    ('Lamp 12', 'Lamp')
    """
    parts = list(_ENDS.finditer(title))
    if not parts:
        return title
    found = _WWW_HOST.match(url)
    host = found[1].lower() if found else url.lower()
    names = {_NO_WORD.sub("", name) for name in (host, host.partition(".")[0])}
    last = _NO_WORD.sub("", title[parts[-1].end() :]).lower()
    return title[: parts[-1].start()].strip() if last in names and len(last) > _SHORTEST else title


def name_in(title: str, url: str) -> str | None:
    """What a title names, where nothing else on the page does: its first part but the shop's.

    >>> name_in("My Shop | Lamp 12 | Lamps", "https://myshop.example/12"), name_in("Lamp - A", "")
    ('Lamp 12', 'Lamp')
    """
    found = _HOST.match(url)
    host = found[1].lower() if found else url.lower()
    parts = [part.strip() for part in _ENDS.split(title)]
    return next((p for p in parts if p and _NO_WORD.sub("", p).lower() not in host), None)
