"""Of amounts that each belong to a choice of a form, the one whose choice is made: `10 g 132 kr`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import attrs

from crawler.extract.page.lines import LABEL
from crawler.extract.page.page import Element
from crawler.extract.price.regular_price import OTHER, Candidate

#: Boxes around an amount in which its choice is looked for, and elements of such a box.
_MAX_BOXES, _MAX_INPUTS = 4, 4
#: What stands right before what comes to the price, or is taken from it.
_PLUS, _PLUS_NEAR = frozenset("+-−–"), 3


def has_several(candidates: Sequence[Candidate]) -> bool:
    """Whether two choices or more have an amount each."""
    return len({id(choice) for _, choice in _choices(candidates)}) > 1


def the_one_made(candidates: list[Candidate]) -> list[Candidate]:
    """Take the amounts of all choices but one for other amounts: the one made, else the first.

    Unless words call one of them the price: `One-time purchase 20 €` beside a subscription. Where
    the page has no other amount, the choice that is made may be one by the month.
    """
    priced = _choices(candidates)
    if len(priced) < 2 or any(c.now for c, _ in priced):
        return candidates
    plain = [one for one in priced if not one[0].other]
    whole = len(priced) == sum(not c.old for c in candidates)
    kept = next((one for one in priced if one[1].get("checked") is not None), None)
    if kept is None or (kept[0].other and not whole):
        kept = plain[0] if plain else priced[0]
    apart = {id(c) for c, choice in priced if choice is not kept[1] and not c.other}
    return [
        attrs.evolve(c, other=False, cost=c.cost - OTHER)
        if c is kept[0] and c.other and whole
        else attrs.evolve(c, other=True, cost=c.cost + OTHER)
        if id(c) in apart
        else c
        for c in candidates
    ]


def _choices(candidates: Sequence[Candidate]) -> list[tuple[Candidate, Element]]:
    found = (
        (c, _choice_of(c.line.element))
        for c in candidates
        if c.line.flags & LABEL and not c.old and not _comes_to_price(c)
    )
    return [(c, choice) for c, choice in found if choice is not None]


def _comes_to_price(one: Candidate) -> bool:
    return not _PLUS.isdisjoint(one.line.text[: one.money.start][-_PLUS_NEAR:])


def _choice_of(element: Element) -> Element | None:
    """The button of a choice in, or right beside, the label that holds an element."""
    boxes = (element, *islice(element.iterancestors(), _MAX_BOXES))
    label = next((box for box in boxes if box.tag == "label"), None)
    if label is None:
        return None
    beside = (label.getprevious(), label.getnext())
    near = (*islice(label.iter("input"), _MAX_INPUTS), *(e for e in beside if e is not None))
    return next((e for e in near if e.tag == "input" and e.get("type") == "radio"), None)
