"""Take a price without tax as the price where the page has no price with tax: shops for firms."""

from __future__ import annotations

import attrs

from crawler.extract.page.lines import PRICE
from crawler.extract.price.lone_tiles import LONGEST_TILE_PRICE
from crawler.extract.price.other_amounts import WITHOUT_TAX, says_other
from crawler.extract.price.regular_price import OTHER, Candidate, may_be_taxed, stands_for_price

#: Characters before an amount at the start of its line.
_MAX_START = 3


def accept_net(candidates: list[Candidate]) -> list[Candidate]:
    """Unmark the net amounts in boxes for prices or alone, where the others stand in sentences.

    Without this, the sum from which postage is free would be preferred.
    """
    net_amounts = [c for c in candidates if c.other and not c.old and _is_net_only(c)]
    others = [c for c in candidates if not c.old and not c.other] if net_amounts else []
    if not net_amounts or any(
        stands_for_price(c) or any(may_be_taxed(net, c) for net in net_amounts) for c in others
    ):
        return candidates
    return [
        attrs.evolve(c, other=False, cost=c.cost - OTHER) if c in net_amounts else c
        for c in candidates
    ]


def _is_net_only(amount: Candidate) -> bool:
    """Whether only words about the tax make a short line's amount another one."""
    text, begins = amount.line.text, amount.money.start <= _MAX_START
    is_short = len(text) < LONGEST_TILE_PRICE and (begins or amount.line.flags & PRICE)
    remark = WITHOUT_TAX(text) if is_short else None
    if remark is None:
        return False
    return not says_other(f"{remark.string[: remark.start()]} {remark.string[remark.end() :]}")
