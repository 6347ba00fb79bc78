"""Choose the product's price among the amounts that a page shows.

The price stands near the heading, in no tile of a listing, and is not struck through.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

import attrs

from crawler.extract.money.amounts import Money
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.link_targets import link_around
from crawler.extract.page.page import Element
from crawler.extract.page.places import path
from crawler.extract.price import per_unit
from crawler.extract.price.auctions import unless_bid
from crawler.extract.price.favour import favour_reduced, favour_repeated
from crawler.extract.price.labelled_above import labelled_above
from crawler.extract.price.line_amounts import monies_of, says_now, says_old, with_next
from crawler.extract.price.lone_tiles import (
    LONGEST_TILE_PRICE,
    follows_link,
    is_behind_link,
    is_below_others,
    is_in_tile,
    is_named_otherwise,
)
from crawler.extract.price.name_amounts import drop_named
from crawler.extract.price.net_alone import accept_net
from crawler.extract.price.old_amounts import (
    MAX_OLD_WORDS,
    is_below_price,
    is_surely_old,
    split_old,
    spread_other,
    unmark_old,
)
from crawler.extract.price.on_request import asks_for_price
from crawler.extract.price.other_amounts import (
    EXTRA_COSTS,
    RANGE,
    is_free_postage,
    is_marked_by_picture,
    is_other,
    labels_other,
    says_other,
)
from crawler.extract.price.own_boxes import MIN_AMOUNTS, by_boxes
from crawler.extract.price.price_filters import is_bound, is_filter_step
from crawler.extract.price.priced_choices import has_several, is_of_extra, prefer_selected
from crawler.extract.price.regular_price import (
    OTHER,
    Candidate,
    is_beside,
    is_net_box,
    is_struck,
    mark_by_label,
    mark_pairs,
    net_beside,
    prefer_gross,
    unmark_paid,
)
from crawler.extract.price.sentences import (
    MAX_AHEAD,
    ends_sentence,
    is_called_price,
    is_in_prose,
    is_mentioned,
    is_no_price_beside,
    likelier_beside,
    rival_of,
)
from crawler.extract.price.side_offers import Boxes, is_side_offer
from crawler.extract.price.signs_below import with_signs_below
from crawler.extract.price.sold_by_unit import accept_unit
from crawler.extract.price.sole import is_beside_others, is_saved, is_sole, with_saved
from crawler.extract.price.struck_below import struck_below
from crawler.extract.price.tiles import Amounts, is_within
from crawler.extract.price.two_currencies import without_conversions, without_rates
from crawler.extract.price.words_around import label_before
from crawler.extract.price.words_beside import (
    AROUND,
    BEHIND,
    CALLS_PRICE,
    before_note,
    begins_sentence,
    clause_behind,
    has_lower_behind,
    is_for_postage,
    is_from_free,
    is_labelled_behind,
    is_old_behind,
    is_one_labelled_behind,
    says_from,
    says_or_more,
    words_of,
)
from crawler.extract.stock.availability import availability_of_text, buys
from crawler.extract.visible_signs import Visible
from scrapy_seine.attrs_bases import Value

#: Signs of a surcharge or a discount: `Velvet +120 €`.
_MORE_OR_LESS = frozenset({"+", "−"})
#: The highest cost of a price, and of another amount such as postage; beyond, it is too far off.
_MAX_COST, _MAX_OTHER = 150, 90
#: Characters before an amount at the start of its line.
_MAX_START = 3
#: Amounts of a page that are weighed.
_MAX_AMOUNTS = 3_000
#: Boxes around a line that may be a link, and rows of few tiles with other products.
_MAX_LINKED, _MAX_ROWS = 6, 3
#: Lines from the price to a higher amount that is the regular price by its place alone.
_MAX_LINES = 2


def _candidates(
    walk: Lines, signs: Visible, all_amounts: Amounts, look_for_tiles: bool
) -> list[Candidate]:
    main = walk.lines[walk.heading].element if look_for_tiles and walk.heading >= 0 else None
    amounts = all_amounts.outside_tiles(signs, main)
    # A column beside the reviews comes after them in the HTML.
    own_lines = [pair for pair in amounts if not pair[0].flags & _lines.ELSEWHERE]
    if not look_for_tiles:  # the price is known, and only the one before it is looked for
        old = _lines.OLD
        own_lines = [n for n in own_lines if not (n[0].flags & old and is_in_tile(walk, n[0]))]
    elif own_lines:
        untiled = [pair for pair in own_lines if not is_in_tile(walk, pair[0])]
        signs.lone_cards = 0 if signs.cards else len(own_lines) - len(untiled)
        if signs.lone_cards:
            kept = set(map(id, untiled))
            tiled = [monies for pair in own_lines if id(pair) not in kept for monies in pair[1]]
            all_amounts.in_lone_tiles = {money.value for money in tiled}
        boxes: Boxes = {}
        untiled = [pair for pair in untiled if not is_side_offer(walk, pair[0], boxes)]
        own_lines = [pair for pair in untiled if not is_filter_step(*pair)]
    if not own_lines and not signs.cards:
        marked = [pair for pair in amounts if is_beside_others(pair[0])]
        own_lines = [pair for pair in marked if not look_for_tiles or not is_in_tile(walk, pair[0])]
    return [c for line, monies in own_lines for c in _weigh_line(walk, line, monies)]


def _all_amounts(walk: Lines, local: str | None, look_for_tiles: bool) -> Amounts:
    """Read at most _MAX_AMOUNTS amounts from all visible lines."""
    amounts, remaining = Amounts(look_for_tiles=look_for_tiles), _MAX_AMOUNTS
    shown, hidden = _lines.DIGIT, _lines.HIDDEN
    lines = [line for line in walk.lines if line.flags & (shown | hidden) == shown]
    for line in lines:
        if remaining <= 0:
            break
        if not (monies := monies_of(line, local)):
            continue  # most lines with a figure
        if "=" in line.text:
            monies = without_rates(line.text, monies)
        if len(monies) == 1 and monies[0].currency is None:
            monies = with_next(walk, line, monies[0], local)
        remaining -= len(monies)
        if monies:
            amounts.add(line, monies)
    return amounts if amounts.by_line else with_signs_below(amounts, lines, walk, local)


def _weigh_line(
    walk: Lines, line: Line, monies: Sequence[Money], *, labelled: bool = True
) -> list[Candidate]:
    if len(monies) >= MIN_AMOUNTS and (boxes := by_boxes(line, monies)):
        parts = [_weigh_line(walk, box, (m,), labelled=not n) for n, (box, m) in enumerate(boxes)]
        return with_saved([*chain(*parts)], walk)
    # A page without a heading may have menus of many links.
    distance = line.index - walk.heading if walk.heading >= 0 else 1 + walk.texts_before(line)
    label = label_before(walk, line) if labelled else ""
    place = _Place(line, distance, label, follows_link(walk, line))
    starts = [0, *(money.end for money in monies)]
    ends = [*(money.start for money in monies[1:]), len(line.text)]
    if is_labelled_behind(monies, line.text) or is_one_labelled_behind(walk, line, monies):
        place, starts = attrs.evolve(place, behind=True), [money.end for money in monies]
    weighed = [_weigh(*parts) for parts in zip(monies, repeat(place), starts, ends, strict=False)]
    if len(weighed) < 2:
        return weighed
    weighed = spread_other(weighed)
    if not line.flags & _lines.OLD:
        return weighed
    return split_old(weighed, behind=place.behind)


@attrs.frozen(eq=False, repr=False)
class _Place(Value):
    """Where an amount stands, and what is around it."""

    line: Line
    distance: int
    """Lines after the heading; negative before it."""
    label: str
    """The line before, if it may be the amount's label."""
    follows_link: bool
    behind: bool = False
    """The label of each amount of the line stands behind it."""


def _weigh(money: Money, place: _Place, start: int, end: int) -> Candidate:
    """Weigh an amount, whose words in its line begin at *start* and end at *end*."""
    line, label = place.line, "" if start else place.label
    before = line.text[max(start, money.start - 2 * AROUND) : money.start]
    behind = line.text[money.end : money.end + BEHIND]
    label_words = before[-MAX_OLD_WORDS:].strip(" :：") or label
    if place.behind:
        label_words = line.text[money.end : end][:40].strip()
    # "3 990 Ft helyett 3 490 Ft": the words before an amount may be about the one before them.
    by_words = (says_old(label_words) and not is_old_behind(label_words)) or (
        (start > 0 or end < len(line.text)) and is_old_behind(line.text[money.end : end])
    )
    is_old = bool(line.flags & _lines.OLD) or by_words
    is_now = not is_old and bool(label_words) and says_now(label_words)
    other = _is_other(money, place, start, end, before)
    if other and is_now and not place.behind:
        other = is_other(line.text[money.end : end][:BEHIND])  # "Price with discount: 12 €"
    other = other or (len(line.text) < LONGEST_TILE_PRICE and is_marked_by_picture(line.element))
    unit = "" if other else behind[: per_unit.unit_behind(behind)]
    if unit or per_unit.names_unit(before[-20:], behind):
        other = True
    is_sum = start and not other and is_from_free(before, line.text[money.end :])
    is_sum = is_sum or (money.end < len(line.text) and says_or_more(line.text[money.end :]))
    is_less = before == "-" and not start  # before other words it may be a dash
    if is_less or is_sum or (before and (before[-2:].strip() in _MORE_OR_LESS or is_bound(before))):
        other = True
    cost = _cost_of_place(money, place) + (OTHER if other else 0)
    if start and RANGE.match(before):
        cost += 5
    if is_now or (label_words and not start and CALLS_PRICE(label_words)):
        cost -= 10  # a label counts as much as a class
    called = by_words and CALLS_PRICE(label_words) is not None
    return Candidate(
        money, line, cost, is_old, other, place.follows_link, is_now, by_words, called, unit=unit
    )


def _is_other(money: Money, place: _Place, start: int, end: int, before: str) -> bool:
    """Whether the words about an amount make it postage, an instalment or a saving."""
    line, label = place.line, "" if start else place.label
    if before and label and is_free_postage(label) and says_from(before):
        return True
    text = line.text if end >= len(line.text) else before_note(money, line.text, end)
    other = is_other(words_of(money, text, start, end)) or labels_other(label)
    if other and not (start or labels_other(label)) and begins_sentence(before):
        # Words behind an amount may name extra postage, or be about the lower amount that follows.
        behind = EXTRA_COSTS.sub(" ", clause_behind(line.text[money.end : end], before))
        is_apart = not has_lower_behind(money, line.text) and is_other(behind)
        other = is_apart and availability_of_text(behind) is None  # "149 €, ready for shipping"
        other = other or says_other(before)
    elif other and start and end == len(line.text) and not labels_other(label):
        # Words behind the last amount may name extra postage.
        behind = EXTRA_COSTS.sub(" ", line.text[money.end :][:BEHIND].lower())
        other = is_other(f"{line.text[start : money.start]} {behind}")
    return other and not (line.flags & _lines.BUTTON and buys(before.strip()))  # "Buy — $14.00"


def _cost_of_place(money: Money, place: _Place) -> int:
    """Return the cost of an amount (high if it is hardly the price) by its place and form."""
    line, flags = place.line, place.line.flags
    cost = place.distance if place.distance >= 0 else 10 - place.distance * 3
    if not flags & _lines.PRICE:
        cost += 10
    if place.follows_link:
        cost += 4 if flags & _lines.NOW else 12
    if flags & _lines.LABEL and money.start > _MAX_START:
        cost += 15  # a choice with a surcharge: a guarantee, a size
    if money.currency is None and not flags & _lines.NOW:
        cost += 8
    if flags & _lines.LINK and not (money.start <= _MAX_START and _is_outside_links(line.element)):
        cost += 40
    if not money.value:
        cost += 100
    if len(line.text) > 40:  # a line of several boxes that begins with the price is no sentence
        longest = 10 if flags & _lines.JOINED and not money.start else 60
        cost += min(longest, len(line.text) // 2 - 20)
    return cost


def _is_outside_links(element: Element) -> bool:
    """Whether a line begins outside of any link; its rest may be a link."""
    return link_around(element, _MAX_LINKED) is None


def _choose(weighed: list[Candidate], walk: Lines) -> tuple[list[Candidate], Candidate | None]:
    """Compare the amounts; return them and the one that is most likely the price."""
    name = walk.lines[walk.heading].text if walk.heading >= 0 else ""
    candidates = accept_unit(prefer_selected(unmark_old(weighed)), name)
    if len(candidates) == 1:  # it is no other amount's tax or regular price
        candidates = accept_net(candidates)
    elif candidates:
        amounts = drop_named(candidates, walk.heading)
        amounts = accept_net(prefer_gross(labelled_above(amounts), walk.lines))
        amounts = favour_reduced(unmark_paid(amounts))
        candidates = favour_repeated(mark_pairs(mark_by_label(amounts), walk.lines))
    current = [c for c in candidates if not c.old]
    price = min(current, key=lambda c: c.cost, default=None)
    if price is not None and len(current) > 1:
        price = likelier_beside(price, current, walk)
    likeliest = min(candidates, key=lambda c: c.cost, default=None)
    if likeliest is None:
        return candidates, None
    if price is None or (
        likeliest.cost < price.cost - MAX_AHEAD and not is_beside(likeliest, price)
    ):
        price = likeliest  # its class says "regular price", and there is no other price
    elif likeliest.old and not is_surely_old(likeliest) and is_no_price_beside(price, likeliest):
        price = likeliest
    elif likeliest.old and not likeliest.other and is_below_price(likeliest, price):
        price = likeliest  # its class says "regular price", and the other one is of several pieces
    elif price.other and not likeliest.other and not is_surely_old(likeliest):
        price = likeliest  # the regular price is asked, because the other one needs a card
    return candidates, price


def _without_code(
    candidates: list[Candidate], price: Candidate | None, walk: Lines
) -> tuple[list[Candidate], Candidate | None]:
    """Choose anew if all other amounts have another currency: the price is an item `CAD83439`."""
    if price is None or not price.line.text.isalnum():
        return candidates, price
    currencies = {c.money.currency for c in candidates if c.line is not price.line} - {None}
    if not (price.money.currency and currencies) or price.money.currency in currencies:
        return candidates, price
    return _choose([c for c in candidates if c.line is not price.line], walk)


def _boxed(candidates: list[Candidate]) -> list[Candidate]:
    """Return the amounts in boxes for prices; one of something else may stand before them."""
    boxed = [c for c in candidates if c.line.flags & _lines.PRICE and not (c.other or c.old)]
    return [c for c in boxed if c.money.currency and not c.follows_link]


def find_price(
    walk: Lines,
    signs: Visible,
    local: str | None,
    tiles: bool = True,
    shop_currency: str | None = None,
) -> None:
    """Put price, currency and the price before a reduction into *signs*.

    Of an amount in two currencies the one in *shop_currency*, by structured data, counts.
    Without *tiles* a listing's tiles are not searched, because only a few lines were read.
    """
    amounts = _all_amounts(walk, local, tiles)
    candidates = without_conversions(_candidates(walk, signs, amounts, tiles), shop_currency)
    signs.priced_choices = has_several(candidates)
    candidates, price = _without_code(*_choose(candidates, walk), walk)
    main = walk.lines[walk.heading].element if walk.heading >= 0 else None
    for _ in range(_MAX_ROWS if tiles else 0):
        row = [] if price is None else amounts.row_of(price.line, main)
        if not row:
            break
        # The amount is another product's, and so are those in the tiles beside it.
        signs.cards = max(signs.cards, len(row))
        candidates, price = _choose(
            [c for c in candidates if not is_within(c.line.element, row)], walk
        )
    if price is not None and price.other and (boxed := _boxed(candidates)):
        candidates, price = _choose(boxed, walk)
    if price is None or _is_no_price(price, walk):
        return
    price = unless_bid(price, candidates, walk.lines) if price.now else price
    signs.price_alone = len(candidates) == 1
    by_unit = (
        price.other
        and (signs.price_alone or price.line.flags & _lines.PRICE)
        and per_unit.names_unit("", price.line.text[price.money.end :][:BEHIND])
    )
    signs.price_distance = price.cost - (OTHER if by_unit else 0)
    signs.price_line = price.line.index
    signs.price_in_prose = is_in_prose(walk, price) or is_mentioned(price, amounts.in_lone_tiles)
    if signs.price_in_prose and not price.follows_link and not is_called_price(price):
        return  # a sum to spend, to win or to save
    signs.fields["price"] = price.money.value
    signs.fields["currency"] = price.money.currency
    signs.paths["price"] = path(price.line.element)
    signs.price_marked = bool(price.line.flags & _lines.PRICE)
    signs.price_rival = None if signs.price_alone else rival_of(price, candidates, walk)
    signs.spells_currency = (price.money.currency or " ") in price.line.text
    words_before = _words_before(walk, price) if price.other or price.money.start else ""
    net = net_beside(price, candidates, walk.lines)
    signs.net_price = None if net is None else net.money.value
    signs.price_is_loose = _is_loose(walk, price, words_before, net)
    signs.price_is_called = is_called_price(price)
    if price.follows_link:
        signs.price_after_link = True
        signs.price_named_otherwise = is_named_otherwise(walk, price.line)
        rows = [c for c in candidates if c.follows_link and not c.other and not c.old]
        signs.price_in_rows = len(rows) > 1
    signs.words_before = words_before if price.money.start else price.unit
    _set_regular(walk, signs, candidates, price)


def _words_before(walk: Lines, price: Candidate) -> str:
    text_before = price.line.text[: price.money.start][-AROUND:]
    return text_before or label_before(walk, price.line)


def _is_loose(walk: Lines, price: Candidate, words_before: str, net: Candidate | None) -> bool:
    """Whether a price may be that of something else, by the words around or its place."""
    is_others = price.other and not CALLS_PRICE(words_before)
    if is_others or ends_sentence(price, net, sentence_only=True):
        return True
    if not (price.follows_link or price.line.flags & _lines.LINK):
        return False
    is_below = price.follows_link and is_below_others(walk, price.line)
    return is_below or is_behind_link(walk, price.line, price.money)


def _is_no_price(price: Candidate, walk: Lines) -> bool:
    """Whether the chosen amount is no price: too far, struck, a cart's sum, or beside "ask us"."""
    if price.cost > (_MAX_OTHER if price.other else _MAX_COST) or is_struck(price):
        return True
    line = price.line
    if (is_above := line.index < walk.heading) and not price.money.value:
        return True  # the sum of the cart in the page's head
    if price.other and (
        len(line.text) > LONGEST_TILE_PRICE
        or is_for_postage(price.money, line.text)
        or _stands_behind_words(price, walk)
    ):
        return True  # a sentence about postage or the sum from which it is free, "after € 50 back"
    is_extra = is_of_extra(line.element)
    if is_extra or line.flags & _lines.PRICE:
        return is_extra
    return asks_for_price(walk, len(walk.lines) if is_above else line.index)


def _stands_behind_words(price: Candidate, walk: Lines) -> bool:
    """Whether words that call it no price stand before an amount outside of a price box."""
    if not price.money.start or price.unit or price.line.flags & _lines.PRICE:
        return False
    words, label = _words_before(walk, price), label_before(walk, price.line)
    return CALLS_PRICE(words) is None and CALLS_PRICE(label) is None


def _set_regular(
    walk: Lines, signs: Visible, candidates: list[Candidate], price: Candidate
) -> None:
    """Put the price before a reduction into *signs*."""
    regular = [c for c in candidates if c.old and not c.other and _is_regular_price(c, price)]
    regular = [c for c in regular if _is_called_old(c) or _is_paired(c, price, candidates)]
    if regular and not is_net_box(price):
        regular = [c for c in regular if not is_net_box(c)]
    if regular:
        nearest = min(regular, key=lambda c: abs(c.line.index - price.line.index))
        signs.fields["regular_price"] = nearest.money.value
        if signs.price_rival == nearest.money.value:
            signs.price_rival = None
        signs.fields["currency"] = price.money.currency or nearest.money.currency
        words = nearest.line.text[: nearest.money.start][-MAX_OLD_WORDS:].strip()
        is_old = bool(nearest.line.flags & _lines.OLD) or says_old(words)
        signs.reduced = (is_old or is_saved(nearest, price, candidates, walk)) and not price.other
        signs.price_is_sole = signs.reduced and is_sole(price, nearest, candidates, walk)
        if not _is_called_old(nearest):
            signs.paths["regular_price"] = path(nearest.line.element)
    else:
        signs.struck_below = struck_below(walk, candidates, price)


def _is_called_old(amount: Candidate) -> bool:
    """Whether a mark or words call an amount the price before, or both prices the price."""
    return bool(amount.line.flags & _lines.OLD) or amount.says_old or amount.now


def _is_paired(amount: Candidate, price: Candidate, candidates: Sequence[Candidate]) -> bool:
    """Whether the price stands right beside an amount, which is not that of another pair.

    A table of instalments has pairs, too: each payment and the sum.
    """
    places = [c.line.index for c in candidates if c.money.value == price.money.value]
    return any(abs(amount.line.index - place) <= _MAX_LINES for place in places)


def _is_regular_price(amount: Candidate, price: Candidate) -> bool:
    """Whether an amount is the price before the reduction to *price*."""
    return (
        is_beside(amount, price)
        and (price.follows_link or not amount.follows_link or _is_marked_regular(amount))
        and amount.money.value > price.money.value
        and (price.money.currency is None or amount.money.currency in {price.money.currency, None})
    )


def _is_marked_regular(amount: Candidate) -> bool:
    """Whether an old amount stands in a price box, or words right before it call it old."""
    before = amount.line.text[: amount.money.start][-MAX_OLD_WORDS:].strip()
    return bool(amount.line.flags & _lines.PRICE) or says_old(before)
