"""Pace and concurrency: a process' in Scrapy, the whole fleet's here. Two workers show it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from tests.integration.features.base import Base, Shop
from tests.integration.features.catalogue import Seen, feature

SECTION = "Pace and concurrency"
DELAY_S = 0.25
#: Requests of a spider of eight pages and the first, and their pauses.
PAUSES = 8
#: Two workers that each kept the pause would take half of the time; chance takes a part of it.
_LEAST = 0.7 * PAUSES * DELAY_S
SLOW = tuple(f"/slow/{n}" for n in range(8))


def took_its_time(ours: Seen, plain: Seen) -> None:
    assert ours.span_s > _LEAST, ours.span_s


def one_at_a_time(ours: Seen, plain: Seen) -> None:
    assert ours.most_at_once == 1, ours.asked


@feature(
    SECTION,
    "DOWNLOAD_DELAY",
    "the fleet's: workers together keep it, so two are as fast as one",
    workers=2,
    DOWNLOAD_DELAY=DELAY_S,
    RANDOMIZE_DOWNLOAD_DELAY=False,
)
class Delayed(Shop):
    check = staticmethod(took_its_time)


@feature(
    SECTION,
    "RANDOMIZE_DOWNLOAD_DELAY, DOWNLOAD_DELAY_JITTER",
    "the fleet's: the mean pause is DOWNLOAD_DELAY, the shortest one half of it",
    workers=2,
    DOWNLOAD_DELAY=DELAY_S,
)
class Randomized(Shop):
    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        assert ours.span_s > 0.5 * PAUSES * DELAY_S - 0.1, ours.span_s


@feature(
    SECTION,
    "`download_delay` of a spider",
    "as DOWNLOAD_DELAY, the fleet's; Scrapy calls the attribute deprecated",
    workers=2,
    RANDOMIZE_DOWNLOAD_DELAY=False,
)
class OwnDelay(Shop):
    download_delay = DELAY_S
    check = staticmethod(took_its_time)


@feature(
    SECTION,
    "CONCURRENT_REQUESTS",
    "of each worker, as in Scrapy",
    CONCURRENT_REQUESTS=2,
)
class AtOnce(Base):
    paths = SLOW

    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        assert 1 <= ours.most_at_once <= 2, ours.asked


@feature(
    SECTION,
    "CONCURRENT_REQUESTS_PER_DOMAIN",
    "the fleet's",
    workers=2,
    CONCURRENT_REQUESTS_PER_DOMAIN=1,
)
class OneADomain(Base):
    paths = SLOW
    check = staticmethod(one_at_a_time)


@feature(
    SECTION,
    "CONCURRENT_REQUESTS_PER_IP",
    "the fleet's, for each domain; domains at one address are counted together by each worker "
    "alone. Scrapy calls the setting deprecated",
    workers=2,
    CONCURRENT_REQUESTS_PER_IP=1,
    SCHEDULER_PRIORITY_QUEUE="scrapy.pqueues.ScrapyPriorityQueue",  # the default has no such limit
)
class OneAnAddress(Base):
    paths = SLOW
    check = staticmethod(one_at_a_time)


@feature(
    SECTION,
    "DOWNLOAD_SLOTS",
    "delay and concurrency of a domain, the fleet's; a slot's own jitter has no effect",
    workers=2,
    DOWNLOAD_SLOTS={"127.0.0.1": {"concurrency": 1}},
)
class Slots(Base):
    paths = SLOW
    check = staticmethod(one_at_a_time)


@feature(
    SECTION,
    '`meta["download_slot"]`',
    "a queue of its own in the frontier: its delay and concurrency, by DOWNLOAD_SLOTS or the "
    "project's, are the fleet's. A copy of a page's meta names no slot. `downloader.slots` shows "
    "what the settings say; a delay that code sets there changes nothing, and a line says so",
    workers=2,
    DOWNLOAD_SLOTS={"slow": {"concurrency": 1}},
)
class OwnSlots(Base):
    async def start(self) -> AsyncIterator[Any]:
        for path in SLOW:
            yield self.ask(path, meta={"download_slot": "slow"})

    check = staticmethod(one_at_a_time)


@feature(
    SECTION,
    "AUTOTHROTTLE_…",
    "the fleet's pause follows from what all workers measure; AUTOTHROTTLE_DEBUG and _START_DELAY "
    "have no effect",
    AUTOTHROTTLE_ENABLED=True,
    AUTOTHROTTLE_START_DELAY=0.1,
    AUTOTHROTTLE_MAX_DELAY=0.2,
    CONCURRENT_REQUESTS=2,
)
class Throttled(Shop):
    paths = ("/", *SLOW)
