"""What a page's visible text says of its kind, in points."""

from __future__ import annotations

from crawler.extract.classify import Verdict
from crawler.extract.kind_signs import Visible
from crawler.extract.stock.shown import NOT_TO_BE_HAD

#: Prices in tiles that make a listing.
_LIST_OF = 3
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


def weigh(seen: Visible, verdict: Verdict) -> None:
    """Count what the page shows for or against its being a product's, or a listing's."""
    _price_signs(seen, verdict)
    if 1 <= seen.buy_buttons <= 3:
        verdict.add("product", 2.5, "a button buys it")
    elif seen.buy_buttons > 3:
        verdict.add("listing", 2, f"{seen.buy_buttons} buttons buy things")
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
    if seen.cards >= _LIST_OF and not (seen.cards_apart and seen.facts):
        verdict.add("listing", 6 if verdict.unnamed else 3, f"{seen.cards} prices in tiles")


def _plain_signs(seen: Visible, verdict: Verdict) -> None:
    if seen.plainly and 3 <= verdict.product < _SURELY and verdict.listing < _LIST_OF:
        points = _SURELY - verdict.product
        verdict.add("product", points, "it names, shows and prices one thing in plain words")


def _stock_signs(seen: Visible, verdict: Verdict) -> None:
    told = seen.price_distance is not None or 1 <= seen.buy_buttons <= 3
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
        several_tiles = seen.cards >= _LIST_OF
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
