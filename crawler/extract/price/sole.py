"""Know a price beside which no other amount may be the price."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.extract.page.lines import PRICE
from crawler.extract.price.regular_price import Candidate


def is_sole(price: Candidate, candidates: Iterable[Candidate]) -> bool:
    """Whether all other amounts in boxes for prices are another kind's, of before, or of tiles."""
    rivals = (c for c in candidates if c.line.flags & PRICE)
    rivals = (c for c in rivals if not (c.other or c.old or c.follows_link))
    return not price.other and all(c.money.value == price.money.value for c in rivals)
