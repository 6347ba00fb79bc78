"""The default parser: every source of a page, merged field by field in the order of trust."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar

import attrs

from crawler.extract import classify, merge
from crawler.extract.classify import LIST_OF, Kind, Verdict
from crawler.extract.fields import Fields
from crawler.extract.money import cents
from crawler.extract.money.amounts import count
from crawler.extract.page.page import Page, tidied
from crawler.extract.scripts import state
from crawler.extract.stock.shown import NOT_TO_BE_HAD
from crawler.extract.structured import (
    breadcrumbs,
    jsonld,
    main_product,
    microdata,
    opengraph,
    schema,
)
from crawler.extract.structured.schema import Node
from crawler.extract.visible import description, shown_breadcrumbs, text
from crawler.extract.visible_signs import Visible
from crawler.items import Product
from scrapy_seine.records import Record

#: A category that some shops describe as one product has none of these.
_OWN_NUMBERS = ("sku", "mpn", "gtin", "gtin13", "gtin8", "gtin12", "gtin14", "isbn", "productID")
#: With these from structured data, the visible text is not read: it is the dearest source.
_ENOUGH = ("name", "price", "currency", "availability")
#: What a page's state calls the price before a reduction, by letters that several names share: to
#: look for a word in a page takes 7 µs.
_REGULAR = {
    b"Price": (b"listPrice", b"oldPrice", b"regularPrice", b"originalPrice", b"wasPrice"),
    b"_price": (b"list_price", b"old_price", b"regular_price", b"original_price", b"was_price"),
    b"compare": (b"compareAt", b"compare_at"),
}
_Read = TypeVar("_Read")
#: Signs enough; no further ones are looked for.
_SURE = 8


@attrs.define(kw_only=True, eq=False, repr=False)
class Found(Record):
    """What the default parser found on a page."""

    fields: Fields
    """Values in Product's field names; empty unless the page is a product's."""
    sources: dict[str, str]
    """For each field: json-ld, microdata, opengraph, state, text, repaired or url."""
    verdict: Verdict
    offered: dict[str, Fields]
    """What each source says; `merge.ORDER` says which one wins."""
    page: Page
    paths: dict[str, str] = attrs.Factory(dict)
    """By field: where the visible text has it, as far as that was read."""
    struck_below: Decimal | None = None
    """An amount beside the visible price that is marked as the price before, and is lower."""
    beside: Any = None
    """Where the name stands on a page without a heading, as far as the text was read."""
    described: list[Any] | None = None
    """Boxes that are called a description; None where the visible text was not read."""
    lines: list[Any] = attrs.Factory(list)
    """What stands behind the heading, as far as the visible text was read."""
    unread: dict[str, str] = attrs.Factory(dict)
    """Sources that hold what cannot be read, and the error: the others are read without them."""

    @property
    def _url(self) -> str:
        return tidied(self.page.url) or self.page.url

    @property
    def kind(self) -> Kind:
        """Product, listing or other."""
        return self.verdict.kind

    def merge(self) -> None:
        """Fill `fields` with what the sources offer."""
        site = self.page.meta("og:site_name")
        merge.in_rials(self.offered)
        cents.in_whole_units(self.offered)
        self.fields, self.sources = merge.merged(self.offered, site)
        if self.fields.get("name"):
            self.fields["name"] = merge.bare(self.fields["name"], self.page)
            self._shorten_trail()
        merge.finish(self.fields, self.sources, self.page, self.offered)

    def complete(self) -> None:
        """Fill `fields` of a page whose kind was not known when it was read."""
        _trace(self, merge.merged(self.offered)[0].get("name"))
        _describe(self)
        self.merge()

    def _shorten_trail(self) -> None:
        """Drop the product from the end of a trail that calls it by another source's name or number."""
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
        """What a source says of the stock, where that is that the thing cannot be had."""
        told = (fields.get("availability") for fields in self.offered.values())
        return next((word for word in told if word in NOT_TO_BE_HAD), None)

    @property
    def shows_one_thing(self) -> bool:
        """Whether the page names something, and nothing but others' tiles speaks for a listing."""
        named = any("name" in fields for fields in self.offered.values())
        return named and self.verdict.listing <= LIST_OF

    def unavailable(self) -> Product | None:
        """The product of a page that shows none, and says that it cannot be had; else None.

        Only where the page is known to be a product's: other pages say so of anything.
        """
        said = self.not_to_be_had
        if said is None:
            return None
        self.complete()
        self.fields["availability"] = said
        return Product(url=self._url, sources=self.sources, **self.fields)

    def product(self) -> Product | None:
        """The page's product, None where the page is none; it may lack a name."""
        if self.kind != "product":
            return None
        return Product(url=self._url, sources=self.sources, **self.fields)


def extract(page: Page) -> Found:
    """Read a page with every source that it has."""
    verdict = Verdict()
    offered: dict[str, Fields] = {}
    classify.address_signs(verdict, page)
    classify.link_signs(verdict, page)
    classify.print_signs(verdict, page)
    unread: dict[str, str] = {}
    for source, nodes in _NODES.items():
        told = _guarded(unread, source, _told_by, nodes, page, verdict, source)
        if told is not None:
            offered[source] = told
    guesses = merge.guesses(offered, page)
    offered["opengraph"] = tags = _guarded(unread, "opengraph", opengraph.fields, page) or {}
    classify.open_graph_signs(page, tags, verdict)
    known = merge.merged(offered)[0]
    disputed = merge.disputed(offered)
    if disputed or any(name not in known for name in _ENOUGH):
        held = _guarded(unread, "state", state.fields, page, known.get("name")) or {}
        offered["state"] = held
        if "price" in held:
            verdict.add("product", 5, "embedded state describes it")
        known = merge.merged(offered)[0] if held else known
    found = Found(fields={}, sources={}, verdict=verdict, offered=offered, page=page, unread=unread)
    if disputed or verdict.unnamed or _worth_reading(known, verdict, offered):
        known = _read_text(found, known, disputed)
    elif verdict.kind == "product":
        seen = _guarded(unread, "text", text.glance, page, known) or Visible()
        offered["text"], found.paths = seen.fields, seen.paths
        found.struck_below = seen.struck_below
        merge.choose(offered, seen, page.raw)
        merge.refresh(offered, seen, page.raw)
        merge.reduce(offered, seen.reduced)
        merge.sell_out(offered, seen)
        if "price" not in seen.fields and "state" not in offered:
            _read_regular_price(found, known)
    if found.kind != "product":
        unread |= {"json-ld": page.left_out} if page.left_out else {}
        return found
    _trace(found, known.get("name"))
    _describe(found)
    # Not before: the text is not asked for what is known.
    offered.update({merge.GUESSED: guesses} if guesses else {})
    found.merge()
    return found


def _trace(found: Found, name: str | None) -> None:
    """Take the categories from the page, where no source that follows a format tells them."""
    if not any("breadcrumbs" in told for told in found.offered.values()):
        trail = shown_breadcrumbs.breadcrumbs(found.page, name)
        found.offered.setdefault("text", {}).update({"breadcrumbs": trail} if trail else {})


def _describe(found: Found) -> None:
    """Take the description from the page, where no source that follows a format tells one."""
    page = found.page
    if any(told.get("description") for told in found.offered.values()):
        return
    name = merge.merged(found.offered)[0].get("name")
    told: str | None = page.meta("description")
    # A template writes the name where nobody wrote a text, and some shops one text on all pages.
    if told and name and told.casefold() in name.casefold():
        told = None
    if not told or not description.speaks_of(told, name or ""):
        written = _described_in_text(found, name)
        if not told or (written and told not in written):
            told = written
    if told:
        found.offered.setdefault("text", {})["description"] = told


def _described_in_text(found: Found, name: str | None) -> str | None:
    """The text of a box that is called a description, among those that were read, if text was.

    Else the first sentences behind the heading.
    """
    page, boxes = found.page, found.described
    heading = text.heading_of(page, name)
    heading = found.beside if heading is None else heading
    if heading is None:
        return None
    if boxes is None:
        boxes = [*description.called_boxes(page, heading)] if description.may_describe(page) else []
    told = description.described(boxes, heading) or description.told_below_title(page, found.lines)
    return told or description.told_in_prose(heading)


def _read_regular_price(found: Found, known: Fields) -> None:
    """Take the price before a reduction from the state of a page that shows no price itself."""
    if "regular_price" in known or not _names_regular_price(found.page.raw):
        return
    held = _guarded(found.unread, "state", state.fields, found.page, known.get("name")) or {}
    if "regular_price" in held and held.get("price") == known.get("price"):
        found.offered["state"] = {"regular_price": held["regular_price"]}


def _names_regular_price(raw: bytes) -> bool:
    return any(sign in raw and any(map(raw.__contains__, _REGULAR[sign])) for sign in _REGULAR)


def _read_text(found: Found, known: Fields, disputed: bool) -> Fields:
    """Read the visible text, and let it decide between prices that differ; return what is known."""
    page, verdict, offered = found.page, found.verdict, found.offered
    seen = _guarded(found.unread, "text", text.visible, page, known) or Visible()
    classify.visible_signs(seen, verdict)
    if verdict.product < _SURE:
        sells = seen.sells and "name" in seen.fields and not seen.cards
        classify.quantity_signs(verdict, page, sells)
        number = seen.fields.get("sku") or seen.fields.get("attributes", {}).get("model")
        classify.number_signs(verdict, page, number)
    offered["text"], found.paths = seen.fields, seen.paths
    found.struck_below, found.described = seen.struck_below, seen.described
    found.lines, found.beside = seen.lines, seen.beside
    if disputed:
        merge.settle(offered)
    merge.choose(offered, seen, page.raw)
    merge.refresh(offered, seen, page.raw)
    merge.reduce(offered, seen.reduced)
    merge.sell_out(offered, seen)
    if seen.on_request:
        merge.without_gaps(offered)
        merge.without_held(offered)
    return merge.merged(offered)[0]


_NODES: dict[str, Callable[[Page], list[Any]]] = {
    "json-ld": jsonld.nodes,
    "microdata": microdata.nodes,
    "rdfa": microdata.rdfa,
}


def _told_by(
    nodes: Callable[[Page], list[Any]], page: Page, verdict: Verdict, source: str
) -> Fields | None:
    values = nodes(page)
    return _from_nodes(values, page, verdict, source) if values else None


def _guarded(
    unread: dict[str, str], source: str, read: Callable[..., _Read], *arguments: Any
) -> _Read | None:
    """What a source says; None, and a line in *unread*, where it holds what nobody thought of."""
    try:
        return read(*arguments)
    except Exception as error:  # a page can hold anything; its other sources are as good
        unread[source] = f"{type(error).__name__}: {str(error)[:200]}"
        return None


def _worth_reading(known: Fields, verdict: Verdict, offered: dict[str, Fields]) -> bool:
    if verdict.listing >= LIST_OF and verdict.product <= 0:
        return False
    if not any("price" in offered.get(source, ()) for source in merge.STRUCTURED):
        return True
    return not all(name in known for name in _ENOUGH) or not known["price"]


@attrs.define(eq=False, repr=False)
class _Described(Record):
    """A source's nodes by what they describe."""

    products: list[Node] = attrs.Factory(list)
    offers: list[Node] = attrs.Factory(list)
    """Offers of nothing that is described."""
    trails: list[Node] = attrs.Factory(list)
    listed: int = 0
    article: str = ""
    collection: str = ""


def _is_listed(entry: Any) -> bool:
    """Whether an entry of an ItemList may be a product: menus and articles are lists too."""
    if not isinstance(entry, dict):
        return True
    item = entry.get("item")
    names = schema.types(entry) + (schema.types(item) if isinstance(item, dict) else [])
    return not classify.is_no_product(names)


def _described(values: list[Any], known: jsonld.NodesById) -> _Described:
    made = _Described()
    outermost = {id(value) for value in values}
    for node in schema.walk(values):
        names = schema.types(node)
        if schema.is_product(node):
            made.products.append(jsonld.with_references(node, known))
        elif "Offer" in names:
            offered = schema.offered_product(node)
            if offered is not None:
                made.products.append(jsonld.with_references(offered, known))
            elif id(node) in outermost:
                made.offers.append(node)
        elif "BreadcrumbList" in names:
            made.trails.append(node)
        elif "ItemList" in names:
            made.listed = max(
                made.listed, sum(map(_is_listed, schema.as_list(node.get("itemListElement"))))
            )
        elif classify.is_collection(names):
            made.collection = names[0]
        elif classify.is_article(names):
            made.article = names[0]
    return made


def _from_nodes(values: list[Any], page: Page, verdict: Verdict, source: str) -> Fields:
    told = _described(values, jsonld.index(values) if source == "json-ld" else jsonld.NodesById())
    if told.collection:
        verdict.add("listing", 3, f"{source} calls it a {told.collection}")
    fields = _main(told.products, page, verdict, source)
    if not told.products and len(told.offers) == 1:
        fields = schema.offer_fields(told.offers, page.url)
        verdict.add("product", 4 if "price" in fields else 0, f"{source} describes an offer")
    if told.article and not told.products:
        verdict.add("product", -3, f"{source} calls it a {told.article}")
        verdict.add("listing", -2, f"{source} calls it a {told.article}")
    if not fields and told.listed >= LIST_OF:
        verdict.add("listing", 3, f"{source} lists {told.listed} things")
    for node in told.trails[:1]:
        here = [url for url in (page.url, page.canonical) if url]
        trail = breadcrumbs.breadcrumbs(node, fields.get("name"), here)
        if trail:
            fields["breadcrumbs"] = trail
    return fields


def _main(products: list[Node], page: Page, verdict: Verdict, source: str) -> Fields:
    """The fields of the product that the page is about, if it is about one."""
    if not products:
        return {}
    own = main_product.of_page(products, page)
    if not own:
        names = len({main_product.plain_name(p) for p in products})
        if names >= LIST_OF:
            verdict.add("listing", 5, f"{source} describes {len(products)} products")
            verdict.of_tiles = all(main_product.has_other_page(p, page) for p in products)
        return {}
    fields: Fields = {}
    for node in own[:10]:
        for name, value in schema.product_fields(node, page.url).items():
            fields.setdefault(name, value)
    family = main_product.family_name(own, page)
    if family:
        fields["name"] = family
    shown = main_product.is_named_on_page(str(fields.get("name") or ""), page)
    if not shown and main_product.has_other_page(own[0], page):
        verdict.unnamed = True
        verdict.reasons.append(f"{source} describes a product of another page")
        return {}
    if not shown or _sums_up(own[0]):
        # A category's page may describe one of its products: the visible text has to decide.
        verdict.unnamed = True
        verdict.add(
            "product",
            3,
            f"{source} describes one product, which no heading names or which sums up several",
        )
    elif "price" in fields or any("offers" in node for node in own):
        verdict.add("product", 6, f"{source} describes one product and its offer")
    else:
        verdict.add("product", 4, f"{source} describes one product")
    return fields


def _sums_up(node: Node) -> bool:
    """Whether a node without a number of its own sums up offers, as some categories' pages do."""
    offers = schema.as_list(node.get("offers"))
    summary = offers[0] if len(offers) == 1 and isinstance(offers[0], dict) else {}
    told = count(summary.get("offerCount")) if "AggregateOffer" in schema.types(summary) else None
    return (told or 0) > LIST_OF and not any(map(node.get, _OWN_NUMBERS))
