"""Sends links to the frontier before their page's ack.

A page's links enter with its ack, in one script. Two kinds of pages send them earlier:

- a page with very many links, for instance a sitemap, because a script blocks every other client of
  Redis while it runs: beyond MOST links a chunk is sent at once;
- a page that waits for its items alone in an idle worker, because a crawl in which each page links
  to the next would otherwise wait for the sink at every page.

The page's lease stays open until the links are confirmed. This order is safe: if the worker dies in
between, the links are in the frontier already, the page is fetched again, and its links are then
dropped as duplicates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.frontier.model import Early, Push

#: Links that enter with their page's ack, at most.
MOST = 1000


class EarlyPush:
    """Collects the links of pages, and sends some of them before the ack."""

    def __init__(self, send: Callable[[Sequence[Early]], None], inflight: InFlightTable) -> None:
        self._send = send
        self._inflight = inflight

    def add(self, entry: InFlight, push: Push) -> None:
        """Add a link."""
        entry.children.append(push)
        if len(entry.children) >= MOST:
            self._send_links(entry, MOST // 2)

    def ahead(self, entry: InFlight) -> None:
        """Send the links of a page that is parsed and waits for its items."""
        self._send_links(entry, 1)

    def _send_links(self, entry: InFlight, min_links: int) -> None:
        """Send links, except those without a fingerprint.

        After a crash they could not be deduplicated when the page is parsed again.
        """
        chunk = [child for child in entry.children if child.fingerprint is not None]
        if len(chunk) < min_links:
            return
        entry.children = [child for child in entry.children if child.fingerprint is None]
        entry.holds += len(chunk)
        entry.links_ahead = True
        entered = partial(self._entered, entry)
        self._send([Early(push=push, lease=entry.lease, entered=entered) for push in chunk])

    def _entered(self, entry: InFlight) -> None:
        entry.holds -= 1
        self._inflight.settle(entry)
