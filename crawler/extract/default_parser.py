"""The default parser: all sources of a page, merged field by field in the order of trust."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar

import attrs

from crawler.extract import classify, merge, name_choice
from crawler.extract.classify import MIN_LIST_LENGTH, Kind, Verdict
from crawler.extract.fields import Fields
from crawler.extract.money import cents
from crawler.extract.money.counts import count
from crawler.extract.page.page import Page, tidied
from crawler.extract.scripts import state
from crawler.extract.shown_price import take_shown_price
from crawler.extract.stock.availability import UNAVAILABLE
from crawler.extract.structured import (
    breadcrumbs,
    jsonld,
    main_product,
    microdata,
    opengraph,
    product_fields,
)
from crawler.extract.structured.nodes import Node, as_list, is_product, offered_product, types, walk
from crawler.extract.structured.offers import offer_fields
from crawler.extract.visible import description, product_heading, product_shown, shown_breadcrumbs
from crawler.extract.visible.service_signs import may_be_service
from crawler.extract.visible_signs import Visible
from crawler.items import Product
from scrapy_seine.attrs_bases import Record

#: Numbers of a product; a category that a shop describes as one product has none of them.
_OWN_NUMBERS = ("sku", "mpn", "gtin", "gtin13", "gtin8", "gtin12", "gtin14", "isbn", "productID")
#: Fields that shops have of a product, and sites with stars for their services have not.
_SHOP_FIELDS = frozenset({"availability", "sku", "gtin", "mpn", "brand"})
#: With these fields from structured data, the visible text is not read, because it costs most time.
_MAIN_FIELDS = ("name", "price", "currency", "availability")
#: Names of the regular price in a page's state, by letters that several names share, because the
#: search for one word in a page takes 3 µs.
_REGULAR_PRICE_WORDS = {
    b"Price": (b"listPrice", b"oldPrice", b"regularPrice", b"originalPrice", b"wasPrice"),
    b"_price": (b"list_price", b"old_price", b"regular_price", b"original_price", b"was_price"),
    b"compare": (b"compareAt", b"compare_at"),
}
_Result = TypeVar("_Result")
#: Tiles that a product's page shows beside its own product at most.
_MAX_RELATED = 8
#: Points from which on no further signs are searched.
_CERTAIN_SCORE = 8


@attrs.define(kw_only=True, eq=False, repr=False)
class Found(Record):
    """The result of the default parser for a page."""

    fields: Fields
    """Values in Product's field names; empty unless the page is a product's."""
    sources: dict[str, str]
    """For each field: json-ld, microdata, opengraph, state, text, repaired, url or box."""
    verdict: Verdict
    offered: dict[str, Fields]
    """The fields of each source; `merge.ORDER` says which source's value wins."""
    page: Page
    paths: dict[str, str] = attrs.Factory(dict)
    """Path of the element from which the visible text's value of each field was read; that of the
    regular price only if nothing but its place beside the price calls it so."""
    struck_below: Decimal | None = None
    """An amount beside the visible price that is marked as the price before, and is lower."""
    price_rival: Decimal | None = None
    """An amount beside the visible price, where words that are in no list tell the two apart."""
    words_before: str = ""
    """The text before the visible price in its line, or the unit behind it, if the visible text was
    read."""
    outweighs_data: bool = False
    """The visible price is right, and that of the structured data is stale."""
    beside: Any = None
    """Element with the name on a page without a heading, if the visible text was read."""
    described: list[Any] | None = None
    """Boxes that are marked as a description; None where the visible text was not read."""
    lines: list[Any] = attrs.Factory(list)
    """Lines after the heading; empty where the visible text was not read."""
    unread: dict[str, str] = attrs.Factory(dict)
    """The error of each source that could not be read; the other sources are read without it."""

    @property
    def _url(self) -> str:
        return tidied(self.page.url) or self.page.url

    @property
    def kind(self) -> Kind:
        """Product, listing or other."""
        return self.verdict.kind

    def merge(self) -> None:
        """Fill `fields` with the merged values of the sources."""
        site = self.page.meta("og:site_name")
        merge.in_rials(self.offered)
        cents.in_whole_units(self.offered)
        self.fields, self.sources = merge.merged(self.offered, site, self.page)
        if self.outweighs_data:
            take_shown_price(self.fields, self.sources, self.offered["text"])
        if self.fields.get("name"):
            self.fields["name"] = name_choice.bare_name(self.fields["name"], self.page)
            self._shorten_breadcrumbs()
        merge.complete(self.fields, self.sources, self.page, self.offered)

    def complete(self) -> None:
        """Fill `fields` of a page that was not classified as a product when it was read."""
        name = merge.merged(self.offered)[0].get("name")
        _add_breadcrumbs(self, name)
        _add_description(self, name)
        self.merge()

    def _shorten_breadcrumbs(self) -> None:
        """Drop the product's name or number from the end of the breadcrumbs."""
        steps, source = self.fields.get("breadcrumbs"), self.sources.get("breadcrumbs")
        if not steps:
            return
        if source in merge.STRUCTURED and "name" not in self.offered.get(source, ()):
            steps = breadcrumbs.trail(steps, self.fields["name"], front_is_linked=True)
        steps = breadcrumbs.trail(steps, self.fields.get("sku"), front_is_linked=True)
        if steps:
            self.fields["breadcrumbs"] = steps
        else:
            del self.fields["breadcrumbs"], self.sources["breadcrumbs"]

    @property
    def not_to_be_had(self) -> str | None:
        """The availability in a source that says that the product cannot be bought; else None."""
        stocks = (fields.get("availability") for fields in self.offered.values())
        return next((stock for stock in stocks if stock in UNAVAILABLE), None)

    @property
    def shows_one_thing(self) -> bool:
        """Whether the page names something, and only tiles of other products suggest a listing."""
        has_name = any("name" in fields for fields in self.offered.values())
        return has_name and self.verdict.listing <= MIN_LIST_LENGTH

    def unavailable(self) -> Product | None:
        """Return the product of a page that says only that it cannot be bought; else None.

        Call it for known pages of products only, because other pages say this of other things.
        """
        stock = self.not_to_be_had
        if stock is None:
            return None
        self.complete()
        self.fields["availability"] = stock
        return Product(url=self._url, sources=self.sources, **self.fields)

    def product(self) -> Product | None:
        """Return the page's product, which may lack a name; None where the page is no product's."""
        if self.kind != "product":
            return None
        return Product(url=self._url, sources=self.sources, **self.fields)


def extract(page: Page) -> Found:
    """Read a page by all of its sources."""
    verdict = Verdict()
    offered: dict[str, Fields] = {}
    classify.address_signs(verdict, page)
    classify.link_signs(verdict, page)
    classify.copy_signs(verdict, page)
    unread: dict[str, str] = {}
    for source, nodes in _NODES.items():
        source_fields = _read_guarded(unread, source, _fields_from, nodes, page, verdict, source)
        if source_fields is not None:
            offered[source] = source_fields
    guesses = merge.take_guesses(offered, page)
    offered["opengraph"] = tags = _read_guarded(unread, "opengraph", opengraph.fields, page) or {}
    classify.open_graph_signs(page, tags, verdict)
    merged_fields = merge.merged(offered)[0]
    disputed = merge.disputed(offered)
    if disputed or any(name not in merged_fields for name in _MAIN_FIELDS):
        state_fields = (
            _read_guarded(unread, "state", state.fields, page, merged_fields.get("name")) or {}
        )
        offered["state"] = state_fields
        if "price" in state_fields:
            verdict.add("product", 5, "embedded state describes it")
        merged_fields = merge.merged(offered)[0] if state_fields else merged_fields
    result = Found(
        fields={}, sources={}, verdict=verdict, offered=offered, page=page, unread=unread
    )
    if disputed or verdict.unnamed or _needs_text(page, merged_fields, verdict, offered):
        merged_fields = _add_text(result, merged_fields, disputed)
    elif verdict.kind == "product":
        visible = (
            _read_guarded(unread, "text", product_shown.glance, page, merged_fields) or Visible()
        )
        offered["text"], result.paths = visible.fields, visible.paths
        result.struck_below, result.words_before = visible.struck_below, visible.words_before
        if visible.priced_as_service:
            verdict.add("product", -6, "its price is that of a period or a person")
        merge.weigh_shown(offered, visible, page, merged_fields)
        result.outweighs_data = visible.outweighs_data
        if "price" not in visible.fields and "state" not in offered:
            _read_regular_price(result, merged_fields)
    classify.name_signs(verdict, page.url, merged_fields)
    if result.kind != "product":
        unread |= {"json-ld": page.unreadable_json_ld} if page.unreadable_json_ld else {}
        return result
    page.shows_product = True
    _add_breadcrumbs(result, merged_fields.get("name"))
    _add_description(result, merged_fields.get("name"))
    # Guesses come last, because the visible text is read only for fields without a value.
    offered.update({merge.GUESSED: guesses} if guesses else {})
    result.merge()
    page.number = result.fields.get("sku")
    return result


def _add_breadcrumbs(result: Found, name: str | None) -> None:
    """Add the breadcrumbs that the page shows, where no source has any but the product's name."""
    for fields in result.offered.values():
        if "breadcrumbs" in fields:
            if breadcrumbs.trail(fields["breadcrumbs"], name):
                return
            del fields["breadcrumbs"]
    if trail := shown_breadcrumbs.breadcrumbs(result.page, name):
        result.offered.setdefault("text", {})["breadcrumbs"] = trail


def _add_description(result: Found, name: str | None) -> None:
    """Add the meta element's description or one in the page's text, where no source has any."""
    page = result.page
    if any(fields.get("description") for fields in result.offered.values()):
        return
    product_description: str | None = page.meta("description")
    # Without a text, templates write the name; some shops write the same text on all pages.
    if product_description and name and product_description.casefold() in name.casefold():
        product_description = None
    if not product_description or not description.speaks_of(product_description, name or ""):
        page_text = _described_in_text(result, name)
        if not product_description or (page_text and product_description not in page_text):
            product_description = page_text
    if product_description:
        result.offered.setdefault("text", {})["description"] = product_description


def _described_in_text(result: Found, name: str | None) -> str | None:
    """Return the text of a box that is marked as a description, else the first sentences.

    The boxes are those found with the visible text, or are searched where that was not read.
    """
    page, boxes = result.page, result.described
    heading = product_heading.heading_of(page, name)
    heading = result.beside if heading is None else heading
    if heading is None:
        return None
    if boxes is None:
        boxes = [*description.called_boxes(page, heading)]
    box_text = description.described(boxes, heading) or description.description_below_title(
        page, result.lines
    )
    return box_text or description.first_sentences(heading)


def _read_regular_price(result: Found, merged_fields: Fields) -> None:
    """Add the regular price from the page's state, where the page shows no price itself."""
    if "regular_price" in merged_fields or not _names_regular_price(result.page):
        return
    state_fields = (
        _read_guarded(result.unread, "state", state.fields, result.page, merged_fields.get("name"))
        or {}
    )
    if "regular_price" in state_fields and state_fields.get("price") == merged_fields.get("price"):
        result.offered["state"] = {"regular_price": state_fields["regular_price"]}


def _names_regular_price(page: Page) -> bool:
    return any(
        page.holds(sign) and any(map(page.holds, _REGULAR_PRICE_WORDS[sign]))
        for sign in _REGULAR_PRICE_WORDS
    )


def _add_text(result: Found, merged_fields: Fields, disputed: bool) -> Fields:
    """Read the visible text, let it decide between different prices, and return merged fields."""
    page, verdict, offered = result.page, result.verdict, result.offered
    visible = (
        _read_guarded(result.unread, "text", product_shown.visible, page, merged_fields)
        or Visible()
    )
    if _is_price_by_the_way(visible, merged_fields, offered):
        product_shown.forget_price(visible)
    classify.visible_signs(visible, verdict, page)
    if "price" in visible.fields and _describes_barely(offered):
        classify.button_signs(visible, verdict)
    if verdict.product < _CERTAIN_SCORE:
        sells = visible.sells and "name" in visible.fields and not visible.cards
        classify.quantity_signs(verdict, page, sells)
        number = visible.fields.get("sku") or visible.fields.get("attributes", {}).get("model")
        classify.number_signs(verdict, page, number)
    offered["text"], result.paths = visible.fields, visible.paths
    result.struck_below, result.described = visible.struck_below, visible.described
    result.lines, result.beside = visible.lines, visible.beside
    result.words_before, result.price_rival = visible.words_before, visible.price_rival
    if disputed:
        merge.outvote(offered, page.raw)
    merge.weigh_shown(offered, visible, page, merged_fields)
    result.outweighs_data = visible.outweighs_data
    if visible.on_request:
        merge.drop_zero_prices(offered)
        merge.drop_hidden_price(offered)
    return merge.merged(offered)[0]


def _describes_barely(offered: dict[str, Fields]) -> bool:
    """Whether structured data names a product without its stock, a number or its maker."""
    described = [offered[source] for source in merge.STRUCTURED if source in offered]
    names = {name for fields in described for name in fields}
    return "name" in names and names.isdisjoint(_SHOP_FIELDS)


def _is_price_by_the_way(
    visible: Visible, merged_fields: Fields, offered: dict[str, Fields]
) -> bool:
    """Whether a sentence has the only amount of a product that structured data has without a price.

    It is sold on request, and the sentence is about something else: alterations, postage.
    """
    if merged_fields.get("price") or visible.price_marked or visible.price_is_called:
        return False
    described = any("name" in offered.get(source, ()) for source in merge.STRUCTURED)
    return described and visible.price_is_loose


_NODES: dict[str, Callable[[Page], list[Any]]] = {
    "json-ld": jsonld.nodes,
    "microdata": microdata.nodes,
    "rdfa": microdata.rdfa,
}


def _fields_from(
    nodes: Callable[[Page], list[Any]], page: Page, verdict: Verdict, source: str
) -> Fields | None:
    values = nodes(page)
    return _from_nodes(values, page, verdict, source) if values else None


def _read_guarded(
    unread: dict[str, str], source: str, reader: Callable[..., _Result], *arguments: Any
) -> _Result | None:
    """Return the reader's result; on any error return None, and note the error in *unread*."""
    try:
        return reader(*arguments)
    except Exception as error:  # a page can hold anything; its other sources are still read
        unread[source] = f"{type(error).__name__}: {str(error)[:200]}"
        return None


def _needs_text(
    page: Page, merged_fields: Fields, verdict: Verdict, offered: dict[str, Fields]
) -> bool:
    if verdict.listing >= MIN_LIST_LENGTH and verdict.product <= 0:
        return 0 < verdict.tiles <= _MAX_RELATED and verdict.product == 0
    if not any("price" in offered.get(source, ()) for source in merge.STRUCTURED):
        return True
    if not all(name in merged_fields for name in _MAIN_FIELDS) or not merged_fields["price"]:
        return True
    return may_be_service(merged_fields, page)


@attrs.define(eq=False, repr=False)
class _SourceNodes(Record):
    """A source's nodes by their types."""

    products: list[Node] = attrs.Factory(list)
    offers: list[Node] = attrs.Factory(list)
    """Offers that belong to no described product."""
    trails: list[Node] = attrs.Factory(list)
    listed: int = 0
    article: str = ""
    events: int = 0
    collection: str = ""


def _is_listed(entry: Any) -> bool:
    """Return whether an entry of an ItemList may be a product, not a menu's entry or an article."""
    if not isinstance(entry, dict):
        return True
    item = entry.get("item")
    names = types(entry) + (types(item) if isinstance(item, dict) else [])
    return not classify.is_no_product(names)


def _grouped(values: list[Any], nodes_by_id: jsonld.NodesById) -> _SourceNodes:
    grouped = _SourceNodes()
    outermost = {id(value) for value in values}
    for node in walk(values):
        names = types(node)
        if is_product(node):
            grouped.products.append(jsonld.with_references(node, nodes_by_id))
        elif "Offer" in names:
            offered = offered_product(node)
            if offered is not None:
                grouped.products.append(jsonld.with_references(offered, nodes_by_id))
            elif id(node) in outermost:
                grouped.offers.append(node)
        elif "BreadcrumbList" in names:
            grouped.trails.append(node)
        elif "ItemList" in names:
            grouped.listed = max(
                grouped.listed,
                sum(map(_is_listed, as_list(node.get("itemListElement")))),
            )
        elif classify.is_collection(names):
            grouped.collection = names[0]
        elif classify.is_article(names):
            grouped.article = names[0]
            grouped.events += classify.is_event(names)
    return grouped


def _from_nodes(values: list[Any], page: Page, verdict: Verdict, source: str) -> Fields:
    nodes = _grouped(values, jsonld.index(values) if source == "json-ld" else jsonld.NodesById())
    if nodes.collection:
        verdict.add("listing", 3, f"{source} calls it a {nodes.collection}")
    fields = _main_product_fields(nodes.products, page, verdict, source)
    if not nodes.products and len(nodes.offers) == 1:
        fields = offer_fields(nodes.offers, page.url)
        verdict.add("product", 4 if "price" in fields else 0, f"{source} describes an offer")
    if nodes.article and not nodes.products:
        # Several events are a list of dates, which may stand beside a record.
        points = -6 if nodes.events == 1 else -3
        verdict.add("product", points, f"{source} calls it a {nodes.article}")
        verdict.add("listing", -2, f"{source} calls it a {nodes.article}")
    if not fields and nodes.listed >= MIN_LIST_LENGTH:
        verdict.add("listing", 3, f"{source} lists {nodes.listed} things")
    for node in nodes.trails[:1]:
        page_urls = [url for url in (page.url, page.canonical) if url]
        trail = breadcrumbs.breadcrumbs(node, fields.get("name"), page_urls)
        if trail:
            fields["breadcrumbs"] = trail
    return fields


def _main_product_fields(products: list[Node], page: Page, verdict: Verdict, source: str) -> Fields:
    """Return the fields of the page's own product, none where it has no own product."""
    if not products:
        return {}
    page_nodes = main_product.of_page(products, page)
    if not page_nodes:
        names = len({main_product.plain_name(p) for p in products})
        if names >= MIN_LIST_LENGTH:
            verdict.add("listing", 5, f"{source} describes {len(products)} products")
            are_tiles = all(main_product.has_other_page(p, page) for p in products)
            verdict.tiles = len(products) if are_tiles else 0
        return {}
    fields: Fields = {}
    for node in page_nodes[:10]:
        for name, value in product_fields.product_fields(node, page.url).items():
            fields.setdefault(name, value)
    family = main_product.family_name(page_nodes, page)
    if family:
        fields["name"] = family
    name = str(fields.get("name") or "")
    is_named = main_product.is_named_on_page(name, page)
    may_be_tile = not is_named or main_product.names_other_model(name, page)
    if may_be_tile and main_product.has_other_page(page_nodes[0], page):
        verdict.unnamed = True
        verdict.reasons.append(f"{source} describes a product of another page")
        return {}
    if not is_named or _has_many_offers(page_nodes[0]):
        # A category's page may describe one of its products, so the visible text has to decide.
        verdict.unnamed = True
        verdict.add(
            "product",
            3,
            f"{source} describes one product, which no heading names or which sums up several",
        )
    elif "price" in fields or any("offers" in node for node in page_nodes):
        verdict.add("product", 6, f"{source} describes one product and its offer")
    else:
        # A test rates a product that it does not sell.
        points = 2 if _is_only_rated(page_nodes[0]) else 4
        verdict.add("product", points, f"{source} describes one product")
    return fields


def _is_only_rated(node: Node) -> bool:
    """Return whether a node has ratings or reviews, but no number of the product."""
    is_rated = "review" in node or "aggregateRating" in node
    return is_rated and not any(name in node for name in _OWN_NUMBERS)


def _has_many_offers(node: Node) -> bool:
    """Return whether a node has many offers and no number, as on some categories' pages."""
    offers = as_list(node.get("offers"))
    summary = offers[0] if len(offers) == 1 and isinstance(offers[0], dict) else {}
    offer_count = count(summary.get("offerCount")) if "AggregateOffer" in types(summary) else None
    return (offer_count or 0) > MIN_LIST_LENGTH and not any(map(node.get, _OWN_NUMBERS))
