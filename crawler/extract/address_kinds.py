"""The kind of a page by its address: product, listing, front page, errand or article."""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.extract.words import CachedRule, any_of, entry_matcher, finder

#: `product-category` and `categorie-produit` belong to a listing's address.
_OF_PRODUCTS = rf"-(?:{any_of('paths', 'listing')}|tags?)(?:/|$)"
#: `/products/list?category=3` is a listing's address as well.
_LIST_OF = r"(?:list|index|search|all|page)(?:[/?.]|$)"
#: Not behind the first number of a range, a filter's value: `?price=0-5000`, `?price=-999`.
_NO_RANGE = "".join(rf"(?<!=\d{{{digits}}})" for digits in range(8))
#: A category's number alone: `products.asp?cat=13`.
_NO_CATEGORY = r"(?!(?:cat|cpath|category|category_?id|categoryid|page|path)=[^&]*$)"
_PRODUCT_PATH = finder(
    rf"/(?:{any_of('paths', 'product')})(?:/(?!{_LIST_OF})|(?!{_OF_PRODUCTS})-)[^/?]+|[-_/]p-?\d{{3,}}"
    rf"|/(?:{any_of('paths', 'product')})\.(?:php|aspx?|jsp|cgi|cfm|html?)\?{_NO_CATEGORY}[^/]{{0,80}}\d"
    r"|/\d{6,14}(?:\.html?|\.p|/[a-z][\w-]*)?/?(?:$|\?)"
    rf"|/\d{{1,7}}-[a-z][\w-]*\.html?$|{_NO_RANGE}-\d{{4,}}(?:\.html?|/)?$|(?<!_c)_\d+(?:\.html?|/index\.html)$"
    r"|/[a-z\d]+-[\w-]{3,200}/p/?(?:$|\?)"
    r"|[?&](?:product_id|products_id|sku|sku_?id|pid|productid|item_id|id_product)=",
)
#: A folder whose name is a word for products, and none for articles or details of anything.
_PRODUCT_FOLDER = finder(
    rf"/(?=[^/]{{5}})(?!articles?/|artikel/|items/|details?/|ficha/)(?:{any_of('paths', 'product')})"
    rf"/(?:[^/?]+/){{0,3}}(?!{_LIST_OF})[^/?]+/?(?:$|\?)"
)
_LISTING_PATH = finder(
    rf"/(?:{any_of('paths', 'listing')})(?:-(?:{any_of('paths', 'product')}))?(?:/|$|\?)"
    rf"|[?&](?:page|p|q|cat|cpath|path)=|/(?:{any_of('paths', 'product')}){_OF_PRODUCTS}",
)
#: Carts, accounts, forms and legal pages, in the path or in a parameter: `?main_page=login`,
#: `?route=checkout/cart`. A maker's folder may be called as a cart is in another language.
_ERRAND_PATH = finder(
    rf"(?:/|[?&](?:main_page|route|dispatch|cl|controller|action|mode|act|page|view)=)(?:{any_of('paths', 'errand', 'offers')})"
    r"(?:[/?.&](?![\w-]{8,200}-p-?\d{4})|$)"
)
#: Pages that lead to no product: carts, accounts, legal pages, deliveries.
_ASIDE_PATH = finder(
    rf"(?:/|[?&](?:main_page|route|dispatch)=)(?:{any_of('paths', 'errand', 'aside')})"
    r"(?:\.\w{2,5})?/?(?:\?|$)"
)
#: A search's results: `/search?q=lamp`, `/search.php?kw=lamp`.
_SEARCH_PATH = finder(
    rf"/(?:{any_of('paths', 'search')})(?:[-_]?results?)?(?:\.(?:php|aspx?|jsp|cgi|cfm|html?))?/?(?:\?|$)"
)
#: A year and a month, as in articles' addresses, and in those of a shop that is built on a blog.
_DATED = r"/20\d\d/[01]?\d/"
#: Articles: below a blog's path, below a year and a month, or a forum's thread.
_ARTICLE_PATH = finder(
    rf"/(?:{any_of('paths', 'reading')})/|{_DATED}|/(?:view|show)(?:topic|thread|forum)\.php"
)
_DATED_PATH = re.compile(_DATED).search
#: A folder of an address that holds no goods: `events`, `kurse`, `jobs`.
_NAMES_SERVICE = entry_matcher("paths", "services", 0)
_IS_SERVICE_FOLDER = CachedRule(lambda folder: _NAMES_SERVICE(folder) is not None)
#: Folders of an address that are read.
_MAX_FOLDERS = 6
#: `/lamps/page/3`, `/lamps/strana-3/`.
_LATER_PAGE_PATH = finder(rf"/(?:{any_of('paths', 'turned')})[-/_]\d{{1,4}}/?(?:\?|$)")
#: `/lamps?page=3`, but not a script's `index.php?page=3`, which may be any page.
_LATER_PAGE_QUERY = re.compile(
    r"/[^?]+(?<!\.php)(?<!\.aspx)(?<!\.asp)\?(?:[^#]*&)?"
    r"(?:page(?:_?n(?:o|um|umber)|index|d)?|currentpage|product-page|pag|pagina|seite|sida|strona|stranka"
    r"|stranica|sayfa|oldal|sivu|halaman|trang|lehekulg|puslapis|lapa|selida|sahife|pagen_\d)"
    r"=(?:[2-9]|[1-9]\d)(?:&|$)"
).match
_ORIGIN = re.compile(r"https?://[^/?#]*").match
_FRONT = re.compile(
    r"(?:https?://[^/?#]{1,200}+)?/?(?:(?:index|default|home|main)\.\w{2,5})?", re.I
).fullmatch
#: The front page of one of a site's languages: `/de/`, `/en-gb`.
_FRONT_OF_LANGUAGE = re.compile(
    r"(?:https?://[^/]{1,200})?/[a-z]{2}(?:[-_][a-z]{2})?/?", re.I
).fullmatch


def without_origin(url: str) -> str:
    """Return an address without scheme and host.

    >>> without_origin("https://a.example/lamps?page=2"), without_origin("https://a.example?id=1")
    ('/lamps?page=2', '?id=1')
    """
    origin = _ORIGIN(url)
    return url[origin.end() :] if origin else url


def looks_like_product(path: str) -> bool:
    """Return whether an address has the form of a product's.

    >>> looks_like_product("/products/red-lamp"), looks_like_product("/collections/lamps")
    (True, False)
    >>> looks_like_product("/products/list?category_id=2"), looks_like_product("/lamps?price=0-5000")
    (False, False)
    """
    return _PRODUCT_PATH(path) is not None


def is_in_product_folder(path: str) -> bool:
    """Return whether an address is below a folder for products by its name.

    >>> is_in_product_folder("/products/valves/bv-220"), is_in_product_folder("/bars/1190-capelayo.html")
    (True, False)
    """
    return _PRODUCT_FOLDER(path) is not None


def looks_like_listing(path: str) -> bool:
    """Return whether an address has the form of a category's, a brand's or a search's."""
    return _LISTING_PATH(path) is not None


def is_front(url: str | None) -> bool:
    """Return whether an address is that of a site's front page.

    >>> is_front("https://a.example/"), is_front("/Default.aspx"), is_front("https://a.example/x")
    (True, True, False)
    """
    return url is not None and _FRONT(url.strip()) is not None


def is_front_of_language(url: str) -> bool:
    """Return whether an address is that of the front page in one of a site's languages.

    >>> is_front_of_language("https://a.example/de/"), is_front_of_language("/en-gb")
    (True, True)
    """
    return _FRONT_OF_LANGUAGE(url) is not None


def is_errand(path: str) -> bool:
    """Return whether an address is that of a cart, an account or a form."""
    return _ERRAND_PATH(path) is not None


@lru_cache(maxsize=1024)
def leads_aside(path: str) -> bool:
    """Return whether an address is that of a page which leads to no product.

    >>> leads_aside("/pages/contact-us"), leads_aside("/delivery/pizza"), leads_aside("/price-list")
    (True, False, False)
    """
    return _ASIDE_PATH(path) is not None


def is_beside(path: str) -> bool:
    """Return whether an address is that of an article, or of a page that leads to no product."""
    return leads_aside(path) or is_reading(path)


def is_search(path: str) -> bool:
    """Return whether an address is that of a search's results.

    >>> is_search("/search.php?kw=lamp"), is_search("/search/red-lamp")
    (True, False)
    """
    return _SEARCH_PATH(path) is not None


def is_reading(path: str) -> bool:
    """Return whether an address is that of an article or a blog."""
    return _ARTICLE_PATH(path) is not None


def is_dated(path: str) -> bool:
    """Return whether an address has a year and a month, as articles have, and some shops' goods."""
    return _DATED_PATH(path) is not None


def is_service(path: str) -> bool:
    """Return whether a folder of an address holds events, courses, rooms, jobs or other services.

    >>> is_service("/events/jazz-night"), is_service("/shop/event-tent"), is_service("/x?to=/jobs")
    (True, False, False)
    """
    folders = path.partition("?")[0].split("/", _MAX_FOLDERS)[1:_MAX_FOLDERS]
    return any(map(_IS_SERVICE_FOLDER.__getitem__, folders))


def is_later_page(path: str) -> bool:
    """Return whether an address is that of a listing's second or later page."""
    return _LATER_PAGE_PATH(path) is not None


def has_later_page_parameter(path: str) -> bool:
    """Return whether a parameter of an address requests a listing's second or later page."""
    return _LATER_PAGE_QUERY(path) is not None
