"""SIGTERM, SIGINT, SIGHUP: a worker ends in order, in time, and hands its leases back in any case.

A first SIGTERM, SIGINT or SIGHUP lets running pages finish. When that takes longer than the drain
time, or a second signal comes, the reactor stops at once; it still waits for the sign-off that is
registered here, so that what was not finished is another worker's work now and not after its leases
expire.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Awaitable, Callable, Iterable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)
T = TypeVar("T")
#: Between two looks whether a worker that starts has to end, s.
_LOOK_S = 0.2


async def unless_stopped(crawler: Crawler, work: Awaitable[T]) -> T:
    """Do a step of a worker's start; a worker that has to end meanwhile does not wait for it.

    Scrapy stops nothing that has not begun: it notes on the crawler that it is to end, and no more.

    Raises:
        CloseSpider: the worker has to end, as `shutdown`.
        Exception: whatever *work* raises.
    """
    task, began = asyncio.ensure_future(work), crawler.crawling
    while not task.done():
        await asyncio.wait([task], timeout=_LOOK_S)
        if began and not crawler.crawling:
            await cancel([task])
            raise CloseSpider("shutdown")
    return task.result()


class Shutdown:
    """Signs a worker off exactly once, however the process ends (short of a kill -9)."""

    def __init__(
        self,
        sign_off: Callable[[], Awaitable[None]],
        flush: Callable[[], Awaitable[None]],
        limit_s: float,
    ) -> None:
        self._sign_off = sign_off
        self._flush = flush
        self._limit_s = limit_s
        self._task: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._trigger: Any = None
        self._opening: Callable[[], bool] = lambda: False

    def arm(self, opening: Callable[[], bool]) -> None:
        """Sign off also when the reactor is stopped from outside.

        *opening*: the worker has not begun, so that Scrapy stops the reactor and not the worker,
        which ends by itself then (see `unless_stopped`).
        """
        self._opening = opening
        _end_by_hangup()
        self._trigger = _reactor().addSystemEventTrigger("before", "shutdown", self._stopped)

    def _stopped(self) -> Deferred[None]:
        return deferred_from_coro(self._closed_and_finished())

    async def _closed_and_finished(self) -> None:
        until = monotonic() + self._limit_s
        while self._opening() and monotonic() < until:  # noqa: ASYNC110  # no signal says so
            await asyncio.sleep(_LOOK_S / 4)
        await self._finished()

    def begin(self) -> None:
        """The drain begins: it may take its time, and not more."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._limit_s, self._enough)

    def finish(self) -> Deferred[None]:
        """Sign off, or wait for the sign-off that is under way."""
        return deferred_from_coro(self._finished())

    async def _finished(self) -> None:
        if self._task is None:
            self._task = asyncio.ensure_future(self._finish())
        await asyncio.shield(self._task)

    async def _finish(self) -> None:
        try:  # what is not durable then goes back with its lease
            await asyncio.wait_for(self._flush(), self._limit_s)
        except TimeoutError:
            text = "sinks took longer than %g s: the pages that they hold are handed back"
            logger.warning(text, self._limit_s)
        await self._sign_off()
        if self._timer is not None:
            self._timer.cancel()
        self._disarm()

    def _disarm(self) -> None:
        trigger, self._trigger = self._trigger, None
        if trigger is not None and _reactor().running:
            try:
                _reactor().removeSystemEventTrigger(trigger)
            except (KeyError, ValueError, TypeError):
                logger.debug("the reactor is stopping already")

    def _enough(self) -> None:
        logger.warning("the drain took %g s; the worker returns its other requests", self._limit_s)
        if _reactor().running:
            _reactor().stop()


def _end_by_hangup() -> None:
    """Have a terminal that closes end the worker as SIGTERM does; `nohup` prevails."""
    hangup, ends = getattr(signal, "SIGHUP", None), signal.getsignal(signal.SIGTERM)
    if hangup is None or threading.current_thread() is not threading.main_thread():
        return
    if callable(ends) and signal.getsignal(hangup) is signal.SIG_DFL:
        signal.signal(hangup, ends)


def _reactor() -> Any:
    from twisted.internet import reactor  # not at import: that would install a default one

    return reactor


async def cancel(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel until each has ended.

    redis-py may turn a cancellation into a connection error, and a loop that outlives outages
    would outlive that, too.
    """
    running = set(tasks)
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=0.2)
