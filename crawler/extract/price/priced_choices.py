"""Prefer the amount of the selected choice of a form with an amount each: `10 g 132 kr`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import attrs

from crawler.extract.page.lines import LABEL
from crawler.extract.page.page import Element, holds_digit, short_text
from crawler.extract.price.regular_price import OTHER, Candidate

#: Boxes around an amount that are searched for its choice, and inputs of such a box.
_MAX_BOXES, _MAX_INPUTS = 4, 4
#: Inputs of a list of choices that are searched for the selected one.
_MAX_CHOICES = 60
#: Signs before a surcharge or a discount, and characters from the sign to the amount.
_SIGNS, _MAX_SIGN_GAP = frozenset("+-−–"), 3


def has_several(candidates: Sequence[Candidate]) -> bool:
    """Whether at least two choices have an amount each."""
    return len({id(choice) for _, choice in _choices(candidates)}) > 1


def prefer_selected(candidates: list[Candidate]) -> list[Candidate]:
    """Mark the amounts of all choices but the selected one (else the first) as other amounts.

    Not if words call one of them the price: `One-time purchase 20 €` beside a subscription. If
    the page has no further amount, the selected choice may be a monthly payment.
    """
    priced = _choices(candidates)
    if len(priced) < 2 or any(c.now for c, _ in priced):
        return candidates
    plain = [pair for pair in priced if not pair[0].other]
    are_all = len(priced) == sum(not c.old for c in candidates)
    selected = next((pair for pair in priced if pair[1].get("checked") is not None), None)
    if selected is None or (selected[0].other and not are_all):
        selected = plain[0] if plain else priced[0]
    unselected = {id(c) for c, choice in priced if choice is not selected[1] and not c.other}
    return [
        attrs.evolve(c, other=False, cost=c.cost - OTHER)
        if c is selected[0] and c.other and are_all
        else attrs.evolve(c, other=True, cost=c.cost + OTHER)
        if id(c) in unselected
        else c
        for c in candidates
    ]


def _choices(candidates: Sequence[Candidate]) -> list[tuple[Candidate, Element]]:
    pairs = (
        (c, _choice_of(c.line.element))
        for c in candidates
        if c.line.flags & LABEL and not c.old and not _is_surcharge(c)
    )
    return [(c, choice) for c, choice in pairs if choice is not None]


def _is_surcharge(amount: Candidate) -> bool:
    return not _SIGNS.isdisjoint(amount.line.text[: amount.money.start][-_MAX_SIGN_GAP:])


def _choice_of(element: Element) -> Element | None:
    """Return the radio button in, or right beside, the label that holds an element."""
    boxes = (element, *islice(element.iterancestors(), _MAX_BOXES))
    label = next((box for box in boxes if box.tag == "label"), None)
    if label is None:
        return None
    siblings = (label.getprevious(), label.getnext())
    inputs = (*islice(label.iter("input"), _MAX_INPUTS), *(e for e in siblings if e is not None))
    return next((e for e in inputs if e.tag == "input" and e.get("type") == "radio"), None)


def is_of_extra(amount: Element) -> bool:
    """Whether an amount is of a choice that is not selected, and the selected one costs nothing.

    A guarantee has such choices: `(x) none, ( ) 3 years 9.90, ( ) 5 years 19.90`.
    """
    row = next(amount.iterancestors("tr", "li", "label"), None)
    if row is None:
        return False
    choice, box = next(row.iter("input"), None), row.getparent()
    if choice is None or box is None or choice.get("type") != "radio":
        return False
    if choice.get("checked") is not None:
        return False
    inputs = islice(box.iter("input"), _MAX_CHOICES)
    group = [other for other in inputs if other.get("name") == choice.get("name")]
    selected = next((other for other in group if other.get("checked") is not None), None)
    rows = () if selected is None else selected.iterancestors(row.tag)
    return any(not holds_digit(short_text(selected_row)) for selected_row in islice(rows, 1))
