"""Browser contexts: one a visitor, as many as may be, closed when worn or wanted by others."""

from __future__ import annotations

import subprocess
import sys

from crawler.access.browser_contexts import BrowserContext, ContextPool


def acquired(pool: ContextPool, visitor: str) -> BrowserContext:
    context = pool.acquire(visitor)
    assert context is not None
    return context


def test_a_visitor_keeps_his_room_and_shares_it_with_nobody() -> None:
    pool = ContextPool(3, 10)
    first = acquired(pool, "a")
    assert acquired(pool, "a") is first
    assert acquired(pool, "b") is not first


def test_a_worn_room_is_closed_when_its_last_page_leaves() -> None:
    pool = ContextPool(3, 2)
    context = acquired(pool, "a")
    acquired(pool, "a")
    assert acquired(pool, "a") is not context
    assert not pool.release(context)
    assert pool.release(context)


def test_a_full_house_lets_nobody_in_until_an_idle_room_is_closed() -> None:
    pool = ContextPool(2, 10)
    oldest, newer = acquired(pool, "a"), acquired(pool, "b")
    assert pool.acquire("c") is None
    assert pool.idle() is None
    pool.release(newer)
    pool.release(oldest)
    assert pool.idle() is oldest
    del pool.contexts[oldest.name]
    acquired(pool, "c")


def test_nobody_enters_a_spoiled_room() -> None:
    pool = ContextPool(2, 10)
    context = acquired(pool, "a")
    acquired(pool, "a")
    assert not pool.release(context, spoiled=True)
    assert acquired(pool, "a") is not context
    assert pool.release(context)


#: In a process of its own, because it needs a reactor.
_NOT_SENT = """
import asyncio, contextlib
from scrapy import Request
from scrapy.utils.reactor import install_reactor
from scrapy.utils.test import get_crawler

async def main():
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from crawler.access.browser import BrowserHandler
    from scrapy_seine.engine.download.send_gate import NotNow

    handler = BrowserHandler(get_crawler())
    for error in (NotNow, ValueError):
        with contextlib.suppress(error):
            async with handler._context(Request("http://shop.example/")):
                raise error
        print(len(handler.pool.contexts))

asyncio.run(main())
"""


def test_a_page_that_was_not_sent_spoils_no_context() -> None:
    """Its site had no slot when it was open, and the context was closed with its cookies."""
    done = subprocess.run([sys.executable, "-c", _NOT_SENT], stdout=subprocess.PIPE, check=True)
    assert done.stdout.split() == [b"1", b"0"]
