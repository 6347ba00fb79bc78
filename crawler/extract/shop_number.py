"""The number by which a shop knows a product: under a label, as its own id, or in the address."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from urllib.parse import unquote

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.page.page import Page, holds_digit
from crawler.extract.structured.schema import stands_in
from crawler.extract.words import any_of, finder

_ORIGIN = lazy_patterns.pattern(r"^https?://[^/?#]*")
#: Parameters that name a product; what they hold is its number.
_PARAMETER = lazy_patterns.pattern(
    r"[?&](?:product_id|products_id|productid|id_product|item_id|itemid|pid|sku|sku_?id|asin|artnr"
    r"|article_?id|artikel(?:nr|nummer)?|(?:product|goods|item|article)_?(?:no|nr|code)|branduid)=([\w.-]{2,40})(?:[&#]|$)",
    re.I,
)
#: A path whose last part is the number, or begins or ends with it.
_AFTER_WORD = finder(
    rf"/(?:ip|gp/product|{any_of('paths', 'product')})/((?=[a-z-]{{0,12}}\d)[a-z0-9-]{{3,20}})"
    r"(?:/[\w-]{1,20}=[^/]{0,80})?/?$"
)
#: A path whose part after the word is the number, with the name behind it.
_BEFORE_NAME = finder(
    rf"/(?:ip|listing|{any_of('paths', 'product')})/(?:[a-z]{{1,5}}-?)?(\d{{4,20}})/[^/\d]{{3}}[^/]{{0,200}}/?$"
)
_AT_END = lazy_patterns.pattern(
    r"(?:^|[-_.](?:p|i|a|art|id)?-?)(\d{4,20})(?:\.html?|\.php|\.aspx?)?$", re.I
)
#: The same with letters among the figures, all of them capitals: a slug has small ones.
_IN_CAPITALS = lazy_patterns.pattern(r"(?:^|-)((?=[A-Z]{0,8}\d)(?=(?:\D{0,8}\d){4})[A-Z\d]{8,20})$")
_AT_BEGIN = lazy_patterns.pattern(r"((?:[A-Z]{2,4}-?)?\d{2,12})-[a-zA-Z]")
#: The folder of a page that has the name for its own.
_FOLDER = lazy_patterns.pattern(r"\d{5,20}")
#: What schema.org writes before a productID to say of what kind it is.
_KEYED = lazy_patterns.pattern(r"^(?:sku|mpn|isbn|asin|ean|upc|gtin\d{0,2}):\s?", re.I)
#: A script that shows a product by the parameter that all scripts have.
_BY_ID = lazy_patterns.pattern(
    r"(?:item|product|prod|goods|detail|article|artikel|produkt|tovar|show|view)[^/?]{0,40}"
    r"\?(?:[^#]{0,300}&)?id=(\d{3,20})(?:[&#]|$)",
    re.I,
)
#: Parts at the end of a product's path that tell from where it was reached, and how it is shown.
_VIEW = finder(
    rf"(?<=/)(?:{any_of('paths', 'product')})/[^/]+(?:/[^/]+)?((?:/(?:cate|display|page|sort|view"
    rf"|lang|ref|{any_of('paths', 'listing')})/[^/]{{1,40}})+)/?$"
)
_INDEX = lazy_patterns.pattern(r"/(?:p|index\.\w{3,4})?$")
#: Years end many slugs: `calendar-2026`.
_YEAR = lazy_patterns.pattern(r"(?:1[5-9]|20)\d\d")
#: The number of a model is one word with a figure, and no year; "Pixel 9" is a name.
_CODE = lazy_patterns.pattern(r"(?=[^\s\d]{0,30}\d)(?!(?:19|20)\d\d$)\S{3,30}")
#: How the barcodes of books begin: booksellers know books by them.
_BOOKS = ("978", "979")
#: Attributes in which shop systems keep a product's number beside its form and its buttons.
_SKU = lazy_patterns.pattern(rb"data-(?:product-?)?sku=[\"']([\w./-]{2,40})[\"']")
_IDS = (
    lazy_patterns.pattern(
        rb"data-(?:p|product[-_]?|item[-_]?|article[-_]?)id=[\"']([\w-]{2,40})[\"']"
    ),
    lazy_patterns.pattern(
        rb"name=[\"'](?:product_?id|id_product|products_id|add-to-cart|sku|item_number)[\"']"
        rb"(?:\s[\w-]+=[\"'][^\"']{0,40}[\"']){0,2}?\svalue=[\"']([\w-]{2,40})[\"']"
    ),
)
#: A field of the form that buys, which is called the product's number.
_FIELD = lazy_patterns.pattern(
    rb"name=[\"']sku[\"'](?:\s[\w-]+=[\"'][^\"']{0,40}[\"']){0,2}?\svalue=[\"']([\w./-]{2,40})[\"']"
)
#: The same of the first of a product's variants, in JSON as an attribute holds it.
_SKU_OF_VARIANT = lazy_patterns.pattern(rb"&quot;sku&quot;:\s?&quot;([\w./-]{2,40})&quot;")
_VENDOR = lazy_patterns.pattern(rb'"vendor"\s{0,4}:\s{0,4}"((?:[^"\\<>]|\\[^<>]){1,80})"')
_MOST_OF_VARIANT = 2_000
#: A shorter number stands in many addresses.
_SHORTEST_PART = 5
#: So few figures of a name are a type's.
_FEW_FIGURES = 4
#: Bytes of a page in which they are looked for.
_MOST_BYTES = 400_000


def set_number(fields: Fields, sources: dict[str, str], shown: Fields, page: Page) -> None:
    """Set sku: the number under a label that a visitor reads goes before an internal one.

    `external_id` is left as it is: it is the key under which the product is known already.
    """
    labelled, model = shown.get("sku"), _model(shown)
    others = {None, fields.get("gtin"), fields.get("mpn"), fields.get("sku")}
    if labelled not in others and sources.get("sku") not in {None, "text"}:
        fields["sku"], sources["sku"] = labelled, "text"
    if fields.get("sku"):
        if model and model != fields["sku"] and not fields.get("mpn"):
            fields["mpn"], sources["mpn"] = model, "text"
        return
    code = shown.get("gtin") or ""
    told = model or (code if code.startswith(_BOOKS) else None) or _part_in_address(shown, page)
    in_form = None if told else _in_form(page)
    if told or in_form:
        fields["sku"], sources["sku"] = (told, "text") if told else (in_form, "state")
        return
    known = _KEYED.sub("", fields.get("external_id") or "")
    addressed = in_address(page.url) or in_address(page.canonical or "")
    barcode = known in {fields.get("gtin"), fields.get("mpn")}
    if addressed and known and (barcode or _is_internal(known, addressed, sources, page)):
        fields["sku"], sources["sku"] = addressed, "url"
    elif known and sources.get("external_id") not in {"url", "text", None}:
        fields["sku"], sources["sku"] = known, sources["external_id"]
    elif page.has_data and b"sku=" in page.raw and (found := _told_by(_SKU, page.raw)):
        fields["sku"], sources["sku"] = found, "state"
    elif addressed and not _is_of_name(addressed, fields):
        fields["sku"], sources["sku"] = addressed, "url"
    elif last := _last_number(page, shown):
        fields["sku"], sources["sku"] = last


def _is_of_name(number: str, fields: Fields) -> bool:
    """Whether a few figures of an address are a word of the product's name: `VW Käfer 1302`."""
    words = (fields.get("name") or "").split() if len(number) <= _FEW_FIGURES else ()
    return number in words


def _is_internal(known: str, addressed: str, sources: dict[str, str], page: Page) -> bool:
    """Whether only the scripts know an id, which hold the number in the page's address as well."""
    if sources.get("external_id") != "state" or len(addressed) < _SHORTEST_PART:
        return False
    return not stands_in(page.url, known) and b'"%b"' % addressed.encode() in page.raw


def _in_form(page: Page) -> str | None:
    """The number of the first variant that the form chooses, or that a field of the form tells."""
    of_variant = _of_variant(page.raw) if page.has_data else None
    if of_variant is None and b'name="sku"' in page.raw:
        return _told_by(_FIELD, page.raw)
    return of_variant


def _of_variant(raw: bytes) -> str | None:
    """The number of the first of the product's variants, which an attribute holds."""
    at = raw.find(b"data-variants=", 0, _MOST_BYTES)
    found = _SKU_OF_VARIANT.search(raw, at, at + _MOST_OF_VARIANT) if at >= 0 else None
    return found[1].decode() if found else None


def _part_in_address(shown: Fields, page: Page) -> str | None:
    """The maker's number that a page shows, where its address holds it: it is the shop's as well."""
    part: str = shown.get("mpn") or ""
    return part if len(part) >= _SHORTEST_PART and stands_in(page.url, part) else None


def _last_number(page: Page, shown: Fields) -> tuple[str, str] | None:
    """What a page's forms carry, else the maker's number, where it is all that the shop shows."""
    rules = _IDS if page.has_data else _IDS[1:]
    if found := next((told for rule in rules if (told := _told_by(rule, page.raw))), None):
        return found, "state"
    return (shown["mpn"], "text") if "mpn" in shown else None


def _model(fields: Fields) -> str | None:
    """The number of the model among the attributes, where it is an identifier."""
    told: str = fields.get("attributes", {}).get("model") or ""
    return told if _CODE.fullmatch(told) else None


@lru_cache(maxsize=64)
def in_address(url: str) -> str | None:
    """The number of a product in its address, where there is one.

    >>> in_address("https://a.example/p?pid=12-B"), in_address("https://a.example/red-lamp-48213.html")
    ('12-B', '48213')
    >>> in_address("https://a.example/dp/B00X1"), in_address("https://a.example/412-red-lamp")
    ('B00X1', '412')
    >>> in_address("https://a.example/calendar-2026"), in_address("https://a.example/products/lamp")
    (None, None)
    """
    path, _, query = _ORIGIN.sub("", url[:2_000], count=1).partition("?")
    named = _PARAMETER.search(f"?{query}") if query else None
    named = named or (_BY_ID.search(f"{path[-80:]}?{query[:400]}") if "id=" in query else None)
    if named:
        return named[1]
    if not holds_digit(path):
        return None
    path = unquote(without_view(path))
    word = _AFTER_WORD(path)
    if word and word[1].count("-") <= 1:
        return path[word.start(1) : word.end(1)]
    if named := _BEFORE_NAME(path):
        return named[1]
    above, _, last = _INDEX.sub("", path).rstrip("/").rpartition("/")
    found = (rule(last) for rule in (_AT_END.search, _IN_CAPITALS.search, _AT_BEGIN.match))
    told = next((one[1] for one in found if one and not _YEAR.fullmatch(one[1])), None)
    folder = above.rpartition("/")[2]
    return told or (folder if _FOLDER.fullmatch(folder) else None)


def set_vendor(fields: Fields, sources: dict[str, str], page: Page) -> None:
    """Set brand by the vendor that a system's scripts tell, where all that the page shows have one."""
    if "brand" in fields or b'"vendor"' not in page.raw:
        return
    told = {match[1] for match in _VENDOR.finditer(page.raw, 0, _MOST_BYTES)}
    if len(told) == 1:
        try:
            name = json.loads(b'"%s"' % told.pop())
        except ValueError:
            return
        fields["brand"], sources["brand"] = name, "state"


def without_view(path: str) -> str:
    """A product's path without what follows its own parts: by which category, in which view.

    >>> without_view("/product/red-lamp/12/category/24/display/1/"), without_view("/product/view/1")
    ('/product/red-lamp/12', '/product/view/1')
    """
    if path.count("/") < 4:
        return path  # this one costs less than the pattern
    found = _VIEW(path)
    return path[: found.start(1)] if found else path


def _told_by(rule: re.Pattern[bytes], raw: bytes) -> str | None:
    """The one number that the page's forms and buttons carry; none where tiles carry others."""
    told = {match[1] for match in rule.finditer(raw, 0, _MOST_BYTES)}
    if len(told) != 1:
        return None
    text = told.pop().decode("utf-8", "replace")
    return text if holds_digit(text) else None
