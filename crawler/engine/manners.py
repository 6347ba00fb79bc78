"""What a worker learns about a site's wishes, on its way to the frontier and so to the fleet.

Middlewares exist before the scheduler does, and know sites; the scheduler's pump knows Redis.
Both meet here. Nothing is asked of Redis at once: a word leaves with the next round trip, ahead
of the leases that it asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler

if TYPE_CHECKING:
    from crawler.engine.pump import Pump


class Manners:
    """The wishes of sites, told to the frontier of one crawler."""

    def __init__(self) -> None:
        self.pump: Pump | None = None

    def block(self, domain: str, wait_s: float, *, limit_s: float = 0.0) -> None:
        """Let no worker send to *domain* for *wait_s*.

        With *limit_s* a block that follows the last one closely is twice as long, up to that.
        """
        if self.pump is not None:
            self.pump.tell("block_until", domain, int(wait_s * 1000), int(limit_s * 1000))
            self.pump.give_back(domain)

    def limit(
        self, domain: str, *, delay_ms: int | None = None, concurrency: int | None = None
    ) -> None:
        """Set limits of *domain* for the fleet; None leaves one as it is."""
        if self.pump is not None:
            values = ["" if value is None else value for value in (delay_ms, concurrency, None)]
            self.pump.tell("set_delay", domain, *values)


_manners: WeakKeyDictionary[Crawler, Manners] = WeakKeyDictionary()


def manners_of(crawler: Crawler) -> Manners:
    """The crawler's manners, whoever asks first."""
    return _manners.setdefault(crawler, Manners())
