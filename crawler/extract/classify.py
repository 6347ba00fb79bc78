"""Which page is a product, a listing or neither: a score of each, with its reasons."""

from __future__ import annotations

import re
from typing import Literal

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Page
from crawler.extract.words import any_of, finder
from scrapy_seine.records import Record

Kind = Literal["product", "listing", "other"]

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
#: Places for something to read: a blog, or a year and a month.
_READING_PATH = finder(rf"/(?:{any_of('paths', 'reading')})/|/20\d\d/[01]?\d/")
#: `/lamps/page/3`, `/lamps/strana-3/`.
_TURNED_PATH = finder(rf"/(?:{any_of('paths', 'turned')})[-/_]\d{{1,4}}/?(?:\?|$)")
#: `/lamps?page=3`: a script's own `index.php?page=3` may name any page.
_TURNED_QUERY = re.compile(
    r"/[^?]+(?<!\.php)(?<!\.aspx)(?<!\.asp)\?(?:[^#]*&)?"
    r"(?:page(?:_?n(?:o|um|umber)|index|d)?|currentpage|product-page|pag|pagina|seite|sida|strona|stranka"
    r"|stranica|sayfa|oldal|sivu|halaman|trang|lehekulg|puslapis|lapa|selida|sahife|pagen_\d)"
    r"=(?:[2-9]|[1-9]\d)(?:&|$)"
).match
_ORIGIN = lazy_patterns.pattern(r"^https?://[^/]*")
_FRONT = re.compile(
    r"(?:https?://[^/?#]{1,200})?/?(?:(?:index|default|home|main)\.\w{2,5})?", re.I
).fullmatch
#: The front page of one of a site's languages: `/de/`, `/en-gb`.
_OF_TONGUE = re.compile(r"(?:https?://[^/]{1,200})?/[a-z]{2}(?:[-_][a-z]{2})?/?", re.I).fullmatch
#: Fields in which a visitor writes how many to buy: the tag, its names, the word in one of them. One
#: pattern for all three would try each word at each place of each name of each tag before it.
_FIELD = lazy_patterns.pattern(rb"<(?:input|select)\b[^>]{0,300}+", re.I)
_NAME = lazy_patterns.pattern(rb"\bname=[\"']?([^\s\"'>]{0,80}+)", re.I)
_QUANTITY = lazy_patterns.pattern(any_of("fields", "quantity").encode(), re.I)
#: What a page does when it is opened, so many characters of it.
_PRINTS, _LONGEST_SCRIPT = re.compile(r"\bprint\(").search, 100
_COLLECTIONS = frozenset(
    {"CollectionPage", "SearchResultsPage", "OfferCatalog", "ProductCollection"}
)

_ARTICLES = frozenset(
    {"Article", "NewsArticle", "BlogPosting", "LiveBlogPosting", "TechArticle", "ReviewNewsArticle",
     "Recipe", "HowTo", "JobPosting", "DiscussionForumPosting", "QAPage", "Event", "Review",
     "CriticReview", "ProfilePage", "Apartment", "House", "RealEstateListing", "Accommodation",
     "SingleFamilyResidence", "Hotel"}
)  # fmt: skip

_FURNITURE = frozenset(
    {"SiteNavigationElement", "VideoObject", "ImageObject", "Person", "Organization", "HowToStep",
     "Question", "WebPage", "Place", "LocalBusiness", "Store"}
)  # fmt: skip


def looks_like_product(path: str) -> bool:
    """Whether an address reads like a product's.

    >>> looks_like_product("/products/red-lamp"), looks_like_product("/collections/lamps")
    (True, False)
    >>> looks_like_product("/products/list?category_id=2")
    False
    """
    return _PRODUCT_PATH(path) is not None


#: The number of a thing within the shop's own for it: 302 of "A/302".
_FIGURES_AT_END = re.compile(r"(?<!\d)\d{3,12}\Z").search


def looks_like_listing(path: str) -> bool:
    """Whether an address reads like a category's, a brand's or a search."""
    return _LISTING_PATH(path) is not None


@attrs.define(eq=False, repr=False)
class Verdict(Record):
    """What a page is, and why."""

    product: float = 0.0
    listing: float = 0.0
    reasons: list[str] = attrs.Factory(list)
    unnamed: bool = False
    """Structured data describes a product whose name is in no heading and no title."""
    of_tiles: bool = False
    """It describes several, each of which has another page."""

    @property
    def kind(self) -> Kind:
        """The higher score, if it is high enough."""
        if self.product >= 5 and self.product >= self.listing:
            return "product"
        return "listing" if self.listing >= 3 else "other"

    def add(self, kind: Kind, points: float, reason: str) -> None:
        """Count a sign for (or, negative, against) a kind."""
        if kind == "product":
            self.product += points
        else:
            self.listing += points
        self.reasons.append(f"{kind} {points:+g}: {reason}")


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


def address_signs(verdict: Verdict, page: Page) -> None:
    """What the address alone says."""
    path = _ORIGIN.sub("", page.url)
    if is_front(path) or is_front_of_tongue(path):
        verdict.add("product", -4, "it is the front page")
    elif _ERRAND_PATH(path):
        verdict.add("product", -4, "its address is that of a cart, an account or a form")
        verdict.add("listing", -1, "its address is that of a cart, an account or a form")
    elif _READING_PATH(path):
        verdict.add("product", -3, "its address is that of something to read")
    elif _TURNED_PATH(path):
        verdict.add("product", -1, "its address turns a listing's page")
        verdict.add("listing", 1, "its address turns a listing's page")
    elif "?" in path and _TURNED_QUERY(path):
        verdict.add("product", -4, "its address turns a listing's page")
        verdict.add("listing", 3, "its address turns a listing's page")
    elif looks_like_product(path):
        verdict.add("product", 1.5, "its address reads like a product's")
    elif looks_like_listing(path):
        verdict.add("listing", 1, "its address reads like a listing's")


def quantity_signs(verdict: Verdict, page: Page, sells: bool) -> None:
    """How often the page asks how many: a product's page once or twice, a listing in each tile.

    Where it *sells* one thing by a button and asks how many, a script may draw the price.
    """
    names = (_NAME.findall(field[0]) for field in _FIELD.finditer(page.raw, 0, 1_000_000))
    asked = sum(any(map(_QUANTITY.search, found)) for found in names)
    if 1 <= asked <= 2:
        verdict.add("product", 2.5 if sells else 1.5, "it asks how many")
    elif asked > 3:
        verdict.add("listing", 1.5, f"it asks {asked} times how many")


def number_signs(verdict: Verdict, page: Page, number: str | None) -> None:
    """Whether the address holds the number that the page tells: it is about that thing."""
    if not number:
        return
    address = _ORIGIN.sub("", page.url).lower()
    figures = _FIGURES_AT_END(number)
    if (len(number) >= 4 and number.lower() in address) or (
        figures is not None and f"={figures[0]}&" in f"{address}&"
    ):
        verdict.add("product", 1.5, "its address holds the number that the page gives")


def link_signs(verdict: Verdict, page: Page) -> None:
    """What the links in the page's head say."""
    if any((link.get("rel") or "").lower() in {"next", "prev"} for link in page.links):
        verdict.add("listing", 3, "it has a next or a previous page")


def print_signs(verdict: Verdict, page: Page) -> None:
    """Whether the page prints itself: it is a poor copy of another page."""
    body = next(page.root.iterchildren("body"), None)
    opened = None if body is None else body.get("onload")
    if opened is not None and _PRINTS(opened[:_LONGEST_SCRIPT]):
        verdict.add("product", -10, "it prints itself when it is opened")


def is_no_product(names: list[str]) -> bool:
    """Whether a list's entry is of a type that nobody sells."""
    return any(name in _ARTICLES or name in _FURNITURE for name in names)


def is_article(names: list[str]) -> bool:
    """Whether a node's types are those of something to read."""
    return any(name in _ARTICLES for name in names)


def is_collection(names: list[str]) -> bool:
    """Whether a node's types are those of a listing."""
    return any(name in _COLLECTIONS for name in names)
