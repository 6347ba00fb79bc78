"""Take the price for which an auction's product is sold at once, where the page has bids too."""

from __future__ import annotations

from crawler.extract.page.lines import Line
from crawler.extract.price.regular_price import Candidate
from crawler.extract.stock.availability import buys
from crawler.extract.words import any_word

#: Whether a text names a bid.
names_bid = any_word("amounts", "bid")
#: Lines from the current bid to the price for which the product is sold at once.
_MAX_LINES = 12


def unless_bid(price: Candidate, candidates: list[Candidate], lines: list[Line]) -> Candidate:
    """Return the amount behind a bid that a buy button stands beside, or the price itself."""
    above = lines[price.line.index - 1].text if price.line.index else ""
    before = f"{above} {price.line.text[: price.money.start]}"
    if not names_bid(before):
        return price
    behind = (c for c in candidates if 0 < c.line.index - price.line.index <= _MAX_LINES)
    return next((c for c in behind if not (c.other or c.old) and _is_bought(c, lines)), price)


def _is_bought(amount: Candidate, lines: list[Line]) -> bool:
    """Whether the line before or behind an amount is a buy button, and none for another bid."""
    place = amount.line.index
    texts = (line.text for line in (lines[place - 1], *lines[place + 1 : place + 2]))
    return any(buys(text) and not names_bid(text) for text in texts)
