"""What the path of an address says of its page: a product's, a listing's, the front page, an errand."""

from __future__ import annotations

import re

from crawler.extract.words import any_of, finder

#: `product-category` and `categorie-produit` are a listing's words.
_OF_PRODUCTS = rf"-(?:{any_of('paths', 'listing')}|tags?)(?:/|$)"
#: `/products/list?category=3` is one as well.
_LIST_OF = r"(?:list|index|search|all|page)(?:[/?.]|$)"
_PRODUCT_PATH = finder(
    rf"/(?:{any_of('paths', 'product')})(?:/(?!{_LIST_OF})|(?!{_OF_PRODUCTS})-)[^/?]+|[-_/]p-?\d{{3,}}"
    rf"|/(?:{any_of('paths', 'product')})\.(?:php|aspx?|jsp|cgi|cfm|html?)\?[^/]{{0,80}}\d"
    r"|/\d{6,14}(?:\.html?|\.p|/[a-z][\w-]*)?/?(?:$|\?)"
    r"|/\d{1,7}-[a-z][\w-]*\.html?$|-\d{4,}(?:\.html?|/)?$|_\d+(?:\.html?|/index\.html)$"
    r"|[?&](?:product_id|products_id|sku|sku_?id|pid|productid|item_id|id_product)=",
)
_LISTING_PATH = finder(
    rf"/(?:{any_of('paths', 'listing')})(?:-(?:{any_of('paths', 'product')}))?(?:/|$|\?)"
    rf"|[?&](?:page|p|q|cat|cpath|path)=|/(?:{any_of('paths', 'product')}){_OF_PRODUCTS}",
)
#: Carts, accounts, forms and what the law asks a shop to say.
#: Some shops name them in a parameter: `?main_page=login`, `?route=checkout/cart`.
_ERRAND_PATH = finder(
    rf"(?:/|[?&](?:main_page|route|dispatch|cl|controller|action)=)(?:{any_of('paths', 'errand')})"
    r"(?:[/?.&]|$)"
)
#: Places for something to read: a blog, a year and a month, or a board's thread.
_READING_PATH = finder(
    rf"/(?:{any_of('paths', 'reading')})/|/20\d\d/[01]?\d/|/(?:view|show)(?:topic|thread|forum)\.php"
)
#: `/lamps/page/3`, `/lamps/strana-3/`.
_TURNED_PATH = finder(rf"/(?:{any_of('paths', 'turned')})[-/_]\d{{1,4}}/?(?:\?|$)")
#: `/lamps?page=3`: a script's own `index.php?page=3` may name any page.
_TURNED_QUERY = re.compile(
    r"/[^?]+(?<!\.php)(?<!\.aspx)(?<!\.asp)\?(?:[^#]*&)?"
    r"(?:page(?:_?n(?:o|um|umber)|index|d)?|currentpage|product-page|pag|pagina|seite|sida|strona|stranka"
    r"|stranica|sayfa|oldal|sivu|halaman|trang|lehekulg|puslapis|lapa|selida|sahife|pagen_\d)"
    r"=(?:[2-9]|[1-9]\d)(?:&|$)"
).match
_FRONT = re.compile(
    r"(?:https?://[^/?#]{1,200})?/?(?:(?:index|default|home|main)\.\w{2,5})?", re.I
).fullmatch
#: The front page of one of a site's languages: `/de/`, `/en-gb`.
_OF_TONGUE = re.compile(r"(?:https?://[^/]{1,200})?/[a-z]{2}(?:[-_][a-z]{2})?/?", re.I).fullmatch


def looks_like_product(path: str) -> bool:
    """Whether an address reads like a product's.

    >>> looks_like_product("/products/red-lamp"), looks_like_product("/collections/lamps")
    (True, False)
    >>> looks_like_product("/products/list?category_id=2")
    False
    """
    return _PRODUCT_PATH(path) is not None


def looks_like_listing(path: str) -> bool:
    """Whether an address reads like a category's, a brand's or a search."""
    return _LISTING_PATH(path) is not None


def is_front(url: str | None) -> bool:
    """Whether an address is a site's front page.

    >>> is_front("https://a.example/"), is_front("/Default.aspx"), is_front("https://a.example/x")
    (True, True, False)
    """
    return url is not None and _FRONT(url.strip()) is not None


def is_front_of_tongue(url: str) -> bool:
    """Whether an address is the front page of one of a site's languages.

    >>> is_front_of_tongue("https://a.example/de/"), is_front_of_tongue("/en-gb")
    (True, True)
    """
    return _OF_TONGUE(url) is not None


def is_errand(path: str) -> bool:
    """Whether an address is that of a cart, an account or a form."""
    return _ERRAND_PATH(path) is not None


def is_reading(path: str) -> bool:
    """Whether an address is that of an article or a blog."""
    return _READING_PATH(path) is not None


def turns_a_page(path: str) -> bool:
    """Whether an address is that of a listing's second or later page."""
    return _TURNED_PATH(path) is not None


def names_a_later_page(path: str) -> bool:
    """Whether an address asks by a parameter for a listing's second or later page."""
    return _TURNED_QUERY(path) is not None
