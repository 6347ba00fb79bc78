"""Know a price beside which no other amount may be the price, and one below another heading."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.extract.page.lines import BEYOND, CARD, LINK, PRICE, Line
from crawler.extract.price.regular_price import Candidate


def is_sole(price: Candidate, candidates: Iterable[Candidate]) -> bool:
    """Whether all other amounts in boxes for prices are another kind's, of before, or of tiles."""
    rivals = (c for c in candidates if c.line.flags & PRICE)
    rivals = (c for c in rivals if not (c.other or c.old or c.follows_link))
    return not price.other and all(c.money.value == price.money.value for c in rivals)


def is_beside_others(line: Line) -> bool:
    """Whether a price seems another product's only because it is below a heading about others."""
    line_flags = BEYOND | PRICE
    return line.flags & line_flags == line_flags and not line.flags & (CARD | LINK)
