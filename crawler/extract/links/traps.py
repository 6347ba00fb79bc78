"""Addresses that are never followed: files, carts, calendars, and paths that repeat themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote

from crawler.extract.address_kinds import leads_aside, looks_like_product, without_origin
from crawler.extract.links.pagination import Address, page_number
from crawler.extract.links.switches import NAME as SWITCHES
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.page import Element
from crawler.extract.words import any_of, any_word, finder

_FILE = finder(
    r"\.(?:jpe?g|png|gif|webp|svg|avif|bmp|ico|tiff?|pdf|zip|rar|gz|7z|tar|mp[34]|avi|mov|webm|wav"
    r"|docx?|xlsx?|pptx?|csv|xml|rss|atom|json|js|css|exe|dmg|apk|ics|txt|epub|woff2?|ste?p|stl|dwg|dxf|ige?s)$",
)
_USELESS = finder(
    rf"/(?:{any_of('paths', 'useless')})(?!\.php\?(?:target|page|mode)=(?:category|product)&)(?:[/?#.]|$)"
    r"|/add(?:\?\w+=|/\d)|/\d{1,20}/(?:edit|destroy|delete)/?(?:[?#]|$)|/(?<=[^/?#]/)(?:feed|amp)/?(?:[?#]|$)|[?&]amp(?:=|&|$)"
    r"|[?&](?:add[-_]?to[-_]?cart|add[-_]?cart|add_to_wishlist|add-to-wishlist|action=add|remove_item"
    r"|add(?==\d)|replytocom|share|print|wishlist|compare|feed)(?:=|&|$)"
    rf"|[?&](?:{SWITCHES})(?:=|&|$)"
    r"|quick[-_]?view(?:[/?&.]|$)|/product-variation\?|product_?reviews?(?:_write|_info)?(?:[/?&.]|$)"
    rf"|[?&](?:route|rt)=(?:account|checkout|information|product/(?:compare|product/))|[?&](?:action|do|act|op|cmd|mode|method)=(?:add|buy|empty|delete|login|print|cart|{any_of('paths', 'acts')})"
    rf"|[?&](?:main_page|dispatch)=(?:\w{{1,40}}\.)?(?:add|print|popup|ask|{any_of('paths', 'acts')})_"
    r"|/(?:(?:print|popup)_\w{1,40}|(?:\w{1,20}_)?(?:zoom|enlarge)\d?)\.(?:php|aspx?|jsp|cgi|html?)\?",
)
#: A name below such a word that is also a thing (`/print/sunset-over-paris`), and a category of things.
_NAMED = finder(
    r"^/(?:print|cookies?|cart|basket|panier|carrito|carrello)/[^\W_]+(?:-[^\W_]+){2,}(?:\.html?)?/?$"
    r"|^/(?:[\w-]{1,40}/)?(?:[\w-]{0,20}[ck]ategor[\w-]{0,20}|collections?)/(?:[\w-]{1,60}/){0,3}"
    r"(?:print|cookies?|basket|cart|register|feed|share)(?:/(?!feed)[\w-]{1,100})?/?(?:\?|$)"
)
#: A root category called as a legal page is, and what is below it.
_GOODS_FOLDER = finder(r"^/(?:cookies|prints?)(?:/[\w%.-]{2,200}){0,2}/?$")
_ACT = finder(r"/(?:add|remove|delete|update|create|edit|view|send)\b")
_CALENDAR = finder(
    r"[?&](?:date|day|month|year|week|cal|calendar|from_?date|to_?date|start_?date|end_?date|tribe"
    r"[-_]\w+|eventdate|ical)=|/(?:calendar|kalender|calendrier|calendario|events?|archives?)/"
    r"(?:\D{0,80}/)?(?:19|20)\d\d|/(?:19|20)\d\d/(?:0?[1-9]|1[0-2])(?:/|$)|/(?:19|20)\d\d-\d\d(?:-\d\d)?(?:/|$)",
)
#: An article's address in blog software, which is also a product's where a shop is built on that.
_DATED_NAME = finder(r"/20\d\d/(?:0?[1-9]|1[0-2])/(?:\d\d?/)?[a-z%][\w%-]*/?$")
#: Words beside an amount that is no price: postage, a saving.
_names_other = any_word("amounts", "other")
#: Boxes around a link that may be its tile, elements of each, and characters of its price.
_MAX_BOXES, _MAX_BOX_ELEMENTS, _MAX_PRICE_LENGTH = 3, 40, 30
_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "a"})
#: Boxes around a link that may be its menu, and links of a menu.
_MAX_MENU_LEVELS, _MIN_MENU_LINKS, _MAX_MENU_LINKS = 4, 3, 60
_MAX_URL_LENGTH = 1000
_MAX_PATH_SEGMENTS = 12
_TRAP_SEGMENT_REPEATS = 3
_MAX_PARAMETERS = 50


@lru_cache(maxsize=1024)
def is_trap(url: str) -> bool:
    """Whether an address leads to no catalogue page (cart, file, calendar), or into an endless loop."""
    path_and_query = url[url.find("/", 8) :] if url.find("/", 8) > 0 else "/"
    path = path_and_query.partition("?")[0]
    if (
        len(url) > _MAX_URL_LENGTH
        or url.count("&") > _MAX_PARAMETERS
        or _USELESS(path_and_query)
        or _FILE(path)
    ):
        return True
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > _MAX_PATH_SEGMENTS:
        return True
    if max(map(segments.count, segments), default=0) >= _TRAP_SEGMENT_REPEATS:
        return True
    dated = "=" in path_and_query or "19" in path_and_query or "20" in path_and_query
    return dated and _CALENDAR(path_and_query) is not None and not looks_like_product(path)


def returns_to(target: Address, own: Address) -> bool:
    """Whether a link's parameter is the page's own path, to which a login or a switch returns.

    On a front page it may be the only way on.

    >>> own, switch = ("https://a.example", "/p/lamp", ()), (("next", "%2Fp%2Flamp"),)
    >>> returns_to(("https://a.example", "/i18n/ar/", switch), own)
    True
    >>> returns_to(("https://a.example", "/more", (*switch, ("page", "2"))), own)
    False
    """
    if not target[2] or own[1] in {"/", target[1]} or page_number(target):
        return False
    return any(
        unquote(value) in {own[1], unquote(own[1]), own[0] + own[1]} for _, value in target[2]
    )


def names_goods(url: str) -> bool:
    """Whether a trap's address may be that of goods which are called so, such as prints.

    On a product's page such a link leads to the product itself, to be printed or shared.

    >>> names_goods("https://a.example/print/sunset-over-paris"), names_goods("https://a.example/cart/add-to-cart")
    (True, False)
    >>> names_goods("https://a.example/collections/cookies"), names_goods("https://a.example/legal/cookies")
    (True, False)
    """
    path_and_query = url[url.find("/", 8) :]
    return bool(_NAMED(path_and_query) and not _ACT(path_and_query))


def may_be_category(path: str) -> bool:
    """Whether a path is a root category's of cookies or prints, or below one, by its words alone.

    >>> may_be_category("/cookies"), may_be_category("/cookies/oat-crunch"), may_be_category("/cookie-policy")
    (True, True, False)
    """
    return _GOODS_FOLDER(path) is not None


def stands_among_goods(element: Element) -> bool:
    """Whether the smallest box with other links around a link has few to carts and legal pages."""
    for box in islice(element.iterancestors(), _MAX_MENU_LEVELS):
        hrefs = [anchor.get("href") or "" for anchor in islice(box.iter("a"), _MAX_MENU_LINKS)]
        if len(hrefs) >= _MIN_MENU_LINKS:
            paths = [without_origin(href) for href in hrefs]
            useless = sum(
                bool(_USELESS(path if path[:1] == "/" else f"/{path}") or leads_aside(path))
                for path in paths
            )
            return 2 * (useless - 1) < len(hrefs) - 1
    return False


def is_dated_product(element: Element, url: str) -> bool:
    """Whether a link with a year and a month in its address stands in a tile with a price."""
    if _DATED_NAME(url) is None:
        return False
    own_path = without_origin(url)
    for box in islice(element.iterancestors(), _MAX_BOXES):
        inner = [*islice(box.iter(), _MAX_BOX_ELEMENTS)]
        hrefs = (other.get("href") or "" for other in inner)
        if any(own_path not in href and _DATED_NAME(href) for href in hrefs):
            return False  # the box holds several articles, or tiles
        if any("price" in (other.get("class") or "") for other in inner):
            return True
        if any(map(_is_price, _texts_beside(inner, element))):
            return True
    return False


def _texts_beside(elements: list[Element], link: Element) -> Iterator[str]:
    """Yield the texts of elements without those of titles, which may be "Gifts under $50"."""
    for element in elements:
        if element is not link and element.tag not in _TITLES:
            yield element.text or ""
        yield element.tail or ""


def _is_price(text: str) -> bool:
    """Whether a text is a price with a word or two beside it, and no sentence or postage."""
    is_short = 1 < len(text) < _MAX_PRICE_LENGTH
    return is_short and next(find_prices(text), None) is not None and _names_other(text) is None
