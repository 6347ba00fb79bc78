"""Choose the product's price among the amounts that a page shows.

The price stands near the heading, in no tile of a listing, and is not struck through.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import islice, repeat

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import Money, find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import Element
from crawler.extract.page.places import leads_away, maker_led_to, path
from crawler.extract.price import per_unit
from crawler.extract.price.labelled_above import labelled_above
from crawler.extract.price.line_amounts import (
    LONGEST_LINE,
    PARAGRAPH,
    monies_of,
    says_now,
    says_old,
    with_next,
)
from crawler.extract.price.lone_tiles import LONGEST_TILE_PRICE, in_a_tile
from crawler.extract.price.on_request import asks_for_price
from crawler.extract.price.other_amounts import (
    APART,
    COSTS,
    POSTAGE,
    is_marked_by_picture,
    is_other,
    labels_other,
    says_other,
    tells_lowest,
)
from crawler.extract.price.priced_choices import has_several, the_one_made
from crawler.extract.price.regular_price import (
    OTHER,
    Candidate,
    beside,
    called_twice,
    is_net_box,
    is_struck,
    near_before,
    often_told,
    paid_in_box,
    paired,
    stands_alone,
    with_tax,
)
from crawler.extract.price.tiles import Amounts, is_within
from crawler.extract.price.two_currencies import without_conversions
from crawler.extract.price.words_beside import (
    AROUND,
    BEHIND,
    CALLS_PRICE,
    RANGE,
    begins,
    in_sentence,
    is_old_behind,
    one_told_behind,
    tells_a_part,
    told_behind,
    words_of,
)
from crawler.extract.stock.availability import availability_of_text, buys
from crawler.extract.visible_signs import Visible
from scrapy_seine.records import Value

#: Words on both sides of an amount that make it a part of a sentence, and the text of an article.
_BEFORE_IN_PROSE, _AFTER_IN_PROSE, _ARTICLE = 3, 2, 800
_WORDS = lazy_patterns.pattern(r"[^\W\d_]{2,}")
#: What comes to a price, or is taken from it: `Velvet +120 €`.
_MORE_OR_LESS = frozenset({"+", "−"})
_TAIL = lazy_patterns.pattern(r"([^\W\d_][^\d:]{2,38}):\s*$")
#: What may stand in a tile between its link and its price.
_BETWEEN = _lines.OLD | _lines.HIDDEN | _lines.STOCK
#: What costs more is too far from the heading to be its price; postage and such, sooner.
_FARTHEST, _FARTHEST_OTHER = 150, 90
#: Characters before an amount with which its line begins.
_GAP = 3
#: Characters of a label that holds a figure.
_LONGEST_LABEL = 120
#: Amounts of a page that are weighed.
_MAX_AMOUNTS = 3_000
_MAX_LINKED = 6
#: Boxes in which words before an amount make no sentence.
_NO_PROSE = _lines.PRICE | _lines.LABEL
#: Lines from a sentence to the price that it is about.
_BESIDE = 1
#: No price comes down to a smaller part of what it was.
_LEAST_REDUCED = 5


def _candidates(
    read: Lines, seen: Visible, all_amounts: Amounts, look_for_tiles: bool
) -> list[Candidate]:
    main = read.lines[read.heading].element if look_for_tiles and read.heading >= 0 else None
    amounts = all_amounts.outside_tiles(seen, main)
    # A column beside the reviews comes after them in the page.
    here = [amount for amount in amounts if not amount[0].flags & _lines.ELSEWHERE]
    if look_for_tiles and here:
        mine = [amount for amount in here if not in_a_tile(read, amount[0])]
        seen.lone_cards = 0 if seen.cards else len(here) - len(mine)
        here = mine
    if not here and not seen.cards:
        apart = [amount for amount in amounts if _beside_others(amount[0])]
        here = [amount for amount in apart if not look_for_tiles or not in_a_tile(read, amount[0])]
    return [c for line, monies in here for c in _judged_line(read, line, monies)]


def _all_amounts(read: Lines, local: str | None, look_for_tiles: bool) -> Amounts:
    """Read the amounts of all lines that a visitor sees, so many at most."""
    amounts, left = Amounts(look_for_tiles=look_for_tiles), _MAX_AMOUNTS
    shown = _lines.DIGIT | _lines.HIDDEN
    for line in read.lines:
        if left <= 0:
            break
        if line.flags & shown != _lines.DIGIT:
            continue
        monies = monies_of(line, local)
        if len(monies) == 1 and monies[0].currency is None:
            monies = with_next(read, line, monies[0], local)
        left -= len(monies)
        if monies:
            amounts.add(line, monies)
    return amounts


def _beside_others(line: Line) -> bool:
    """Whether only its place in the page lets a price seem another product's."""
    wanted = _lines.BEYOND | _lines.PRICE
    return line.flags & wanted == wanted and not line.flags & (_lines.CARD | _lines.LINK)


def _judged_line(read: Lines, line: Line, monies: Sequence[Money]) -> list[Candidate]:
    place = _Place(
        line, line.index - read.heading, label_before(read, line), _follows_link(read, line)
    )
    ends = [0, *(money.end for money in monies)]
    starts = [*(money.start for money in monies[1:]), len(line.text)]
    if told_behind(monies, line.text) or one_told_behind(read, line, monies):
        place, ends = attrs.evolve(place, behind=True), [money.end for money in monies]
    found = [_judged(*parts) for parts in zip(monies, repeat(place), ends, starts, strict=False)]
    if len(found) < 2 or not line.flags & _lines.OLD:
        return found
    return _told_apart(found, behind=place.behind)


def _told_apart(found: list[Candidate], *, behind: bool) -> list[Candidate]:
    """The amounts of a struck line, of which a word says which one was before: the others are not.

    `<b>129,99 €</b><s>UVP 199,00 €</s>` is one line. The words may stand *behind* each amount.
    """
    ends = [0, *(c.money.end for c in found)]
    said = [
        c.told_old if behind else says_old(c.line.text[end : c.money.start][-40:].strip())
        for c, end in zip(found, ends, strict=False)
    ]
    if not any(said):
        return found
    return [attrs.evolve(c, old=old) for c, old in zip(found, said, strict=True)]


def label_before(read: Lines, line: Line) -> str:
    """The text of the line before, where it may say what an amount is."""
    place = line.index - 1
    while place > 0 and read.lines[place].flags & _lines.HIDDEN:
        place -= 1
    if place == read.heading:
        return ""  # a thing's name may be "Regular fit jeans"
    text = read.lines[place].text if place >= 0 else ""
    if place < 0 or not read.lines[place].flags & _lines.DIGIT:
        return text if len(text) < 40 else ""
    if text[-1:] == ":" and len(text) <= _LONGEST_LABEL and tells_lowest(text):
        return text  # the lowest price of 30 days: the figure is no amount
    tail = _TAIL.search(text)  # the label may stand behind the amount before
    return tail[1] if tail else ""


def _follows_link(read: Lines, line: Line) -> bool:
    """Whether the line comes right after a link, as the price in a listing's tile does."""
    place = line.index - 1
    while place > 0 and read.lines[place].flags & _BETWEEN:
        place -= 1
    flags = read.lines[place].flags
    if place <= read.heading or not flags & _lines.LINK or flags & _lines.FACT:
        return False
    if flags & _lines.DIGIT and any(find_prices(read.lines[place].text[:LONGEST_LINE])):
        return False  # another edition's, with its price
    if read.heading >= 0 and read.lines[read.heading].text.startswith(read.lines[place].text):
        return False  # its maker, or its name once more
    element = read.lines[place].element
    return maker_led_to(element) is None and not _leads_nowhere(element)


def _leads_nowhere(element: Element) -> bool:
    """Whether a link begins something on the page: `javascript:print()`."""
    boxes = (element, *islice(element.iterancestors(), _MAX_LINKED))
    link = next((box for box in boxes if box.tag == "a"), None)
    return link is not None and not leads_away(link)


@attrs.frozen(eq=False, repr=False)
class _Place(Value):
    """What stands around an amount."""

    line: Line
    distance: int
    """Lines after the heading; negative before it."""
    label: str
    """The line before, where it may say what an amount is."""
    follows_link: bool
    behind: bool = False
    """The words of each amount of the line stand behind it."""


def _judged(money: Money, place: _Place, since: int, until: int) -> Candidate:
    """Weigh an amount; the amounts beside it in the same line end at *since*, begin at *until*."""
    line, label = place.line, "" if since else place.label
    before = line.text[max(since, money.start - 2 * AROUND) : money.start]
    other = is_other(words_of(money, line.text, since, until)) or labels_other(label)
    if other and not (since or labels_other(label)) and begins(before):
        # What is said behind an amount alone may be that postage comes to it, or be about the
        # lower amount that follows.
        behind = line.text[money.end : until][:BEHIND].lower().partition(". ")[0]
        behind = APART.sub(" ", behind)
        is_apart = not tells_a_part(money, line.text) and is_other(behind)
        other = is_apart and availability_of_text(behind) is None  # "149 €, ready for shipping"
        other = other or says_other(before)
    elif other and since and until == len(line.text) and not labels_other(label):
        # What is said behind the last amount alone may be that postage comes to it.
        behind = APART.sub(" ", line.text[money.end :][:BEHIND].lower())
        other = is_other(f"{line.text[since : money.start]} {behind}")
    if other and line.flags & _lines.BUTTON and buys(before.strip()):
        other = False  # "Add to cart — $14.00"
    if len(line.text) < LONGEST_TILE_PRICE and is_marked_by_picture(line.element):
        other = True
    if per_unit.tells(before[-20:], line.text[money.end : money.end + BEHIND]):
        other = True
    if before[-2:].strip() in _MORE_OR_LESS:
        other = True
    cost = _cost_of_place(money, place) + (OTHER if other else 0)
    if since and RANGE.match(before):
        cost += 5
    told = before[-40:].strip(" :：") or label
    if place.behind:
        told = line.text[money.end : until][:40].strip()
    told_old = says_old(told) or (since > 0 and is_old_behind(line.text[money.end :]))
    old = bool(line.flags & _lines.OLD) or told_old
    now = not old and bool(told) and says_now(told)
    if now or (label and not since and CALLS_PRICE(label)):
        cost -= 10  # as good as a class
    return Candidate(money, line, cost, old, other, place.follows_link, now, told_old)


def _cost_of_place(money: Money, place: _Place) -> int:
    """How unlikely an amount is the price, by where it stands and how it is written."""
    line = place.line
    cost = place.distance if place.distance >= 0 else 10 - place.distance * 3
    if not line.flags & _lines.PRICE:
        cost += 10
    if place.follows_link:
        cost += 4 if line.flags & _lines.NOW else 12
    if line.flags & _lines.LABEL and money.start > _GAP:
        cost += 15  # the name of a choice that costs more: a guarantee, a size
    if money.currency is None:
        cost += 8
    if line.flags & _lines.LINK and not (money.start <= _GAP and _is_outside_links(line.element)):
        cost += 40
    if not money.value:
        cost += 100
    return cost + min(60, max(0, len(line.text) - 40) // 2)


def _is_outside_links(element: Element) -> bool:
    """Whether a line begins outside of any link: what follows in it may be linked."""
    return all(e.tag != "a" for e in (element, *islice(element.iterancestors(), _MAX_LINKED)))


def _chosen(found: list[Candidate], read: Lines) -> tuple[list[Candidate], Candidate | None]:
    """Weigh amounts against each other; the last one is most likely the price."""
    candidates = the_one_made(_told(found))
    if len(candidates) > 1:  # one alone is neither the tax nor the price before of another one
        amounts = paid_in_box(with_tax(labelled_above(candidates), read.lines))
        candidates = often_told(paired(called_twice(near_before(amounts)), read.lines))
    new = [c for c in candidates if not c.old]
    best = min(new, key=lambda c: c.cost, default=None)
    first = min(candidates, key=lambda c: c.cost, default=None)
    if first is None:
        return candidates, None
    if best is None or (first.cost < best.cost - 20 and not beside(first, best)):
        best = first  # a class says "regular price", and there is no other
    elif first.old and not _is_surely_old(first) and _is_no_price_beside(best, first):
        best = first
    elif best.other and not first.other and not _is_surely_old(first):
        best = first  # the usual price is what those pay who hold no card
    return candidates, best


def find_price(
    read: Lines,
    seen: Visible,
    local: str | None,
    tiles: bool = True,
    own: str | None = None,
) -> None:
    """Put price, currency and the price before a reduction into *seen*.

    Of an amount in two currencies the one in the shop's *own* counts, as its structured data tells.
    Without *tiles* a listing's tiles are not looked for, as where only a few lines were read.
    """
    amounts = _all_amounts(read, local, tiles)
    candidates = without_conversions(_candidates(read, seen, amounts, tiles), own)
    seen.priced_choices = has_several(candidates)
    candidates, best = _chosen(candidates, read)
    if best is not None and tiles and read.heading >= 0:
        row = amounts.row_of(best.line, read.lines[read.heading].element)
        if row:  # another product's: what is in the tiles beside it is so too
            seen.cards = max(seen.cards, len(row))
            candidates, best = _chosen(
                [c for c in candidates if not is_within(c.line.element, row)], read
            )
    if (
        best is None
        or best.cost > (_FARTHEST_OTHER if best.other else _FARTHEST)
        or is_struck(best)
    ):
        return
    if not best.money.value and best.line.index < read.heading:
        return  # the sum of the cart in the page's head
    if best.other and (len(best.line.text) > LONGEST_TILE_PRICE or _is_postage(best)):
        return  # a sentence about postage or a sum from which on it is free
    if not best.line.flags & _lines.PRICE and asks_for_price(read, best.line.index):
        return
    seen.price_alone = len(candidates) == 1
    unit = (seen.price_alone or best.line.flags & _lines.PRICE) and per_unit.tells(
        "", best.line.text[best.money.end :][:BEHIND]
    )
    seen.price_distance = best.cost - (OTHER if unit else 0)
    seen.price_line = best.line.index
    seen.price_in_prose = _is_in_prose(read, best)
    if seen.price_in_prose and not best.follows_link and not _is_called_price(best):
        return  # what one has to spend, wins or saves
    seen.fields["price"] = best.money.value
    seen.fields["currency"] = best.money.currency
    seen.paths["price"] = path(best.line.element)
    seen.price_marked = bool(best.line.flags & _lines.PRICE)
    called = best.line.text[: best.money.start][-AROUND:] or label_before(read, best.line)
    # What is sold by the metre has a price by the metre.
    loose = best.other and not (unit or CALLS_PRICE(called))
    seen.price_is_loose = loose or _ends_sentence(best, alone=True) or _is_below_others(read, best)
    seen.price_after_link = best.follows_link
    rows = [c for c in candidates if c.follows_link and not c.other and not c.old]
    seen.price_in_rows = best.follows_link and len(rows) > 1
    _take_before(read, seen, candidates, best)


def _take_before(read: Lines, seen: Visible, candidates: list[Candidate], best: Candidate) -> None:
    """Put the price before a reduction into *seen*."""
    before = [c for c in candidates if c.old and not c.other and _is_before(c, best)]
    if before and not is_net_box(best):
        before = [c for c in before if not is_net_box(c)]
    if before:
        nearest = min(before, key=lambda c: abs(c.line.index - best.line.index))
        seen.fields["regular_price"] = nearest.money.value
        words = nearest.line.text[: nearest.money.start][-40:].strip()
        marked = bool(nearest.line.flags & _lines.OLD) or says_old(words)
        seen.reduced = marked and not best.other
    else:
        seen.struck_below = _below(read, candidates, best)


def _told(candidates: list[Candidate]) -> list[Candidate]:
    """Take what only a sentence apart from all prices calls the one before for another amount.

    A description tells what a thing cost elsewhere, or when it was new.
    """
    if not [c for c in candidates if c.told_old]:
        return candidates
    marked = [c.line.index for c in candidates if c.line.flags & _lines.PRICE and not c.told_old]
    return [
        c
        if not c.told_old
        or c.line.flags & _lines.OLD
        or not _ends_sentence(c)
        or any(abs(c.line.index - place) <= _BESIDE for place in marked)
        or any(o.line is c.line and not (o.told_old or o.other) for o in candidates)
        else attrs.evolve(c, old=False, other=True, cost=c.cost + OTHER)
        for c in candidates
    ]


def _is_no_price_beside(best: Candidate, old: Candidate) -> bool:
    """Whether an amount that no box for prices holds cannot be what another one came down to.

    It ends a sentence about something else, or is a small part of the other.
    """
    if best.line.flags & _lines.PRICE or best.now or best.cost <= old.cost:
        return False
    return _ends_sentence(best) or best.money.value * _LEAST_REDUCED < old.money.value


def _is_surely_old(one: Candidate) -> bool:
    """Whether a mark and more than a class says that an amount was asked before."""
    return bool(one.line.flags & _lines.OLD) and (one.told_old or is_struck(one))


def _is_postage(one: Candidate) -> bool:
    """Whether a line that begins with words for postage tells an amount: no price stands there."""
    return POSTAGE(one.line.text[: one.money.start][-LONGEST_TILE_PRICE:]) is not None


def _is_in_prose(read: Lines, best: Candidate) -> bool:
    """Whether a price is a word of a sentence, or stands by a link in the middle of an article."""
    line, money = best.line, best.money
    if best.follows_link:
        above = read.lines[max(read.heading, 0) : line.index]
        return sum(len(one.text) for one in above if len(one.text) > PARAGRAPH) > _ARTICLE
    if line.flags & _NO_PROSE or len(line.text) < _GAP + BEHIND // 2:
        return False
    before, after = line.text[: money.start][-AROUND:], line.text[money.end :][:AROUND]
    before = in_sentence(before)
    if line.index == read.heading:
        return len(_WORDS.findall(after)) > _AFTER_IN_PROSE  # a title that speaks of money
    enough = len(_WORDS.findall(before)) >= _BEFORE_IN_PROSE
    return enough and ":" not in before and len(_WORDS.findall(after)) >= _AFTER_IN_PROSE


def _is_called_price(one: Candidate) -> bool:
    """Whether the words before an amount of a sentence say that the thing costs it."""
    return one.now or COSTS(one.line.text[: one.money.start][-AROUND:]) is not None


def _ends_sentence(best: Candidate, *, alone: bool = False) -> bool:
    """Whether words that are no label stand before a price in its line, outside of boxes for prices.

    Or in its sentence *alone*.
    """
    before = best.line.text[: best.money.start][-AROUND:]
    before = in_sentence(before) if alone else before
    marked = best.line.flags & (_NO_PROSE | _lines.FACT)
    told = marked or best.now  # "Was 499 now 399": the words since the amount before are a label
    return not told and ":" not in before and len(_WORDS.findall(before)) >= _BEFORE_IN_PROSE


def _is_below_others(read: Lines, best: Candidate) -> bool:
    """Whether a price stands right behind a link, below a heading that is not the main one."""
    between = read.lines[read.heading + 1 : best.line.index] if best.follows_link else []
    main = read.lines[read.heading].text  # some designs repeat it as a link, for their quick views
    return any(line.flags & _lines.HEADING and line.text != main for line in between)


def _below(read: Lines, candidates: list[Candidate], best: Candidate) -> Decimal | None:
    """An amount beside the price that is marked as the one before, without words, and lower.

    Shops have to show the lowest price of late as well, and say that it is.
    """
    for c in candidates:
        lower = c.old and not c.other and c.money.value < best.money.value
        if not lower or c.money.currency != best.money.currency or not beside(c, best):
            continue
        if stands_alone(c) and not is_labelled(read, c.line):
            return c.money.value
    return None


def is_labelled(read: Lines, line: Line) -> bool:
    """Whether the line before may say what an amount is: it is no heading and no other amount."""
    place = line.index - 1
    while place > 0 and read.lines[place].flags & _lines.HIDDEN:
        place -= 1
    if place < 0 or place == read.heading or read.lines[place].flags & _lines.HEADING:
        return False
    text = read.lines[place].text[:LONGEST_LINE]
    return not any(find_prices(text))


def _is_before(old: Candidate, new: Candidate) -> bool:
    """Whether an amount is what the price was before."""
    return (
        beside(old, new)
        and (new.follows_link or not old.follows_link or _is_told_before(old))
        and old.money.value > new.money.value
        and old.money.currency in {new.money.currency, None}
    )


def _is_told_before(old: Candidate) -> bool:
    """Whether a box for prices holds an amount that was before, or words right before it say so."""
    before = old.line.text[: old.money.start][-40:].strip()
    return bool(old.line.flags & _lines.PRICE) or says_old(before)
