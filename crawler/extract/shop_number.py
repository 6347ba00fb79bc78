"""The shop's number of a product (sku): under a label, as its system's id, or in the address."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from string import ascii_lowercase
from urllib.parse import unquote

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import without_origin
from crawler.extract.fields import Fields
from crawler.extract.gtin import has_check_digit
from crawler.extract.page.page import Page, holds_digit, without_scripts
from crawler.extract.structured.nodes import stands_in
from crawler.extract.words import any_of, finder
from crawler.normal_form import normal_form

#: Parameters whose value is a product's number.
_PARAMETER = lazy_patterns.pattern(
    r"[?&](?:product_id|products_id|productid|id_product|item_id|itemid|item(?==[\w.-]*\d)|pid|sku|sku_?id|asin|artnr"
    r"|article_?id|artikel(?:nr|nummer)?|(?:product|goods|item|article)_?(?:no|nr|code)|branduid)=([\w.-]{2,40})(?:[&#]|$)",
    re.I,
)
#: A path whose last part is the number, or begins or ends with it.
_AFTER_WORD = finder(
    rf"/(?:ip|gp/product|{any_of('paths', 'product')})/((?=[a-z-]{{0,12}}\d)[a-z0-9-]{{3,20}})"
    r"(?:/[\w-]{1,20}=[^/]{0,80})?/?$"
)
#: A path with a word such as "product", then the number, then the name.
_BEFORE_NAME = finder(
    rf"/(?:ip|listing|{any_of('paths', 'product')})/(?:[a-z]{{1,5}}-?)?(\d{{4,20}})/[^/\d]{{3}}[^/]{{0,200}}/?$"
)
#: Behind two hyphens, the letters before the digits are a part of the number: `lamp--abc-0012`.
_AT_END = lazy_patterns.pattern(
    r"(?:--(?=[a-z]{2,5}-\d)|^|[-_.](?:p|i|a|art|id)?-?)((?:(?<=--)[a-z]{2,5}-)?\d{4,20})"
    r"(?:\.html?|\.php|\.aspx?)?$",
    re.I,
)
#: A number at the end with capital letters among its digits; a slug has lower-case letters.
_IN_CAPITALS = lazy_patterns.pattern(r"(?:^|-)((?=[A-Z]{0,8}\d)(?=(?:\D{0,8}\d){4})[A-Z\d]{8,20})$")
#: A last part that is the number as a whole, with its capital letters: `TH-1203`.
_WHOLE = lazy_patterns.pattern(r"((?!ID-|ART-)[A-Z]{2,5}-\d{3,12})(?:\.html?|\.php|\.aspx?)?$")
_AT_BEGIN = lazy_patterns.pattern(r"((?:[A-Z]{2,4}-?)?\d{2,12})-[a-zA-Z]")
#: A folder that is a number, above a last part that is the name.
_FOLDER = lazy_patterns.pattern(r"\d{5,20}")
#: The prefix of a productID that gives its kind, as schema.org defines it.
_KEY_PREFIX = lazy_patterns.pattern(r"^(?:sku|mpn|isbn|asin|ean|upc|gtin\d{0,2}):\s?", re.I)
#: A script that shows a product by a general parameter, `id` or `code`.
_BY_ID = lazy_patterns.pattern(
    r"(?:item|product|prod|goods|detail|article|artikel|produkt|tovar|show|view)[^/?]{0,40}"
    r"\?(?:[^#]{0,300}&)?(?:id|code)=(\d{3,20})(?:[&#]|$)",
    re.I,
)
#: Parts at the end of a product's path for the category it was reached from, and for its view.
_VIEW = finder(
    rf"(?<=/)(?:{any_of('paths', 'product')})/[^/]+(?:/[^/]+)?((?:/(?:cate|display|page|sort|view"
    rf"|lang|ref|{any_of('paths', 'listing')})/[^/]{{1,40}})+)/?$"
)
_INDEX = lazy_patterns.pattern(r"/(?:p|index\.\w{3,4})?$")
#: Many slugs end in a year: `calendar-2026`.
_YEAR = lazy_patterns.pattern(r"(?:1[5-9]|20)\d\d")
#: A model's number is one word with a digit and is no year, or capital letters: "LAMP-OAK".
_CODE = lazy_patterns.pattern(
    r"(?=[^\s\d]{0,30}\d)(?!(?:19|20)\d\d$)\S{3,30}|[A-Z]{2,10}(?:-[A-Z]{1,10}){1,3}"
)
#: Prefixes of the barcodes of books, which booksellers use as their number.
_BOOK_PREFIXES = ("978", "979")
#: Attributes of forms and buttons in which shop systems write a product's number.
_SKU = lazy_patterns.pattern(rb"data-(?:product-?)?sku=[\"']([\w./-]{2,40})[\"']")
_IDS = (
    lazy_patterns.pattern(
        rb"data-(?:p|product[-_]?|item[-_]?|article[-_]?)id=[\"']([\w-]{2,40})[\"']"
    ),
    lazy_patterns.pattern(
        rb"name=[\"'](?:product_?[iI]d|id_product|products_id|add-to-cart|sku|item_number)[\"']"
        rb"(?:\s[\w-]+=[\"'][^\"']{0,40}[\"']){0,2}?\svalue=[\"']([\w-]{2,40})[\"']"
    ),
)
#: A field named `sku` of the form that buys.
_FIELD = lazy_patterns.pattern(
    rb"name=[\"']sku[\"'](?:\s[\w-]+=[\"'][^\"']{0,40}[\"']){0,2}?\svalue=[\"']([\w./-]{2,40})[\"']"
)
#: The sku of a product's first variant, in an attribute's JSON.
_SKU_OF_VARIANT = lazy_patterns.pattern(rb"&quot;sku&quot;:\s?&quot;([\w./-]{2,40})&quot;")
_VENDOR = lazy_patterns.pattern(rb'"vendor"\s{0,4}:\s{0,4}"((?:[^"\\<>]|\\[^<>]){1,80})"')
_MAX_VARIANT_LENGTH = 2_000
#: Characters from which on a number in an address is no coincidence.
_MIN_PART_LENGTH = 5
#: Digits up to which a number in an address may be a type in the product's name.
_MAX_TYPE_LENGTH = 4
#: Characters of a marketplace's number of a listing, and figures in it.
_MIN_LISTING_LENGTH, _MIN_FIGURES, _EAN_LENGTH = 10, 2, 13
#: Bytes of a page that are searched for numbers and vendors.
_MAX_BYTES = 400_000


def set_number(fields: Fields, sources: dict[str, str], text_fields: Fields, page: Page) -> None:
    """Set sku; a number under a visible label is preferred to an internal one.

    `external_id` does not change, because it is the key under which the product is stored.
    """
    if "sku" in text_fields or "mpn" in text_fields:
        _prefer_labelled(fields, sources, text_fields, page.raw)
    model = _model(text_fields)
    if fields.get("sku"):
        if model and model != fields["sku"] and not fields.get("mpn"):
            fields["mpn"], sources["mpn"] = model, "text"
        return
    if model and not fields.get("mpn") and (listed := _number_of_listing(page.url)):
        fields |= {"sku": listed, "mpn": model}
        sources |= {"sku": "url", "mpn": "text"}
    elif not _set_stated_number(fields, sources, text_fields, page, model):
        _set_last_number(fields, sources, text_fields, page)


def _set_stated_number(
    fields: Fields, sources: dict[str, str], text_fields: Fields, page: Page, model: str | None
) -> bool:
    """Set sku to a number that the text or a form states; return whether there is one."""
    code = text_fields.get("gtin") or ""
    text_number = (
        (model if model and model != text_fields.get("mpn") else None)  # else it is the maker's
        or (code if code.startswith(_BOOK_PREFIXES) else None)
        or _part_in_address(text_fields, page)
    )
    form_number = None if text_number else _form_number(page)
    if text_number or form_number:
        fields["sku"], sources["sku"] = (
            (text_number, "text") if text_number else (form_number, "state")
        )
    return bool(text_number or form_number)


def _set_last_number(
    fields: Fields, sources: dict[str, str], text_fields: Fields, page: Page
) -> None:
    """Set sku to the number of the page's system or address, else to the last that is left."""
    external_id = _KEY_PREFIX.sub("", fields.get("external_id") or "")
    addressed = in_address(page.url) or in_address(page.canonical or "")
    barcode = external_id in {fields.get("gtin"), fields.get("mpn")}
    if (
        addressed
        and external_id
        and (barcode or _is_internal(external_id, addressed, sources, page))
    ):
        fields["sku"], sources["sku"] = addressed, "url"
    elif external_id and sources.get("external_id") not in {"url", "text", None}:
        number = _first_variant_number(fields, external_id) or external_id
        fields["sku"], sources["sku"] = number, sources["external_id"]
    elif page.has_data and page.holds(b"sku=") and (data_number := _only_number(_SKU, page.raw)):
        fields["sku"], sources["sku"] = data_number, "state"
    elif addressed and not _is_word_of_name(addressed, fields):
        fields["sku"], sources["sku"] = addressed, "url"
    elif last_number := _last_number(page, text_fields):
        fields["sku"], sources["sku"] = last_number


def _prefer_labelled(
    fields: Fields, sources: dict[str, str], text_fields: Fields, raw: bytes
) -> None:
    """Prefer numbers under visible labels to those of the data, which are often a database's.

    The maker's number of the data stays if the page shows it: the labelled one is another maker's
    that the part replaces.
    """
    other_codes = {None, fields.get("gtin"), fields.get("mpn"), fields.get("sku")}
    for name in ("sku", "mpn"):
        labelled = text_fields.get(name)
        if labelled in other_codes or sources.get(name, "text") == "text":
            continue
        is_of_shop = name == "sku" or fields[name] == fields.get("sku")  # some data repeat the sku
        if is_of_shop or str(fields[name]).encode() not in without_scripts(raw[:_MAX_BYTES]):
            fields[name], sources[name] = labelled, "text"
    if "variants" in fields and "sku" in fields:
        _take_variant_numbers(fields, sources)


def _number_of_listing(url: str) -> str | None:
    """Return the number in an address if it has as many characters as those of marketplaces.

    A model's number beside it is then the maker's; smaller shops use that as their own. A barcode
    in an address is no number of a listing.
    """
    number = in_address(url)
    if number and len(number) == _EAN_LENGTH and has_check_digit(number):
        return None
    is_long = number is not None and len(number) >= _MIN_LISTING_LENGTH
    return number if number and is_long and sum(map(str.isdigit, number)) >= _MIN_FIGURES else None


def _take_variant_numbers(fields: Fields, sources: dict[str, str]) -> None:
    """Take barcode and maker's number of the variant whose number the page has as the product's."""
    shown = [v for v in fields["variants"] if v.get("sku") == fields["sku"]]
    if len(shown) == 1:
        for name in ("gtin", "mpn"):
            if name in shown[0] and not fields.get(name):
                fields[name], sources[name] = shown[0][name], "json-ld"


def _first_variant_number(fields: Fields, group: str) -> str | None:
    """Return the number of a group's first variant, if the group's own is a database's."""
    variants = fields.get("variants") or [{}]
    number: str = variants[0].get("sku") or ""
    return number if number and group.isdecimal() and group not in number else None


def _is_word_of_name(number: str, fields: Fields) -> bool:
    """Return whether a short number in the address is a word of the name: `VW Käfer 1302`.

    With letters it may be two words of it: `artek-60` of `Artek 60 stool`, maybe without accents
    and blanks: `akacmez-500g` of `Akácméz 500 g`.
    """
    parts = number.casefold().split("-")
    if any(len(part) > _MAX_TYPE_LENGTH for part in parts if holds_digit(part)):
        return False
    name = normal_form("NFKD", (fields.get("name") or "").casefold())
    words = ["".join(filter(str.isalnum, word)) for word in name.split()]
    joined = "".join(words)
    if len(parts) == 1:
        return parts[0] in words
    if all(part in words or (holds_digit(part) and part in joined) for part in parts):
        return True
    # The address of a name in other letters spells it in Latin ones: `med-500` of `мед 500 г`.
    figures = {part.rstrip(ascii_lowercase) for part in parts if holds_digit(part)}
    return not joined[:1].isascii() and bool(figures) and all(map(joined.__contains__, figures))


def _is_internal(external_id: str, addressed: str, sources: dict[str, str], page: Page) -> bool:
    """Return whether an id is in the scripts only, and the scripts contain the address's number."""
    if sources.get("external_id") != "state" or len(addressed) < _MIN_PART_LENGTH:
        return False
    return not stands_in(page.url, external_id) and b'"%b"' % addressed.encode() in page.raw


def _form_number(page: Page) -> str | None:
    """Return the number of the first variant in the form, or of the form's field `sku`."""
    variant_number = _variant_number(page.raw) if page.has_data else None
    if variant_number is None and page.holds(b'name="sku"'):
        return _only_number(_FIELD, page.raw)
    return variant_number


def _variant_number(raw: bytes) -> str | None:
    """Return the number of the product's first variant, from an attribute."""
    place = raw.find(b"data-variants=", 0, _MAX_BYTES)
    match = _SKU_OF_VARIANT.search(raw, place, place + _MAX_VARIANT_LENGTH) if place >= 0 else None
    return match[1].decode() if match else None


def _part_in_address(text_fields: Fields, page: Page) -> str | None:
    """Return the visible maker's number if the address contains it; the shop then uses it too."""
    part: str = text_fields.get("mpn") or ""
    return part if len(part) >= _MIN_PART_LENGTH and stands_in(page.url, part) else None


def _last_number(page: Page, text_fields: Fields) -> tuple[str, str] | None:
    """Return the number in the page's forms, else the visible maker's number, and the source."""
    rules = _IDS if page.has_data else _IDS[1:]
    if number := next(
        (rule_number for rule in rules if (rule_number := _only_number(rule, page.raw))), None
    ):
        return number, "state"
    return (text_fields["mpn"], "text") if "mpn" in text_fields else None


def _model(fields: Fields) -> str | None:
    """Return the attribute `model`, if it is an identifier and not a name."""
    model: str = fields.get("attributes", {}).get("model") or ""
    return model if is_model_number(model) else None


def is_model_number(text: str) -> bool:
    """Whether the value of a label "Model" is a number, and not a name.

    >>> is_model_number("E1600"), is_model_number("OAK-XL"), is_model_number("Pixel 9")
    (True, True, False)
    """
    return _CODE.fullmatch(text) is not None


@lru_cache(maxsize=64)
def in_address(url: str) -> str | None:
    """Return the number of a product in its address, None where the address has none.

    >>> in_address("https://a.example/p?pid=12-B"), in_address("https://a.example/red-lamp-48213.html")
    ('12-B', '48213')
    >>> in_address("https://a.example/dp/B00X1"), in_address("https://a.example/412-red-lamp")
    ('B00X1', '412')
    >>> in_address("https://a.example/calendar-2026"), in_address("https://a.example/products/lamp")
    (None, None)
    """
    path, _, query = without_origin(url[:2_000]).partition("?")
    parameter = _PARAMETER.search(f"?{query}") if query else None
    parameter = parameter or (
        _BY_ID.search(f"{path[-80:]}?{query[:400]}") if "id=" in query or "code=" in query else None
    )
    if parameter:
        return parameter[1]
    if not holds_digit(path):
        return None
    path = unquote(without_view(path))
    word = _AFTER_WORD(path)
    if word and word[1].count("-") <= 1:
        return path[word.start(1) : word.end(1)]
    if parameter := _BEFORE_NAME(path):
        return parameter[1]
    folders, _, slug = _INDEX.sub("", path).rstrip("/").rpartition("/")
    matches = (
        rule(slug) for rule in (_WHOLE.match, _AT_END.search, _IN_CAPITALS.search, _AT_BEGIN.match)
    )
    number = next((match[1] for match in matches if match and not _YEAR.fullmatch(match[1])), None)
    folder = folders.rpartition("/")[2]
    return number or (folder if _FOLDER.fullmatch(folder) else None)


def set_vendor(fields: Fields, sources: dict[str, str], page: Page) -> None:
    """Set brand to the vendor in the page's scripts, where all products in them have the same."""
    if "brand" in fields or not page.holds(b'"vendor"'):
        return
    vendors = {match[1] for match in _VENDOR.finditer(page.raw, 0, _MAX_BYTES)}
    if len(vendors) == 1:
        try:
            name = json.loads(b'"%s"' % vendors.pop())
        except ValueError:
            return
        fields["brand"], sources["brand"] = name, "state"


def without_view(path: str) -> str:
    """Return a product's path without parts at its end for the category and the view.

    >>> without_view("/product/red-lamp/12/category/24/display/1/"), without_view("/product/view/1")
    ('/product/red-lamp/12', '/product/view/1')
    """
    if path.count("/") < 4:
        return path  # counting costs less time than the pattern
    match = _VIEW(path)
    return path[: match.start(1)] if match else path


def _only_number(rule: re.Pattern[bytes], raw: bytes) -> str | None:
    """Return the only number in the page's forms and buttons; None where tiles have others."""
    numbers = {match[1] for match in rule.finditer(raw, 0, _MAX_BYTES)}
    if len(numbers) != 1:
        return None
    text = numbers.pop().decode("utf-8", "replace")
    return text if holds_digit(text) else None
