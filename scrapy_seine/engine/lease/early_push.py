"""Links that enter the frontier ahead of their page's ack.

A page's links enter with its ack, in one script. Two kinds of pages have theirs sent before it:

- one with very many links, a sitemap say, because a script holds up every other client of Redis as
  long as it runs: beyond MOST links a chunk is sent at once;
- one that waits for its items alone in a worker with nothing else to do, because a page of which
  each next one is a link would else have the sink's wait, and its cost, to itself.

The page's lease stays open until the links are confirmed. The order is the safe one: whoever dies
in between leaves links that are there already, and a page that is fetched again; its links are then
known by their fingerprints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.frontier.model import Early, Push

#: Links that enter with their page's ack, at most; and those of one chunk.
MOST = 1000


class EarlyPush:
    """Takes the links of pages, and sends what is not to wait for an ack ahead."""

    def __init__(self, send: Callable[[Sequence[Early]], None], inflight: InFlightTable) -> None:
        self._send = send
        self._inflight = inflight

    def add(self, entry: InFlight, push: Push) -> None:
        """Take a link."""
        entry.children.append(push)
        if len(entry.children) >= MOST:
            self._bring(entry, MOST // 2)

    def ahead(self, entry: InFlight) -> None:
        """Send the links of a page that is read and waits for its items."""
        self._bring(entry, 1)

    def _bring(self, entry: InFlight, least: int) -> None:
        """Send links, but those without a fingerprint.

        After a crash those could not be deduplicated when the page is read again.
        """
        chunk = [child for child in entry.children if child.fingerprint is not None]
        if len(chunk) < least:
            return
        entry.children = [child for child in entry.children if child.fingerprint is None]
        entry.holds += len(chunk)
        entry.links_ahead = True
        entered = partial(self._entered, entry)
        self._send([Early(push=push, lease=entry.lease, entered=entered) for push in chunk])

    def _entered(self, entry: InFlight) -> None:
        entry.holds -= 1
        self._inflight.settle(entry)
