"""A worker's memory: what it remembers ends by age or number, however long it runs."""

import asyncio

from twisted.internet.asyncioreactor import AsyncioSelectorReactor

from scrapy_seine.engine.download.scrapy_client import CancelledCallSweep
from scrapy_seine.engine.dupefilter import DupeFilter


class QuickBroom(CancelledCallSweep):
    EVERY_S = 0.01


def waiting(reactor: AsyncioSelectorReactor) -> int:
    return len(reactor._pendingTimedCalls) + len(reactor._newTimedCalls)


def test_timeouts_of_pages_that_came_are_forgotten_long_before_they_are_due():
    loop = asyncio.SelectorEventLoop()
    reactor = AsyncioSelectorReactor(loop)
    broom = QuickBroom(reactor)
    for _ in range(1000):
        reactor.callLater(180, print).cancel()
    kept = waiting(reactor)

    loop.run_until_complete(asyncio.sleep(0.1))

    assert (kept, waiting(reactor)) == (1001, 1)
    broom.stop()
    reactor.removeAll()
    loop.close()


class ShortMemory(DupeFilter):
    LIFETIME_S = 0.0


class SmallMemory(DupeFilter):
    CAPACITY = 10


def test_links_that_the_frontier_has_are_forgotten_when_they_count_no_more():
    short, small, usual = ShortMemory(), SmallMemory(), DupeFilter()
    for number in range(100):
        for each in (short, small, usual):
            each.confirm(number)

    assert [len(each._confirmed) for each in (short, small, usual)] == [0, 10, 100]
    assert small.knows(99)
    assert not small.knows(0)


def test_a_link_that_is_confirmed_again_counts_from_then_on():
    small = SmallMemory()
    for number in range(10):
        small.confirm(number)
    small.confirm(0)
    small.confirm(10)

    assert small.knows(0)
    assert not small.knows(1)
