"""Which of two sources is right, where they agreed and began to differ."""

from __future__ import annotations

from decimal import Decimal

from crawler.extract.template.observation import Seen
from crawler.extract.template.profile import Field

#: A visible price so far from the structured one is another amount: an instalment, a total.
_FARTHEST = 2
#: Of so many of the pages the same must be true.
_NEARLY_ALL = 0.8
#: Taxes on sales, in hundredths: rates that are in force for most goods somewhere.
_TAXES = (Decimal(5), Decimal(7), Decimal("7.7"), Decimal("8.1"), Decimal(10), Decimal(13),
          Decimal(15), Decimal(16), Decimal(17), Decimal(18), Decimal(19), Decimal(20), Decimal(21),
          Decimal(22), Decimal(23), Decimal(24), Decimal(25), Decimal("25.5"), Decimal(27))  # fmt: skip
#: What rounding may cost, as a share of a price.
_ROUNDED = Decimal("0.001")


def right_source(field: str, known: Field) -> str | None:
    """Of two sources that began to differ, the visible text where it can be the same amount.

    A visitor pays what the page shows. An amount far from the other one is no price that changed:
    then the text tells something else since, and structured data stays. So it is where the text
    lacks the cents, or a tax, of the other one on each page.
    """
    if field == "currency":
        return "text"
    if field != "price":
        return None
    pages = [seen for kind, seen in known.recent if kind == "dispute"]
    least = _NEARLY_ALL * len(pages)
    if not pages or sum(map(_is_near, pages)) < least:
        return None
    if sum(map(_lacks_cents, pages)) >= least:
        return None
    if any(sum(_lacks_tax(seen, tax) for seen in pages) >= least for tax in _TAXES):
        return None
    return "text"


def _is_near(seen: Seen) -> bool:
    shown, other = seen.votes.get("text"), seen.value
    if not shown or not other:
        return False
    return bool(shown < other * _FARTHEST and other < shown * _FARTHEST)


def _lacks_cents(seen: Seen) -> bool:
    shown, other = seen.votes["text"], seen.value
    return bool(shown != other and shown == int(other))


def _lacks_tax(seen: Seen, tax: Decimal) -> bool:
    gross = seen.votes["text"] * (1 + tax / 100)
    return bool(abs(gross - seen.value) <= max(seen.value * _ROUNDED, Decimal("0.011")))
