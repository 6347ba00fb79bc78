"""Take a price without tax as the price where the page has no price with tax: shops for firms."""

from __future__ import annotations

import attrs

from crawler.extract.page.lines import PRICE
from crawler.extract.price.lone_tiles import LONGEST_TILE_PRICE
from crawler.extract.price.other_amounts import WITHOUT_TAX, says_other
from crawler.extract.price.regular_price import OTHER, Candidate, stands_for_price


def accept_net(candidates: list[Candidate]) -> list[Candidate]:
    """Unmark the net amounts in boxes for prices, where all further amounts stand in sentences.

    Without this, the sum from which postage is free would be preferred.
    """
    net_amounts = [c for c in candidates if c.other and c.line.flags & PRICE and _is_net_only(c)]
    if not net_amounts or any(stands_for_price(c) for c in candidates if not c.old and not c.other):
        return candidates
    return [
        attrs.evolve(c, other=False, cost=c.cost - OTHER) if c in net_amounts else c
        for c in candidates
    ]


def _is_net_only(amount: Candidate) -> bool:
    """Whether only words about the tax make a short line's amount another one."""
    text = amount.line.text
    remark = WITHOUT_TAX(text) if len(text) < LONGEST_TILE_PRICE else None
    if remark is None:
        return False
    return not says_other(f"{remark.string[: remark.start()]} {remark.string[remark.end() :]}")
