"""The key of a product within its shop: its number, a code, or a part of the page's address."""

from __future__ import annotations

import re
from urllib.parse import unquote

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import without_origin
from crawler.extract.fields import Fields
from crawler.extract.page.page import Page
from crawler.extract.shop_number import without_view

_INDEX = lazy_patterns.pattern(r"(?:index|default)\.\w+|index")
#: A view's name after the product's number: `/products/12/show`.
_VIEWS = lazy_patterns.pattern(r"show|view|details?|info|display")
_ID_PARAMETER = lazy_patterns.pattern(
    r"(?:^|&)(?:product_id|products_id|sku|pid|productid|item_id|id_product|id"
    r"|(?:product|goods|item|article)_?(?:no|nr|code)|branduid)=([^&#]+)",
    re.I,
)
#: A parameter with a digit, unless its name is that of a category, a page or a view.
_PARAMETER_WITH_DIGIT = lazy_patterns.pattern(
    r"(?:^|&)(?!(?:ca_?id|cid|c|p|tab|type|(?:cat|page|sort|order|lang|view|ref|utm)[^=&]{0,20})=)"
    r"[\w-]{1,24}=([^&#=]{0,38}\d[^&#=]{0,38})(?=[&#]|$)",
    re.I,
)
_MAX_QUERY_LENGTH = 400
#: The last part of a path that is a script's name and not a product's: `BookDetails?book_id=12`.
_SCRIPT_NAME = lazy_patterns.pattern(
    r"[a-z]{0,12}[-_]?(?:item|product|prod|goods|details?|article|artikel|produkt|tovar|show|view"
    r"|display)s?(?:[-_]?[a-z]{1,12})?",
    re.I,
)
#: A parameter for the number of the kind of thing that the script shows: `book_id=12`.
_ID_OF = lazy_patterns.pattern(r"(?:^|&)([a-z]{2,16})_?id=([^&#]{1,40})", re.I)
_SUFFIX = lazy_patterns.pattern(r"\.(?:html?|php|aspx?|jsp)$")


def identify(fields: Fields, sources: dict[str, str], page: Page) -> None:
    """Set external_id: the sku, the shop's own id, a code, or a part of the address."""
    if fields.get("external_id") and not fields.get("sku") and sources.get("external_id") != "url":
        return
    for name in ("sku", "gtin", "mpn"):
        if fields.get(name):
            fields["external_id"], sources["external_id"] = fields[name], sources[name]
            return
    part = product_part(fields.get("canonical_url") or page.url)
    if _is_scripts(part):  # the canonical link, which lacks the product's parameter
        part = product_part(page.url)
    # Of several parameters that may be the product's, all are its key: a script's name is none.
    fields["external_id"] = page.url if _is_scripts(part) and "?" in page.url else part
    sources["external_id"] = "url"


def _is_scripts(part: str | None) -> bool:
    """Whether a part of an address is the name of a script, which shows all products."""
    return part is not None and _SCRIPT_NAME.fullmatch(part) is not None


def _only_parameter(query: str) -> re.Match[str] | None:
    """Return the only parameter with a digit, not counting those of pages and categories."""
    parameters = list(_PARAMETER_WITH_DIGIT.finditer(query[:_MAX_QUERY_LENGTH]))
    return parameters[0] if len(parameters) == 1 else None


def product_part(url: str) -> str | None:
    """Return the part of an address that identifies the product, decoded.

    >>> product_part("https://a.example/catalogue/red-lamp_12/index.html"), product_part("https://a.example")
    ('red-lamp_12', None)
    >>> product_part("https://a.example/p/l%C3%A1mpa.html")
    'lámpa'
    >>> product_part("https://a.example/index.php?sku=l%C3%A1mpa")
    'lámpa'
    >>> product_part("https://a.example/product/red-lamp/12/category/24/display/1/")
    '12'
    >>> product_part("https://a.example/products/12/show")
    '12'
    >>> product_part("https://a.example/item.php?it_id=15299&ca_id=10&page=2")
    '15299'
    >>> product_part("https://a.example/BookDetails?book_id=12"), product_part("https://a.example/lamp?id=2")
    ('12', 'lamp')
    """
    path, _, query = without_origin(url).partition("?")
    path = without_view(path)
    parts = [part for part in path.split("/") if part]
    while parts and _INDEX.fullmatch(parts[-1]):
        parts.pop()
    if len(parts) > 1 and _VIEWS.fullmatch(parts[-1]) and parts[-2].isdigit():
        parts.pop()
    parameter = _ID_PARAMETER.search(query)
    if parameter is None and query and "." in path.rpartition("/")[2]:
        parameter = _only_parameter(query)
    if parameter and (not parts or "." in parts[-1] or _SCRIPT_NAME.fullmatch(parts[-1])):
        return unquote(parameter[1])
    thing_id = _ID_OF.search(query[:_MAX_QUERY_LENGTH]) if query and parts else None
    if thing_id and thing_id[1].lower() in parts[-1].lower() and _SCRIPT_NAME.fullmatch(parts[-1]):
        return unquote(thing_id[2])
    return unquote(_SUFFIX.sub("", parts[-1])) if parts else None
