"""Pages of a browser leave in their slots although they are slow to open."""

from __future__ import annotations

import heapq
from itertools import count, pairwise

import pytest

from crawler.access.browser_slot import OPEN_PATIENCE_MS
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Lease, Push

pytestmark = pytest.mark.redis
PAUSE_MS, PAGES = 2000, 4


async def sent_in_a_minute(frontier: Frontier, open_ms: int, patience_ms: int) -> list[int]:
    """Return when pages leave of which each takes *open_ms* to open."""
    await frontier.set_delay("a", delay_ms=PAUSE_MS)
    await frontier.push([Push(domain="a", blob=b"x", fingerprint=n) for n in range(100)])
    number, sent = count(), list[int]()
    opening: list[tuple[int, int, Lease]] = []
    leaving: list[int] = []
    for now in range(1_000_000, 1_060_000, 100):
        frontier.now_ms = now
        while opening and opening[0][0] <= now:
            *_, lease = heapq.heappop(opening)
            _, slot_ms, _ = await frontier.reschedule(lease, patience_ms=patience_ms)
            if slot_ms:  # otherwise it is handed back
                leaving.append(slot_ms)
        sent += [at for at in leaving if at <= now]
        leaving = [at for at in leaving if at > now]
        free = PAGES - len(opening) - len(leaving)
        for lease in (await frontier.lease("w", free, ttl_ms=600_000)).leases if free else ():
            heapq.heappush(opening, (now + open_ms, next(number), lease))
    return sent


async def test_pages_that_open_slower_than_the_pause_leave_all_the_same(
    redis_client, namespace
) -> None:
    """Meanwhile others had later slots, so that nearly each one was handed back: 2 of 15 left."""
    frontier = Frontier(redis_client, namespace, now_ms=1_000_000)
    sent = await sent_in_a_minute(frontier, 4500, OPEN_PATIENCE_MS)
    assert len(sent) >= 10
    assert all(later - earlier >= PAUSE_MS for earlier, later in pairwise(sent))
