"""Ends the download of a body whose first part is enough: of robots.txt, as RFC 9309, 2.5 allows.

Every download handler sends `bytes_received`, so this serves all lanes. A signal with a receiver
costs time with each part of each page, so it has one only while such a download runs.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload

from scrapy_seine.meta import FIRST_BYTES


class FirstBytes:
    """Stops downloads of requests with FIRST_BYTES, within its context."""

    def __init__(self, crawler: Crawler) -> None:
        self.signals = crawler.signals
        self._running = 0
        self._received: WeakKeyDictionary[Request, int] = WeakKeyDictionary()

    def __enter__(self) -> None:
        self._running += 1
        self.signals.connect(self._count, signals.bytes_received)

    def __exit__(self, *error: object) -> None:
        self._running -= 1
        if not self._running:
            self.signals.disconnect(self._count, signals.bytes_received)

    def _count(self, data: bytes, request: Request) -> None:
        most = request.meta.get(FIRST_BYTES)
        if most is None:
            return
        received = self._received[request] = self._received.get(request, 0) + len(data)
        if received > most:
            raise StopDownload(fail=False)
