"""SIGTERM, SIGINT, SIGHUP: a worker ends in order, in time, and always hands its leases back.

A first SIGTERM, SIGINT or SIGHUP lets running pages finish. If that takes longer than the drain
time, or a second signal comes, the reactor stops at once; it still waits for the sign-off that is
registered here, so that other workers get unfinished requests now and not after the leases expire.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.error import ReactorNotRunning

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)
T = TypeVar("T")
#: Between two looks whether a worker that starts has to end, s.
_LOOK_S = 0.2


async def unless_stopped(crawler: Crawler, work: Awaitable[T]) -> T:
    """Run a step of a worker's start, unless the worker has to end meanwhile.

    Scrapy does not stop a crawl that has not begun: it only records on the crawler that it should
    end.

    Raises:
        CloseSpider: the worker has to end, as `shutdown`.
        Exception: an exception of *work*.
    """
    task, began = asyncio.ensure_future(work), crawler.crawling
    while not task.done():
        await asyncio.wait([task], timeout=_LOOK_S)
        if began and not crawler.crawling:
            await cancel([task])
            raise CloseSpider("shutdown")
    return task.result()


class Shutdown:
    """Signs a worker off exactly once, however the process ends (except by kill -9)."""

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

        *opening*: whether the worker is still opening. Then Scrapy stops the reactor and not the
        worker, which ends by itself (see `unless_stopped`).
        """
        self._opening = opening
        _end_by_hangup()
        self._trigger = _reactor().addSystemEventTrigger(
            "before", "shutdown", self._on_reactor_stop
        )

    def _on_reactor_stop(self) -> Deferred[None]:
        return deferred_from_coro(self._wait_and_finish())

    async def _wait_and_finish(self) -> None:
        until = monotonic() + self._limit_s
        while self._opening() and monotonic() < until:  # noqa: ASYNC110  # no signal says so
            await asyncio.sleep(_LOOK_S / 4)
        await self._finish_once()

    def begin(self) -> None:
        """Start the drain's time limit."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._limit_s, self._stop_reactor)

    def finish(self) -> Deferred[None]:
        """Sign off, or wait for the running sign-off."""
        return deferred_from_coro(self._finish_once())

    async def _finish_once(self) -> None:
        if self._task is None:
            self._task = asyncio.ensure_future(self._finish())
        await asyncio.shield(self._task)

    async def _finish(self) -> None:
        try:  # pages that are not durable then go back with their leases
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

    def _stop_reactor(self) -> None:
        logger.warning("the drain took %g s; the worker returns its other requests", self._limit_s)
        with suppress(ReactorNotRunning):  # the crawl may have stopped it at the same moment
            _reactor().stop()


def _end_by_hangup() -> None:
    """Make a closed terminal end the worker as SIGTERM does; `nohup` takes precedence."""
    hangup, ends = getattr(signal, "SIGHUP", None), signal.getsignal(signal.SIGTERM)
    if hangup is None or threading.current_thread() is not threading.main_thread():
        return
    if callable(ends) and signal.getsignal(hangup) is signal.SIG_DFL:
        signal.signal(hangup, ends)


def _reactor() -> Any:
    from twisted.internet import reactor  # not at import: that would install a default one

    return reactor


async def cancel(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel tasks repeatedly until each has ended.

    redis-py may turn a cancellation into a connection error, and a loop that survives outages would
    survive that, too.
    """
    running = set(tasks)
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=0.2)
