"""The signs in a page's visible text by which its kind is classified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import attrs

from crawler.extract.fields import Fields
from scrapy_seine.attrs_bases import Record

#: The place of an availability that just a buy button says.
_BY_BUTTON = "a button alone"
#: Rows of a table that describes a thing.
_MIN_DESCRIBED = 3


@attrs.define(kw_only=True, eq=False, repr=False)
class Visible(Record):
    """The fields in a page's visible text, and the signs of the page's kind."""

    fields: Fields = attrs.Factory(dict)
    price_distance: int | None = None
    """Lines between heading and price."""
    price_line: int | None = None
    """The number of the price's line."""
    buy_buttons: int = 0
    buys_in_words: bool = False
    """The caption of a buy button is a whole phrase, such as "Add to cart"."""
    sells: bool = False
    """A buy button is enabled, and the page has as few of them as a product's page."""
    asks: bool = False
    """Without a buy button, a button asks the seller, bids for the product or reserves it."""
    notifies: bool = False
    """A button offers a message when the product is in stock again."""
    pictured: bool = False
    """The name of a picture is the page's main heading."""
    cards: int = 0
    """Prices in repeated structures: the tiles of a listing."""
    tile_amounts: Sequence[Any] = ()
    """The elements of these prices."""
    tiles_from: int | None = None
    """The line with the first of these prices."""
    cards_apart: bool = False
    """All of these tiles stand where a page shows products other than its own."""
    lone_cards: int = 0
    """Prices in a few boxes with a title that links to another page."""
    facts: int = 0
    """Labelled identifiers (SKU, GTIN, MPN)."""
    numbers_row: bool = False
    """The first number is that of a row which links to another product's page."""
    further_facts: list[tuple[str, str]] = attrs.Factory(list)
    """Fields and their values under further labels, after the first label of each field."""
    on_request: bool = False
    """The page shows no price, and offers one on request."""
    beside: Any = None
    """Element with the name on a page without a heading."""
    described: list[Any] = attrs.Factory(list)
    """Boxes after the heading that are marked as a description."""
    lines: list[Any] = attrs.Factory(list)
    """Lines after the heading."""
    paths: dict[str, str] = attrs.Factory(dict)
    """Path of the element from which each field was read."""
    priced_choices: bool = False
    """Each of several choices of a form has an amount of its own."""
    price_marked: bool = False
    """The price, or the words for a price on request, stand in a box for prices."""
    weigh_offer: Callable[[], None] | None = None
    """Sets the signs of a price without buy button, such as `plainly`; called where they count."""
    plainly: bool = False
    """Without a buy button, the page names, pictures and prices one product, and no other."""
    spells_currency: bool = False
    """The line with the price holds the code of its currency."""
    price_alone: bool = False
    """The page shows no other amount, except in tiles and frames."""
    price_rival: Decimal | None = None
    """An amount beside the price, where words that are in no list tell the two apart."""
    price_is_sole: bool = False
    """It is a reduced price, and no other amount in a box for prices may be the price."""
    outweighs_data: bool = False
    """The price is right, and that of the structured data is stale."""
    price_in_prose: bool = False
    """The price is part of a sentence, or stands by a link in an article."""
    price_is_loose: bool = False
    """A sentence, or a link below another heading, stands right before the price, or words near it
    say that it is another amount."""
    price_is_called: bool = False
    """Words before it in its sentence call it the price."""
    sold_for: bool = False
    """The words near the price say that the product is sold."""
    stock_boxed: bool = False
    """A box for the stock, a label of it or a button to order in advance gives the availability."""
    stock_by_price: bool = False
    """The line with the price says whether the product is in stock."""
    in_price_sentence: bool = False
    """Without a buy button, the price is one of several amounts of a sentence."""
    price_stands: bool = False
    """Without a buy button, the price is a line or a sentence of its own, and of no service."""
    of_service: bool = False
    """The line with the price names an entrance, an hour, a course or a date, or is a forum's."""
    priced_as_service: bool = False
    """The price's own line, or its label, names an entrance, an hour or another period."""
    in_sums: bool = False
    """The price is one of a table's other amounts, such as donations, or of a list of services."""
    no_goods: str | None = None
    """Why the page's buttons buy no goods: it names an event's day, or tells of a service."""
    refers: bool = False
    """Without a buy button, an advertiser's link leads to the shop that sells the product."""
    judged: bool = False
    """Without a buy button, a heading is that of a test's verdict."""
    price_after_link: bool = False
    """The price stands right after a link, as in a listing's tiles."""
    price_named_otherwise: bool = False
    """A picture and a name, other than the page's, link to another page right before the price."""
    price_in_rows: bool = False
    """The price is one of several after links, as in a listing's table of few rows."""
    net_price: Decimal | None = None
    """The price without tax, where words beside it call it so."""
    words_before: str = ""
    """The text before the price in its line, or the unit behind it."""
    reduced: bool = False
    """A mark or a word, and not only the amount, says that the regular price was asked before."""
    struck_below: Decimal | None = None
    """An amount beside the price that is marked as the regular price, but is lower."""

    def count_buttons(self, number: int, *, in_words: bool) -> None:
        """Add buy buttons, a caption of which is a whole phrase with *in_words*."""
        self.buy_buttons += number
        self.buys_in_words |= in_words

    def in_stock_by_button(self) -> str:
        """Return the availability that just a buy button says, and note this as its place."""
        self.paths["availability"] = _BY_BUTTON
        return "InStock"

    @property
    def in_tiles(self) -> bool:
        """Whether each of a list's few tiles has a buy button, and no price stands outside them."""
        return self.price_is_loose and self._buttons_in_tiles

    @property
    def numbers_tiles(self) -> bool:
        """Whether each tile or row has a number of its own, and none is left for the page's product."""
        if self.numbers_row:
            return True
        tiles = max(self.cards, self.lone_cards)
        if tiles < 2 or not ("price" not in self.fields or self.price_is_loose):
            return False
        numbers = {value for field, value in self.further_facts if field == "sku"}
        return len(numbers | {self.fields.get("sku")}) == tiles

    @property
    def sells_one(self) -> bool:
        """Whether the page has as few buy buttons as a product's page, and not one in each tile."""
        if self.price_is_loose and 0 < self.buy_buttons <= self.lone_cards:
            return self.price_is_called  # else a sentence about something else has the amount
        is_priced = "price" in self.fields and not self.price_is_loose
        few = 1 < self.buy_buttons <= 3 and (is_priced or not self._buttons_in_tiles)
        return self.buy_buttons == 1 or few

    @property
    def is_unpriced(self) -> bool:
        """Whether a picture is called like the heading, and no amount and no button stands anywhere."""
        amounts = self.cards or self.lone_cards or self.price_distance is not None
        return self.pictured and not (amounts or self.on_request or self.buy_buttons)

    @property
    def is_described(self) -> bool:
        """Whether a table describes a thing without a price, as makers' catalogues do."""
        return self.is_unpriced and len(self.fields.get("attributes") or ()) >= _MIN_DESCRIBED

    @property
    def _buttons_in_tiles(self) -> bool:
        return self.cards == self.buy_buttons > 1

    @property
    def price_may_be_anothers(self) -> bool:
        """Whether an amount may be that of another thing, where the product cannot be bought."""
        if self.stock_by_price:
            return False
        return self.price_is_loose or (self.sold_for and not self.price_marked)
