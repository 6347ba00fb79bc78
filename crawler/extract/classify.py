"""Classification of a page as product, listing or other: a score of each, with its reasons."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Literal

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import (
    has_later_page_parameter,
    is_dated,
    is_errand,
    is_front,
    is_front_of_language,
    is_in_product_folder,
    is_later_page,
    is_reading,
    is_search,
    is_service,
    looks_like_listing,
    looks_like_product,
    without_origin,
)
from crawler.extract.fields import Fields
from crawler.extract.page.lines import begins_other_section
from crawler.extract.page.page import Page
from crawler.extract.stock.availability import UNAVAILABLE
from crawler.extract.structured import opengraph
from crawler.extract.visible.service_signs import NAMES_HOME, NAMES_TICKET, names_service
from crawler.extract.visible_signs import Visible
from crawler.extract.words import (
    any_of,
    any_word,
    full_matcher_of,
    prefix_matcher_of,
)
from scrapy_seine.attrs_bases import Record
from scrapy_seine.urls import host_of

Kind = Literal["product", "listing", "other"]

#: The heading of a page about postage, payment or terms, of a cart or an order, and its characters.
_IS_ERRAND_HEADING = full_matcher_of(
    lambda any_of: rf"\W{{0,3}}(?:{any_of('headings', 'errands')})\W{{0,3}}"
)
#: The heading of the results of a search: `2 results for "lamp"`.
_IS_SEARCH_HEADING = full_matcher_of(
    lambda any_of: rf"\W{{0,3}}(?:\d{{1,6}} )?(?:{any_of('headings', 'searches')})(?:\W.{{0,50}})?"
)
_MAX_ERRAND_HEADING, _MAX_CART_TITLE = 60, 24
#: The heading of an article: "How to", or a question.
_TEACHES = prefix_matcher_of(lambda any_of: rf"(?:{any_of('headings', 'teaches')})")
_QUESTIONS = frozenset("?？؟")
#: The heading of a test or a guide: "Nova 5 review", "Nova 5 im Test".
_REVIEWS = any_word("headings", "reviews")
#: The heading of a comparison: "A 20 vs. B 30".
_COMPARES = re.compile(r"\s(?:vs\.?|versus)\s", re.I).search
_QUANTITY = lazy_patterns.pattern(any_of("fields", "quantity"), re.I)
#: Fields of a page that are asked for their name, and characters of a name.
_MAX_FIELDS, _MAX_NAME = 5_000, 80
#: Things on a page from which on the page is a list of them.
MIN_LIST_LENGTH = 3
#: Points of a product's page.
_PRODUCT_SCORE = 5
#: Points from which on the page's offer is weighed; with fewer the page is no product's.
_MIN_WEIGHED_SCORE = 2
#: Points for an address like a product's.
_ADDRESS_POINTS = 1.5
#: Points for a price near the heading; a close price in a box for prices gets one more.
_NEAR_POINTS = 3
#: Lines from the heading within which a price is near: fewer where tiles show prices too.
_NEAR_LINES, _NEAR_LINES_AMONG_TILES = 60, 30
#: Lines within which a price is close: in a box for prices, and as the only amount elsewhere.
_CLOSE_LINES, _CLOSE_LINES_ALONE = 15, 13
#: A call in the script that runs when a page is opened, and the characters of it that are read.
_PRINTS, _MAX_SCRIPT_LENGTH = re.compile(r"\bprint\(").search, 100
_COLLECTIONS = frozenset(
    {"CollectionPage", "SearchResultsPage", "OfferCatalog", "ProductCollection"}
)
_ARTICLES = frozenset(
    {"Article", "NewsArticle", "BlogPosting", "LiveBlogPosting", "TechArticle", "ReviewNewsArticle",
     "Recipe", "HowTo", "JobPosting", "DiscussionForumPosting", "QAPage", "Review",
     "CriticReview", "ProfilePage", "Apartment", "House", "RealEstateListing", "Accommodation",
     "SingleFamilyResidence", "Hotel", "HotelRoom", "Suite", "VacationRental", "Course", "TouristTrip", "Trip", "MenuItem",
     "FinancialProduct", "Service"}
)  # fmt: skip
_PAGE_PARTS = frozenset(
    {"SiteNavigationElement", "VideoObject", "ImageObject", "Person", "Organization", "HowToStep",
     "Question", "WebPage", "Place", "LocalBusiness", "Store"}
)  # fmt: skip

#: The attributes of the body of a page without one.
_NO_BODY: dict[str, str] = {}
#: Bytes in which a page's first element stands, which a part of a page has not.
_MAX_BEGINNING = 300
#: The figures at the end of a shop's number: 302 of "A/302".
_FIGURES_AT_END = re.compile(r"(?<!\d)\d{3,12}\Z").search


@attrs.define(eq=False, repr=False)
class Verdict(Record):
    """A page's scores as a product and as a listing, with the reasons."""

    product: float = 0.0
    listing: float = 0.0
    reasons: list[str] = attrs.Factory(list)
    unnamed: bool = False
    """Structured data describes a product whose name is in no heading and no title."""
    tiles: int = 0
    """The products that structured data describes, if each of them has another page."""

    @property
    def kind(self) -> Kind:
        """The kind with the higher score, if that score is high enough."""
        if self.product >= _PRODUCT_SCORE and self.product >= self.listing:
            return "product"
        return "listing" if self.listing >= 3 else "other"

    def add(self, kind: Kind, points: float, reason: str) -> None:
        """Add points for a kind, or negative points against it, with their reason."""
        if kind == "product":
            self.product += points
        else:
            self.listing += points
        self.reasons.append(_scored(kind, points, reason))


# Cached, because a shop's pages score by the same few reasons.
@lru_cache(maxsize=256)
def _scored(kind: Kind, points: float, reason: str) -> str:
    return f"{kind} {points:+g}: {reason}"


def address_signs(verdict: Verdict, page: Page) -> None:
    """Score the page's address."""
    path = without_origin(page.url)
    if is_front(path) or is_front_of_language(path):
        verdict.add("product", -4, "it is the front page")
    elif is_errand(path):
        verdict.add("product", -4, "its address is that of a cart, an account or a form")
        verdict.add("listing", -1, "its address is that of a cart, an account or a form")
    elif is_reading(path):
        points = -2 if is_dated(path) else -3  # some shops are built on blog software
        verdict.add("product", points, "its address is that of something to read")
    elif is_service(path):
        page.is_at_service = True
        verdict.add("product", -3, "its address is that of an event, a course, a job or a service")
    elif is_later_page(path):
        verdict.add("product", -1, "its address turns a listing's page")
        verdict.add("listing", 1, "its address turns a listing's page")
    elif "?" in path and has_later_page_parameter(path):
        verdict.add("product", -4, "its address turns a listing's page")
        verdict.add("listing", 3, "its address turns a listing's page")
    elif is_search(path):
        verdict.add("product", -5, "its address is that of a search")
        verdict.add("listing", 1, "its address is that of a search")
    elif looks_like_product(path):
        verdict.add("product", _ADDRESS_POINTS, "its address reads like a product's")
    elif looks_like_listing(path):
        verdict.add("listing", 1, "its address reads like a listing's")


def quantity_signs(verdict: Verdict, page: Page, sells: bool) -> None:
    """Score the page's fields for a quantity: a product's page has one or two, a listing many.

    With *sells*, a button sells one thing, so a script may draw the price; the field counts more.
    """
    fields = islice(page.root.iter("input", "select"), _MAX_FIELDS)
    names = ((field.get("name") or "")[:_MAX_NAME] for field in fields)
    quantity_fields = sum(name != "" and _QUANTITY.search(name) is not None for name in names)
    if 1 <= quantity_fields <= 2:
        verdict.add("product", 2.5 if sells else 1.5, "it asks how many")
    elif quantity_fields > 3:
        verdict.add("listing", 1.5, f"it asks {quantity_fields} times how many")


def number_signs(verdict: Verdict, page: Page, number: str | None) -> None:
    """Score an address that contains the product's number on the page."""
    if not number:
        return
    address = without_origin(page.url).lower()
    figures = _FIGURES_AT_END(number)
    if (len(number) >= 4 and number.lower() in address) or (
        figures is not None and f"={figures[0]}&" in f"{address}&"
    ):
        verdict.add("product", 1.5, "its address holds the number that the page gives")


def name_signs(verdict: Verdict, url: str, fields: Fields) -> None:
    """Score a page whose only name is the shop's, as templates give it to all pages.

    >>> verdict = Verdict(product=5.5)
    >>> name_signs(verdict, "https://www.lamps.example/add", {"name": "Lamps"})
    >>> verdict.kind
    'other'
    """
    if "price" in fields or not fields.get("name"):
        return
    labels = host_of(url).removeprefix("www.").split(".")
    if "".join(filter(str.isalnum, fields["name"].casefold())) in {labels[0], "".join(labels)}:
        verdict.add("product", -4, "its name is the shop's, and it has no price")


def link_signs(verdict: Verdict, page: Page) -> None:
    """Score the links in the page's head."""
    if any((link.get("rel") or "").lower() in {"next", "prev"} for link in page.links):
        verdict.add("listing", 3, "it has a next or a previous page")


def copy_signs(verdict: Verdict, page: Page) -> None:
    """Score a page that is a reduced copy of another one: it prints itself, or it is a quick view."""
    onload = next(page.root.iterchildren("body"), _NO_BODY).get("onload")
    if onload and _PRINTS(onload[:_MAX_SCRIPT_LENGTH]):
        verdict.add("product", -10, "it prints itself when it is opened")
    elif (
        not page.title
        and b"<html" not in page.raw[:_MAX_BEGINNING].lower()
        and _leads_to_product(page)
    ):
        page.is_part = True
        verdict.add("product", -10, "it is a part of a page, whose link leads to the product")


def _leads_to_product(page: Page) -> bool:
    """Whether all links of a page lead to one other page, which has a product's address."""
    urls = {page.resolve(anchor.get("href") or "") for anchor in page.anchors}
    url = urls.pop() if len(urls) == 1 else None
    return url not in {None, page.url} and looks_like_product(without_origin(str(url)))


def is_no_product(names: list[str]) -> bool:
    """Return whether a type of a list's entry is an article's or that of a part of a page."""
    return is_article(names) or any(name in _PAGE_PARTS for name in names)


def is_article(names: list[str]) -> bool:
    """Return whether a node's types are those of an article or an event."""
    return any(name in _ARTICLES for name in names) or is_event(names)


def is_event(names: list[str]) -> bool:
    """Return whether a type is that of an event: `Event`, `MusicEvent`, `TheaterEvent`."""
    return any(name.endswith("Event") for name in names)


def is_collection(names: list[str]) -> bool:
    """Return whether a node's types are those of a listing."""
    return not _COLLECTIONS.isdisjoint(names)


def open_graph_signs(page: Page, tags: Fields, verdict: Verdict) -> None:
    """Score the page's meta elements: a type, a price, a stock, a day of publication."""
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


def visible_signs(visible: Visible, verdict: Verdict, page: Page) -> None:
    """Score the page's visible text: prices, buttons, numbers, stock and tiles."""
    if visible.numbers_tiles:
        visible.facts = 0
    _price_signs(visible, verdict)
    if visible.sells_one:
        verdict.add("product", 2.5, "a button buys it")
    elif visible.buy_buttons > MIN_LIST_LENGTH or visible.in_tiles:
        points = 2 + visible.in_tiles + 3 * _sells_below_headings(visible, page)
        verdict.add("listing", points, f"{visible.buy_buttons} buttons buy things")
    elif visible.asks and ("price" in visible.fields or _shows_product(visible, verdict)):
        verdict.add("product", 2, "a button asks who sells it")
    has_choices = visible.priced_choices and not visible.buy_buttons
    if has_choices:
        verdict.add("product", 2, "each of several choices has a price")
    _fact_signs(visible, verdict, page)
    _offer_signs(visible, verdict, 2 * has_choices)
    if visible.no_goods:
        verdict.add("product", -15, visible.no_goods)
    _heading_signs(visible, verdict, page.title)
    _stock_signs(visible, verdict)
    _plain_signs(visible, verdict)
    _tile_signs(visible, verdict)
    page.tile_amounts = visible.tile_amounts


def _fact_signs(visible: Visible, verdict: Verdict, page: Page) -> None:
    """Score what tells of one thing: numbers, its maker, and a table where it has no price."""
    if visible.facts > 1:
        verdict.add("product", 3, f"the page gives {visible.facts} numbers of one item")
    elif visible.facts:
        verdict.add("product", 2, "the page gives an item number")
    elif "brand" in visible.fields and "price" in visible.fields:
        verdict.add("product", 1, "the maker stands beside the price")
    if visible.facts and visible.is_unpriced:
        verdict.add("product", 1.5, "a picture is called as it is")
    elif visible.is_described and is_in_product_folder(without_origin(page.url)):
        points = _PRODUCT_SCORE - _ADDRESS_POINTS
        verdict.add("product", points, "a picture is called as it is, and a table describes it")


def _sells_below_headings(visible: Visible, page: Page) -> bool:
    """Whether several headings have a form or button each: products without pages of their own."""
    if visible.cards or visible.facts:
        return False
    boxes = {heading.getparent() for heading in page.headings[:_MAX_FIELDS]}
    return (
        sum(next(box.iter("form", "button"), None) is not None for box in boxes) > MIN_LIST_LENGTH
    )


def button_signs(visible: Visible, verdict: Verdict) -> None:
    """Score a product of structured data with little of a shop's, by the lack of a button."""
    if not (visible.buy_buttons or visible.asks or visible.facts):
        verdict.add("product", -3, "no button sells what structured data only name and price")


def _offer_signs(visible: Visible, verdict: Verdict, of_choices: float) -> None:
    """Score an offer without a buy button by the line with its price.

    *of_choices* are the points that it has for choices with a price each.
    """
    if visible.weigh_offer is None or verdict.product < _MIN_WEIGHED_SCORE:
        return
    # A place in a course is reserved by a button too, and a donation chosen among amounts.
    certain_score = verdict.product - 2 * visible.asks - of_choices
    # Services have addresses like products, but no numbers.
    certain_score -= 0 if visible.facts else _ADDRESS_POINTS
    is_certain = certain_score >= _PRODUCT_SCORE
    visible.weigh_offer()
    if visible.priced_as_service or (visible.of_service and not is_certain):
        # A button that reserves a product reserves a place as well.
        is_numbered = visible.priced_as_service and visible.facts > 0  # jobs have numbers, too
        points = -2 - 2 * (visible.asks or is_numbered)
        verdict.add("product", points, "its amount is that of an entrance, an hour or a course")
    elif visible.in_sums:
        verdict.add(
            "product", -2, "its amount is one of a table's other sums or of a list of prices"
        )
    elif visible.refers:
        points = -2 - 2 * visible.asks
        verdict.add("product", points, "a link leads to the shop that sells it")
    elif is_certain:
        return
    elif visible.judged:
        verdict.add("product", -2, "a heading is that of a test's verdict")
    elif visible.asks and visible.in_price_sentence and not (visible.price_marked or visible.facts):
        verdict.add("product", -2, "its amount is one of several in a sentence")


def _shows_product(visible: Visible, verdict: Verdict) -> bool:
    """Whether a page with a price on request has signs of a product: a picture named like its heading.

    And one more sign; or the maker and the stock. Pages about services have the same buttons.
    """
    has_brand = "brand" in visible.fields
    if has_brand and visible.on_request and "availability" in visible.fields:
        return True
    has_sign = visible.price_marked or visible.facts or has_brand
    is_addressed = verdict.product > _NEAR_POINTS
    if visible.price_marked and is_addressed and visible.fields.get("images"):
        return True
    return visible.pictured and (bool(has_sign) or is_addressed)


def _heading_signs(visible: Visible, verdict: Verdict, title: str) -> None:
    name = visible.fields.get("name") or ""
    if 0 < len(title) <= _MAX_CART_TITLE and _IS_ERRAND_HEADING(title.strip()):
        verdict.add("product", -8, "its title is that of postage, terms, a cart or an order")
    if len(name) <= _MAX_ERRAND_HEADING and _IS_ERRAND_HEADING(name):
        verdict.add(
            "product", -4, "its heading is that of postage, terms, a cart, an order or a comparison"
        )
    elif len(name) <= _MAX_ERRAND_HEADING and _IS_SEARCH_HEADING(name):
        verdict.add("product", -6, "its heading is that of a search")
        verdict.add("listing", 3, "its heading is that of a search")
    elif len(name) <= _MAX_ERRAND_HEADING and NAMES_TICKET(name):
        verdict.add(
            "product", -8, "its heading is that of a ticket, a tour, a rental, a draw or a purchase"
        )
    elif not visible.buy_buttons and NAMES_HOME(name):
        is_stocked = "availability" in visible.fields  # a doll's house, a tent
        verdict.add(
            "product", -4 if is_stocked else -8, "its heading is that of a house, a flat or land"
        )
    elif not (visible.buy_buttons or visible.facts) and (
        name[-1:] in _QUESTIONS
        or _TEACHES(name)
        or _COMPARES(name)
        or _REVIEWS(name)
        or begins_other_section(name)  # the page with a product's reviews
    ):
        verdict.add("product", -2, "its heading asks, teaches or compares something")
    elif not (visible.buy_buttons or visible.facts) and names_service(name):
        verdict.add("product", -4, "its heading is that of a service")


def _tile_signs(visible: Visible, verdict: Verdict) -> None:
    if visible.lone_cards and "price" not in visible.fields:
        points = 3 if visible.lone_cards > 1 else 2
        verdict.add("listing", points, f"{visible.lone_cards} prices under titles of other pages")
    if visible.cards >= MIN_LIST_LENGTH and not (visible.cards_apart and visible.facts):
        verdict.add("listing", 6 if verdict.unnamed else 3, f"{visible.cards} prices in tiles")
    if visible.numbers_row and "price" in visible.fields and not visible.sells_one:
        verdict.add("product", -4, "its number and price stand in a row that links to another page")


def _plain_signs(visible: Visible, verdict: Verdict) -> None:
    if (
        visible.plainly
        and 3 <= verdict.product < _PRODUCT_SCORE
        and verdict.listing < MIN_LIST_LENGTH
    ):
        points = _PRODUCT_SCORE - verdict.product
        verdict.add("product", points, "it names, shows and prices one thing in plain words")


def _stock_signs(visible: Visible, verdict: Verdict) -> None:
    has_offer = visible.price_distance is not None or visible.sells_one
    stock = visible.fields.get("availability")
    priced = "price" in visible.fields and "name" in visible.fields and not visible.price_is_loose
    priced = priced and (
        visible.price_stands or visible.price_marked or bool(visible.facts or visible.buy_buttons)
    )
    if visible.notifies and "price" in visible.fields and not priced:
        return  # a page about what is to come names a worth in a sentence
    # Fewer tiles than a listing has may stand below a product with its own picture.
    has_tiles = visible.cards or visible.lone_cards
    is_own = not has_tiles or (visible.pictured and visible.cards < MIN_LIST_LENGTH)
    if stock in UNAVAILABLE and ((priced and is_own) or _is_sold_above_tiles(visible)):
        verdict.add("product", 2, "beside its price it says that it cannot be had")
    elif stock and has_offer:
        verdict.add("product", 1, "the page says whether it is in stock")
    elif stock in UNAVAILABLE and visible.facts and "name" in visible.fields:
        is_certain = stock == "Discontinued" or bool(visible.fields.get("images"))
        points = 3 if is_certain else 2  # other pages mention things that are out of stock
        verdict.add("product", points, "beside its number it says that it cannot be had")
    elif stock and visible.facts > 1:
        verdict.add("product", 1, "beside its numbers the page says whether it is in stock")
    elif stock in UNAVAILABLE and "name" in visible.fields and not visible.cards:
        # With other signs of a product, only the price is missing.
        points = 2 if verdict.product >= 3 else 1
        verdict.add("product", points, "it says that it cannot be had")
    if visible.notifies and stock in UNAVAILABLE and "name" in visible.fields:
        verdict.add("product", 1.5, "a button offers a message when it is in stock again")


def _is_sold_above_tiles(visible: Visible) -> bool:
    """Whether a page whose tiles show prices says "sold" beside a price that follows no link."""
    is_priced = "price" in visible.fields and "name" in visible.fields and visible.cards > 0
    is_other = visible.price_after_link or visible.price_is_loose or visible.price_in_prose
    return is_priced and visible.stock_boxed and not is_other


def _price_signs(visible: Visible, verdict: Verdict) -> None:
    if visible.price_in_prose:
        verdict.add("product", 1, "a sentence or an article has a price")
        return
    if visible.price_distance is not None and "name" in visible.fields:
        several_tiles = visible.cards >= MIN_LIST_LENGTH
        doubtful = several_tiles and not visible.price_marked
        is_near = visible.price_distance <= (_NEAR_LINES_AMONG_TILES if doubtful else _NEAR_LINES)
        several = bool(verdict.listing) or (visible.price_in_rows and visible.buy_buttons > 1)
        is_near = is_near and not (visible.price_after_link and several)
        close_lines = (
            _CLOSE_LINES
            if visible.price_marked
            else _CLOSE_LINES_ALONE
            if visible.price_alone and not visible.price_is_loose
            else -1
        )
        points = _NEAR_POINTS + (visible.price_distance <= close_lines) if is_near else 1
        verdict.add("product", points, "a price stands near the heading")
        if verdict.tiles and points > _NEAR_POINTS:
            verdict.add("listing", -5, "what is described are tiles below its own price")
        if is_near and visible.pictured and several_tiles:
            verdict.add("product", 1, "a picture is called as it is")
        if visible.price_named_otherwise and not (visible.facts or visible.pictured):
            verdict.add("product", -4, "the price stands below another thing's picture and name")
        if is_near and "regular_price" in visible.fields:
            verdict.add("product", 1, "with the price before")
    elif visible.price_distance is not None and visible.price_after_link:
        verdict.add("product", -3, "its price stands behind another page's link, below no heading")
    elif visible.price_distance is not None:
        verdict.add("product", 2, "a price stands alone")
    elif visible.on_request:
        in_its_place = visible.price_marked and visible.pictured
        may_be_tiles = visible.lone_cards and not (visible.facts or visible.pictured)
        points = 5 if in_its_place else 1 if may_be_tiles else 3
        verdict.add("product", points, "its price is given on request")
