"""`crawler.engine.downloader.slots`, for project code that reads a site's pause there.

In Scrapy a slot delays the requests of a site. Here the frontier does, for the whole fleet, and a
slot only shows the project's settings for the site.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from time import time

from scrapy.core.downloader import Slot
from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)
#: Sites that a process remembers; the least recently requested is dropped first.
MAX_SLOTS = 10_000


class SiteSlot(Slot):
    """Pause and concurrency of a site, read-only: a written pause changes nothing."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "delay" and value != getattr(self, name, value):
            SiteSlots.refuse()
        super().__setattr__(name, value)


class SiteSlots(OrderedDict[str, Slot]):
    """A slot for each recently requested site, as in Scrapy's downloader."""

    was_logged = False

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__()
        self._options = settings.getdict("DOWNLOAD_SLOTS")
        self._delay_s = settings.getfloat("DOWNLOAD_DELAY")
        self._concurrency = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        random = settings.getbool("RANDOMIZE_DOWNLOAD_DELAY")
        self._jitter = settings.getfloat("DOWNLOAD_DELAY_JITTER", 0.5) if random else 0.0
        # Scrapy's AutoThrottle writes pauses as well: with it no write is reported.
        self._kind = Slot if settings.getbool("AUTOTHROTTLE_ENABLED") else SiteSlot

    def record_sent(self, key: str) -> None:
        """Record that a site's request is sent now."""
        slot = self.get(key)
        if slot is None:
            options = self._options.get(key, {})
            self[key] = slot = self._kind(
                options.get("concurrency", self._concurrency),
                options.get("delay", self._delay_s),
                jitter=options.get("jitter", self._jitter),
            )
            if len(self) > MAX_SLOTS:
                self.popitem(last=False)
        slot.lastseen = time()
        self.move_to_end(key)

    @classmethod
    def refuse(cls) -> None:
        """Log once that a worker's code cannot set a site's pause."""
        if not cls.was_logged:
            cls.was_logged = True
            logger.warning(
                "code of the project sets the delay of a downloader's slot, which changes nothing, "
                "because the pace is the fleet's: set DOWNLOAD_DELAY or AUTOTHROTTLE_ENABLED"
            )
