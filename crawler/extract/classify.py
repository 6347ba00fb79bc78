"""Which page is a product, a listing or neither: a score of each, with its reasons."""

from __future__ import annotations

import re
from typing import Literal

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import (
    is_errand,
    is_front,
    is_front_of_tongue,
    is_reading,
    looks_like_listing,
    looks_like_product,
    names_a_later_page,
    turns_a_page,
)
from crawler.extract.fields import Fields
from crawler.extract.page.page import Page
from crawler.extract.stock.shown import NOT_TO_BE_HAD
from crawler.extract.structured import opengraph
from crawler.extract.visible_signs import Visible
from crawler.extract.words import any_of
from scrapy_seine.records import Record

Kind = Literal["product", "listing", "other"]

_ORIGIN = lazy_patterns.pattern(r"^https?://[^/]*")
#: Fields in which a visitor writes how many to buy: the tag, its names, the word in one of them. One
#: pattern for all three would try each word at each place of each name of each tag before it.
_FIELD = lazy_patterns.pattern(rb"<(?:input|select)\b[^>]{0,300}+", re.I)
_NAME = lazy_patterns.pattern(rb"\bname=[\"']?([^\s\"'>]{0,80}+)", re.I)
_QUANTITY = lazy_patterns.pattern(any_of("fields", "quantity").encode(), re.I)
#: Things from which on a page is a list of them.
LIST_OF = 3
#: With so many points a page is a product's.
_SURELY = 5
#: With fewer it is none, however plainly it offers a thing.
_WEIGHED = 2
#: What a price near the heading is worth; one that is called a price, and is nearer, is worth more.
_NEAR_POINTS = 3
#: How far from the heading a price is near: less where tiles show prices too.
_NEAR, _NEAR_TILES = 60, 30
#: The same of a price in a box that is called one, and of the page's only amount: without such a box
#: it is as if ten lines farther.
_BESIDE, _NEXT = 15, 13
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


#: The number of a thing within the shop's own for it: 302 of "A/302".
_FIGURES_AT_END = re.compile(r"(?<!\d)\d{3,12}\Z").search


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
        if self.product >= _SURELY and self.product >= self.listing:
            return "product"
        return "listing" if self.listing >= 3 else "other"

    def add(self, kind: Kind, points: float, reason: str) -> None:
        """Count a sign for (or, negative, against) a kind."""
        if kind == "product":
            self.product += points
        else:
            self.listing += points
        self.reasons.append(f"{kind} {points:+g}: {reason}")


def address_signs(verdict: Verdict, page: Page) -> None:
    """What the address alone says."""
    path = _ORIGIN.sub("", page.url)
    if is_front(path) or is_front_of_tongue(path):
        verdict.add("product", -4, "it is the front page")
    elif is_errand(path):
        verdict.add("product", -4, "its address is that of a cart, an account or a form")
        verdict.add("listing", -1, "its address is that of a cart, an account or a form")
    elif is_reading(path):
        verdict.add("product", -3, "its address is that of something to read")
    elif turns_a_page(path):
        verdict.add("product", -1, "its address turns a listing's page")
        verdict.add("listing", 1, "its address turns a listing's page")
    elif "?" in path and names_a_later_page(path):
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


def open_graph_signs(page: Page, tags: Fields, verdict: Verdict) -> None:
    """What its meta elements say: a type, a price, a stock, a day of publication."""
    if opengraph.is_product(page):
        verdict.add("product", 3, "OpenGraph calls it a product")
        if "price" in tags:
            verdict.add("product", 2, "OpenGraph has a price")
        elif tags.keys() & {"availability", "sku", "gtin"}:
            verdict.add("product", 2, "OpenGraph has its stock or number")
    elif "price" in tags:
        verdict.add("product", 3, "its meta elements have a price")
    elif page.meta("article:published_time"):
        verdict.add("product", -1, "it was published on a day, as articles are")
        verdict.add("listing", -2, "it was published on a day, as articles are")


def visible_signs(seen: Visible, verdict: Verdict) -> None:
    """What its visible text says: prices, buttons, numbers, stock and tiles."""
    _price_signs(seen, verdict)
    if seen.sells_one:
        verdict.add("product", 2.5, "a button buys it")
    elif seen.buy_buttons:
        verdict.add("listing", 2 + seen.in_tiles, f"{seen.buy_buttons} buttons buy things")
    elif seen.asks:
        verdict.add("product", 2, "a button asks who sells it")
    if seen.priced_choices and not seen.buy_buttons:
        verdict.add("product", 2, "each of several choices has a price")
    if seen.facts > 1:
        verdict.add("product", 3, f"the page gives {seen.facts} numbers of one item")
    elif seen.facts:
        verdict.add("product", 2, "the page gives an item number")
    elif "brand" in seen.fields and "price" in seen.fields:
        verdict.add("product", 1, "the maker stands beside the price")
    if seen.weigh_offer is not None and _WEIGHED <= verdict.product < _SURELY:
        seen.weigh_offer()
        if seen.of_service:
            verdict.add("product", -2, "its amount is that of an entrance, an hour or a course")
    _stock_signs(seen, verdict)
    _plain_signs(seen, verdict)
    _tile_signs(seen, verdict)


def _tile_signs(seen: Visible, verdict: Verdict) -> None:
    if seen.lone_cards and "price" not in seen.fields:
        points = 3 if seen.lone_cards > 1 else 2
        verdict.add("listing", points, f"{seen.lone_cards} prices under titles of other pages")
    if seen.cards >= LIST_OF and not (seen.cards_apart and seen.facts):
        verdict.add("listing", 6 if verdict.unnamed else 3, f"{seen.cards} prices in tiles")


def _plain_signs(seen: Visible, verdict: Verdict) -> None:
    if seen.plainly and 3 <= verdict.product < _SURELY and verdict.listing < LIST_OF:
        points = _SURELY - verdict.product
        verdict.add("product", points, "it names, shows and prices one thing in plain words")


def _stock_signs(seen: Visible, verdict: Verdict) -> None:
    told = seen.price_distance is not None or seen.sells_one
    stock = seen.fields.get("availability")
    priced = "price" in seen.fields and "name" in seen.fields and not seen.price_is_loose
    priced = priced and (
        seen.price_stands or seen.price_marked or bool(seen.facts or seen.buy_buttons)
    )
    if stock in NOT_TO_BE_HAD and priced and not (seen.cards or seen.lone_cards):
        verdict.add("product", 2, "beside its price it says that it cannot be had")
    elif stock and told:
        verdict.add("product", 1, "the page says whether it is in stock")
    elif stock in NOT_TO_BE_HAD and seen.facts and "name" in seen.fields:
        shown = stock == "Discontinued" or bool(seen.fields.get("images"))
        points = 3 if shown else 2  # other pages say of things that they are out
        verdict.add("product", points, "beside its number it says that it cannot be had")
    elif stock and seen.facts > 1:
        verdict.add("product", 1, "beside its numbers the page says whether it is in stock")
    elif stock in NOT_TO_BE_HAD and "name" in seen.fields and not seen.cards:
        # Who calls the page a product's elsewhere leaves out only the price.
        points = 2 if verdict.product >= 3 else 1
        verdict.add("product", points, "it says that it cannot be had")
    if seen.notifies and stock in NOT_TO_BE_HAD and "name" in seen.fields:
        verdict.add("product", 1.5, "a button offers a message when it is in stock again")


def _price_signs(seen: Visible, verdict: Verdict) -> None:
    if seen.price_in_prose:
        verdict.add("product", 1, "a sentence or an article has a price")
        return
    if seen.price_distance is not None and "name" in seen.fields:
        several_tiles = seen.cards >= LIST_OF
        doubtful = several_tiles and not seen.price_marked
        near = seen.price_distance <= (_NEAR_TILES if doubtful else _NEAR)
        several = bool(verdict.listing) or (seen.price_in_rows and seen.buy_buttons > 1)
        near = near and not (seen.price_after_link and several)
        beside = _BESIDE if seen.price_marked else _NEXT if seen.price_alone else -1
        points = _NEAR_POINTS + (seen.price_distance <= beside) if near else 1
        verdict.add("product", points, "a price stands near the heading")
        if verdict.of_tiles and points > _NEAR_POINTS:
            verdict.add("listing", -5, "what is described are tiles below its own price")
        if near and seen.pictured and several_tiles:
            verdict.add("product", 1, "a picture is called as it is")
        if near and "regular_price" in seen.fields:
            verdict.add("product", 1, "with the price before")
    elif seen.price_distance is not None:
        verdict.add("product", 2, "a price stands alone")
    elif seen.on_request:
        verdict.add("product", 3, "its price is given on request")
