"""Know a price beside which no other amount may be the price, and one below another heading."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from crawler.extract.page.lines import BEYOND, CARD, LINK, PRICE, Line
from crawler.extract.price.regular_price import Candidate

#: The price before and the price now.
_PAIR = 2


def is_sole(price: Candidate, candidates: Iterable[Candidate]) -> bool:
    """Whether all other amounts in boxes for prices are another kind's, of before, or of tiles."""
    rivals = (c for c in candidates if c.line.flags & PRICE)
    rivals = (c for c in rivals if not (c.other or c.old or c.follows_link))
    return not price.other and all(c.money.value == price.money.value for c in rivals)


def is_saved(regular: Candidate, price: Candidate, candidates: Iterable[Candidate]) -> bool:
    """Whether the page shows what the reduction saves: the difference of both prices."""
    saving = regular.money.value - price.money.value
    return any(c.other and c.money.value == saving for c in candidates)


def with_saved(candidates: list[Candidate]) -> list[Candidate]:
    """Mark the price before, if a line has the price now and what it saves as well."""
    prices = [c for c in candidates if not c.other]
    if len(prices) != _PAIR or prices[0].old or prices[1].old:
        return candidates
    low, high = sorted(prices, key=lambda c: c.money.value)
    if not is_saved(high, low, candidates):
        return candidates
    return [attrs.evolve(c, old=True, says_old=True) if c is high else c for c in candidates]


def is_beside_others(line: Line) -> bool:
    """Whether a price seems another product's only because it is below a heading about others."""
    line_flags = BEYOND | PRICE
    return line.flags & line_flags == line_flags and not line.flags & (CARD | LINK)
