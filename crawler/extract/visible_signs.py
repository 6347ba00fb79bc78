"""The signs on a page by which its kind is told, as the readers of its text hand them on."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import attrs

from crawler.extract.fields import Fields
from scrapy_seine.records import Record


@attrs.define(kw_only=True, eq=False, repr=False)
class Visible(Record):
    """What a page shows, and the signs of its kind."""

    fields: Fields = attrs.Factory(dict)
    price_distance: int | None = None
    """Lines between heading and price."""
    price_line: int | None = None
    """The line in which it stands."""
    buy_buttons: int = 0
    sells: bool = False
    """A button that buys can be pressed, and the page has no more of them than a product's."""
    asks: bool = False
    """A button asks who sells it, bids for it or keeps it, where none buys."""
    notifies: bool = False
    """A button offers to tell when the thing can be had again."""
    pictured: bool = False
    """A picture is called by the page's main heading."""
    cards: int = 0
    """Prices in repeated structures: the tiles of a listing."""
    cards_apart: bool = False
    """All of them stand where a page shows other things than its own."""
    lone_cards: int = 0
    """Prices in boxes with a title that leads to another page, where they are few."""
    facts: int = 0
    """Labelled identifiers (SKU, GTIN, MPN)."""
    further_facts: list[tuple[str, str]] = attrs.Factory(list)
    """Fields and what stands under further labels of them, behind the first."""
    on_request: bool = False
    """Instead of a price, where it shows none, it asks to be asked."""
    beside: Any = None
    """Where the name stands on a page without a heading."""
    described: list[Any] = attrs.Factory(list)
    """Boxes behind the heading that are called a description."""
    lines: list[Any] = attrs.Factory(list)
    """What stands behind the heading, line by line."""
    paths: dict[str, str] = attrs.Factory(dict)
    """By field: where the text stands from which it was read."""
    priced_choices: bool = False
    """Each of several choices of a form has an amount of its own."""
    price_marked: bool = False
    weigh_offer: Callable[[], None] | None = None
    """What finds `plainly` and `price_stands`: it is asked only where little else tells the kind."""
    plainly: bool = False
    """Without a button that buys, the page names, shows and prices one thing, and nothing else."""
    price_alone: bool = False
    """The page shows no other amount, but in tiles and frames."""
    price_in_prose: bool = False
    """The price is a word of a sentence, or stands by a link in an article."""
    price_is_loose: bool = False
    """A sentence, or a link below another heading, stands right before the price, or words by it
    make it another amount."""
    sold_for: bool = False
    """Where the price stands, the page says that the thing is sold."""
    stock_by_price: bool = False
    """The line with the price says whether the thing can be had."""
    price_stands: bool = False
    """Without a button that buys, the price is a line or a sentence of its own, of no service."""
    of_service: bool = False
    """The line with the price speaks of an entrance, an hour, a course or a date, or it is a board's."""
    price_after_link: bool = False
    """The price stands right behind a link, as in a listing's tiles."""
    price_in_rows: bool = False
    """It is one of several such, as in a listing's table of few rows."""
    reduced: bool = False
    """A mark or a word says that the regular price was asked before, and not only its height."""
    struck_below: Decimal | None = None
    """An amount beside the price that is marked as the price before, and is lower."""

    @property
    def in_tiles(self) -> bool:
        """Whether each of a list's few tiles has a button that buys, and no price stands apart."""
        return self.price_is_loose and self.cards == self.buy_buttons > 1

    @property
    def sells_one(self) -> bool:
        """Whether so few buttons buy as one product's page has, and not one in each tile."""
        return self.buy_buttons == 1 or (1 < self.buy_buttons <= 3 and not self.in_tiles)

    @property
    def price_may_be_anothers(self) -> bool:
        """Whether an amount may be another thing's than the product's that cannot be had."""
        if self.stock_by_price:
            return False
        return self.price_is_loose or (self.sold_for and not self.price_marked)
