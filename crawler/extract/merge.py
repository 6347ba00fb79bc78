"""Which source's value wins where a page's sources differ: one value for each field."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.money.amounts import amount, grouped
from crawler.extract.money.currencies import TOMAN, is_local, share_a_sign
from crawler.extract.page.page import Page, text_of
from crawler.extract.scripts import state
from crawler.extract.shop_number import set_number, set_vendor, without_view
from crawler.extract.stock.shown import NOT_TO_BE_HAD
from crawler.extract.structured import opengraph
from crawler.extract.structured.schema import has_check_digit
from crawler.extract.visible import text
from crawler.extract.visible.page_currency import (
    currency_of_address,
    currency_of_phones,
    spoken_currency,
)
from crawler.extract.visible_signs import Visible

_ORIGIN = lazy_patterns.pattern(r"^https?://[^/?#]*")
_INDEX = lazy_patterns.pattern(r"(?:index|default)\.\w+|index")
#: What is done with a thing, behind its number: `/products/12/show`.
_VIEWS = lazy_patterns.pattern(r"show|view|details?|info|display")
_NAMED = lazy_patterns.pattern(
    r"(?:^|&)(?:product_id|products_id|sku|pid|productid|item_id|id_product|id"
    r"|(?:product|goods|item|article)_?(?:no|nr|code)|goodsNo|itemNo|branduid)=([^&#]+)"
)
#: A parameter that holds a figure, unless it is called after a category, a page or how it is shown.
_FIGURED = lazy_patterns.pattern(
    r"(?:^|&)(?!(?:ca_?id|cid|c|p|tab|type|(?:cat|page|sort|order|lang|view|ref|utm)[^=&]{0,20})=)"
    r"[\w-]{1,24}=([^&#=]{0,38}\d[^&#=]{0,38})(?=[&#]|$)",
    re.I,
)
_LONGEST_QUERY = 400
#: The last part of a path that is a script's name, and no product's: `BookDetails?book_id=12`.
_SHOWS = lazy_patterns.pattern(
    r"[a-z]{0,12}[-_]?(?:item|product|prod|goods|details?|article|artikel|produkt|tovar|show|view"
    r"|display)s?(?:[-_]?[a-z]{1,12})?",
    re.I,
)
#: A parameter that is called after what the script shows.
_ID_OF = lazy_patterns.pattern(r"(?:^|&)([a-z]{2,16})_?id=([^&#]{1,40})", re.I)
#: What divides the steps of a trail.
_STEPS = lazy_patterns.pattern(r"\s[>»›]\s")
#: The dearest of a product's variants, in JSON and in markup.
_HIGHEST = lazy_patterns.pattern(
    rb"[Hh]igh[Pp]rice[\"'](?:\s{0,9}:|\s{1,9}content\s?=)\s{0,9}[\"']?(\d[\d.,]{0,14})"
)
#: Scripts, and what divides groups of three figures.
_IN_SCRIPTS = lazy_patterns.pattern(rb"<script\b.*?</script", re.S | re.I)
_GROUPS = rb"(?:[.,' ]|\xc2\xa0|\xe2\x80[\x89\xaf]|&nbsp;)?"
#: Lines from the heading to the price of what it names.
_BESIDE = 15
#: Before the author of a book.
_AUTHOR = lazy_patterns.pattern(r"\s(?:by|von|par|door)\s")
#: Fields of which a source that is trusted less may know better.
_BETTERED = frozenset({"price", "gtin"})
_SUFFIX = lazy_patterns.pattern(r"\.(?:html?|php|aspx?|jsp)$")
_NOTHING: Fields = {}
#: Sources that follow schema.org.
STRUCTURED = ("json-ld", "microdata", "rdfa")
#: What a repair of JSON-LD guessed.
GUESSED = "repaired"
#: The sources of a page, the most trusted first: of a field's values, the first source's wins.
ORDER = (*STRUCTURED, "opengraph", "state", "text", GUESSED)
_SOURCES = frozenset(ORDER)


def merged(offered: dict[str, Fields], site: str = "") -> tuple[Fields, dict[str, str]]:
    """The best value of each field, and the source of each: the first in ORDER that has a value.

    Raises ValueError where a source is not in ORDER: its values would be lost.
    """
    if not _SOURCES.issuperset(offered):
        raise ValueError(f"{sorted(offered.keys() - _SOURCES)}: not in tuple ORDER")
    fields: Fields = {}
    sources: dict[str, str] = {}
    for source in ORDER:
        for name, value in offered.get(source, _NOTHING).items():
            if name not in fields:  # most of them
                fields[name], sources[name] = value, source
            elif name == "attributes":
                fields[name] = {**value, **fields[name]}
            elif name in _BETTERED and _is_better(name, value, fields[name]):
                fields[name], sources[name] = value, source
    if sources.get("name") in STRUCTURED:
        fields["name"] = opengraph.without_site_name(fields["name"], site)
    shown = offered.get("text", {})
    if sources.get("regular_price") == "text" and shown.get("price") != fields.get("price"):
        # What is struck through there belongs to another price.
        del fields["regular_price"], sources["regular_price"]
    seen = shown.get("name")
    if seen and sources.get("name") == "opengraph" and text.likeness(seen, fields["name"]):
        # Shops add their own name and a slogan to og:title; the heading is the name itself.
        fields["name"], sources["name"] = seen, "text"
    return fields, sources


def guesses(offered: dict[str, Fields], page: Page) -> Fields:
    """Take away and return what JSON-LD tells in texts of which a repair guessed where they end."""
    told = offered.get("json-ld", {}) if page.guessed else {}
    names = [name for name, text in told.items() if isinstance(text, str) and text in page.guessed]
    return {name: told.pop(name) for name in names}


def _is_better(name: str, value: Any, than: Any) -> bool:
    """Whether a value replaces that of a source that is trusted more.

    A price of nothing is a template's gap wherever another source tells one, and a barcode whose
    check digit is wrong has lost digits.
    """
    if value == than:
        return False
    if name == "price":
        return bool(value) and not than
    return name == "gtin" and has_check_digit(value) and not has_check_digit(than)


def disputed(offered: dict[str, Fields]) -> bool:
    """Whether the page's meta elements tell another price than its structured data.

    One of them is stale, without tax, or the price before: the page's other sources decide.
    """
    told, tagged = _structured_price(offered), offered.get("opengraph", {}).get("price")
    return bool(told and tagged and told != tagged)


def settle(offered: dict[str, Fields]) -> None:
    """Let two sources that agree on a price outvote structured data that nobody agrees with."""
    told = _structured_price(offered)
    others = [offered.get(source, {}).get("price") for source in ("opengraph", "state", "text")]
    said = [price for price in others if price]
    agreed = next((price for price in said if said.count(price) > 1), None)
    if told is None or agreed is None or told in said:
        return
    for source in STRUCTURED:
        if "price" in offered.get(source, ()):
            fields = offered[source]
            fields["price"] = agreed
            if told > agreed and "regular_price" not in offered.get("text", ()):
                fields.setdefault("regular_price", told)
            if stock := offered.get("text", {}).get("availability"):
                fields["availability"] = stock  # what is stale in one thing is so in others


def choose(offered: dict[str, Fields], seen: Visible, raw: bytes) -> None:
    """Take the price of the variant that the page shows, where structured data tells a span of prices.

    The amount has to stand in a box for prices beside the heading, and within the span.
    """
    shown, lowest = seen.fields.get("price"), _structured_price(offered)
    if shown is None or lowest is None or not lowest < shown or not seen.price_marked:
        return
    if (seen.price_distance or 0) > _BESIDE or (told := _HIGHEST.search(raw)) is None:
        return
    highest = amount(told[1].decode())
    if highest is None or shown > highest:
        return
    for source in STRUCTURED:
        if offered.get(source, {}).get("price") == lowest:
            offered[source]["price"] = shown


def refresh(offered: dict[str, Fields], seen: Visible, raw: bytes) -> None:
    """Drop the price of JSON-LD where nothing else tells it, and the page shows another: it is stale.

    The amount has to stand beside the heading in a box for prices, and once more in an attribute;
    that of the JSON-LD nowhere outside of scripts.
    """
    structured = offered.get("json-ld", _NOTHING)
    told, shown = structured.get("price"), seen.fields.get("price")
    if not told or not shown or told == shown or not seen.price_marked or seen.price_is_loose:
        return
    if (seen.price_distance or 0) > _BESIDE or seen.price_after_link:
        return
    if seen.fields.get("currency") != structured.get("currency"):
        return
    if any(
        offered.get(name, _NOTHING).get("price", shown) != shown
        for name in ("microdata", "rdfa", "opengraph", "state")
    ):
        return
    body = _IN_SCRIPTS.sub(b"", raw)
    if _stands(told, body) or not _is_kept(shown, body):
        return
    for name in ("price", "currency", "regular_price"):
        structured.pop(name, None)


def _stands(price: Decimal, body: bytes) -> bool:
    """Whether the whole part of a price stands somewhere, with or without groups of three."""
    groups = f"{int(price):,}".encode().split(b",")
    return re.search(rb"(?<!\d)" + _GROUPS.join(groups) + rb"(?!\d)", body) is not None


def _is_kept(price: Decimal, body: bytes) -> bool:
    """Whether an attribute holds a price, as scripts read it."""
    plain = f"{price.normalize():f}".encode()
    held = rb"=\s?[\"']" + re.escape(plain) + (rb"0{0,4}" if b"." in plain else rb"(?:\.0{1,4})?")
    return re.search(held + rb"[\"']", body) is not None


def reduce(offered: dict[str, Fields], marked: bool) -> None:
    """Drop prices that the page *marked* as the ones before: templates tell the regular one."""
    if not marked:
        return
    before = offered["text"].get("regular_price")
    if before is None or _structured_price(offered) != before:
        return
    for source, fields in offered.items():
        if source != "text" and fields.get("price") == before:
            del fields["price"]


def sell_out(offered: dict[str, Fields], seen: Visible) -> None:
    """Believe a page that a thing cannot be had, where structured data tells that few are left."""
    told = seen.fields.get("availability")
    if not told and seen.sells and not seen.on_request:
        seen.fields["availability"] = "InStock"  # a script draws its price
    if told not in NOT_TO_BE_HAD or seen.buy_buttons:
        return
    for source in STRUCTURED:
        if offered.get(source, {}).get("availability") == "LimitedAvailability":
            offered[source]["availability"] = told


def without_gaps(offered: dict[str, Fields]) -> None:
    """Drop structured prices of nothing: a template writes 0.00 where the shop tells no price."""
    for source in STRUCTURED:
        fields = offered.get(source, {})
        if "price" in fields and not fields["price"]:
            del fields["price"]
            fields.pop("currency", None)


def without_held(offered: dict[str, Fields]) -> None:
    """Drop the price that only a page's scripts hold: it is shown to customers who log in."""
    for name in ("price", "regular_price", "currency"):
        offered.get("state", {}).pop(name, None)


def in_rials(offered: dict[str, Fields]) -> None:
    """Turn tomans into the rials that they are; the visible text's are rials already.

    Some templates call them rials: the page shows ten times as much then.
    """
    shown = offered.get("text", {})
    told = shown.get("price") if shown.get("currency") == "IRR" else None
    for fields in offered.values():
        code, price = fields.get("currency"), fields.get("price")
        if code == TOMAN or (told and price and code in {"IRR", None} and 10 * price == told):
            fields["currency"] = "IRR"
            for name in ("price", "regular_price"):
                if name in fields:
                    fields[name] *= 10


def _structured_price(offered: dict[str, Fields]) -> Decimal | None:
    found: Any = (offered[s]["price"] for s in STRUCTURED if "price" in offered.get(s, ()))
    return next(found, None)


def bare(name: str, page: Page) -> str:
    """A name without what templates for search engines append: the host's name, a slogan."""
    name = opengraph.without_host(name, page.url)
    if " > " in name or " » " in name or " › " in name:
        name = _without_trail(name, page)
    if _AUTHOR.search(name) and page.title.startswith(name):
        return _without_author(name, page)
    if page.title.endswith(name) and (headed := text.heading_of(page, name)) is not None:
        name = opengraph.without_title_ending(name, text_of(headed), page.title)
    if not opengraph.has_parts(name):
        return name
    heading = text.heading_of(page, name)
    shown = "" if heading is None else text_of(heading)
    return shown if shown and opengraph.is_first_part(shown, name) else name


def _without_trail(name: str, page: Page) -> str:
    """A name without the categories beside it, each of which is the text of a link of the page.

    Some systems' headings are trails: `red lamp > lamps`.
    """
    parts = _STEPS.split(name)
    own = [part for part in parts if f">{part}</a".encode() not in page.raw]
    return own[0] if len(parts) > 1 and len(own) == 1 else name


def _without_author(name: str, page: Page) -> str:
    """The heading, where a name that the title repeats is that and the author behind it."""
    heading = text.heading_of(page, name)
    shown = "" if heading is None else text_of(heading)
    begins = shown and name.casefold().startswith(shown.casefold())
    return shown if begins and _AUTHOR.match(name, len(shown)) else name


def finish(fields: Fields, sources: dict[str, str], page: Page, offered: dict[str, Fields]) -> None:
    """Complete what the sources told: addresses, identifiers, the currency of bare numbers."""
    links = (page.resolve(link) for link in fields.get("images", []))
    fields["images"] = list(dict.fromkeys(link for link in links if link))
    if not fields.get("name"):
        name = opengraph.name_from_title(page.title, page.url)
        if name:
            fields["name"], sources["name"] = name, "text"
    if "price" in fields:
        fields["price"] = grouped(fields["price"], page.raw)
    fields["canonical_url"] = page.canonical
    identify(fields, sources, page)
    set_number(fields, sources, offered.get("text", {}), page)
    set_vendor(fields, sources, page)
    _set_stock(fields, sources, page)
    known = fields.get("currency")
    if "price" in fields and (known is None or (sources["currency"] == "text" and is_local(known))):
        told = state.stated_currency(page)
        if known is None or (told and share_a_sign(known, told)):
            # A dollar sign is read by the page's language; its scripts may know better.
            fields["currency"], sources["currency"] = told, "state"
        elif text.currency_of_place(page) is None:
            told = currency_of_phones(page, known) or currency_of_address(page, known)
            fields["currency"] = told or known
    if "price" in fields and fields.get("currency") is None:
        # Shops that write bare numbers mean the money of their country.
        own = text.currency_of_place(page)
        spoken = None if own else spoken_currency(page)
        fields["currency"], sources["currency"] = own or spoken, "text" if spoken else "url"
    if fields.get("currency") is None:
        fields.pop("currency", None)
        sources.pop("currency", None)
    regular = fields.get("regular_price")
    if regular is not None and (fields.get("price") is None or regular <= fields["price"]):
        fields.pop("regular_price")
        sources.pop("regular_price", None)


def _set_stock(fields: Fields, sources: dict[str, str], page: Page) -> None:
    """Take the stock from the attributes of the page's boxes, where nothing else tells it."""
    if "price" in fields and fields.get("availability") is None:
        told = state.stated_stock(page)
        if told is not None:
            fields["availability"], sources["availability"] = told, "state"


def identify(fields: Fields, sources: dict[str, str], page: Page) -> None:
    """Set external_id: the sku, else the shop's own id, a barcode, or a part of the address."""
    if fields.get("external_id") and not fields.get("sku") and sources.get("external_id") != "url":
        return
    for name in ("sku", "gtin", "mpn"):
        if fields.get(name):
            fields["external_id"], sources["external_id"] = fields[name], sources[name]
            return
    fields["external_id"] = own_part(fields.get("canonical_url") or page.url)
    sources["external_id"] = "url"


def _parameter_of_all(query: str) -> re.Match[str] | None:
    """The one parameter of a script with a figure in it, those of pages and categories apart."""
    found = list(_FIGURED.finditer(query[:_LONGEST_QUERY]))
    return found[0] if len(found) == 1 else None


def own_part(url: str) -> str | None:
    """The part of an address that names the product, readable.

    >>> own_part("https://a.example/catalogue/red-lamp_12/index.html"), own_part("https://a.example")
    ('red-lamp_12', None)
    >>> own_part("https://a.example/p/l%C3%A1mpa.html")
    'lámpa'
    >>> own_part("https://a.example/index.php?sku=l%C3%A1mpa")
    'lámpa'
    >>> own_part("https://a.example/product/red-lamp/12/category/24/display/1/")
    '12'
    >>> own_part("https://a.example/products/12/show")
    '12'
    >>> own_part("https://a.example/item.php?it_id=15299&ca_id=10&page=2")
    '15299'
    >>> own_part("https://a.example/BookDetails?book_id=12"), own_part("https://a.example/lamp?id=2")
    ('12', 'lamp')
    """
    path, _, query = _ORIGIN.sub("", url).partition("?")
    path = without_view(path)
    parts = [part for part in path.split("/") if part]
    while parts and _INDEX.fullmatch(parts[-1]):
        parts.pop()
    if len(parts) > 1 and _VIEWS.fullmatch(parts[-1]) and parts[-2].isdigit():
        parts.pop()
    named = _NAMED.search(query)
    if named is None and query and "." in path.rpartition("/")[2]:
        named = _parameter_of_all(query)
    if named and (not parts or "." in parts[-1] or _SHOWS.fullmatch(parts[-1])):
        return unquote(named[1])
    of_thing = _ID_OF.search(query[:_LONGEST_QUERY]) if query and parts else None
    if of_thing and of_thing[1].lower() in parts[-1].lower() and _SHOWS.fullmatch(parts[-1]):
        return unquote(of_thing[2])
    return unquote(_SUFFIX.sub("", parts[-1])) if parts else None
