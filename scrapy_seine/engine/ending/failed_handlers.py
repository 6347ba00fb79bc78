"""A worker exits with 1 if code that runs at its start, while it is idle or at its end fails.

Scrapy logs the error of a pipeline's `close_spider`, of the spider's `closed` or of a handler, and
exits with 0: an extension that opens its file with the spider, a handler that asks for the next
batch in `spider_idle`, or a pipeline that writes its items at the end would have lost them without
a sign.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from scrapy import signals
from scrapy.signalmanager import SignalManager
from twisted.python.failure import Failure

logger = logging.getLogger(__name__)
#: Signals of a worker's life. A handler of a page's signal fails for that page alone.
_OF_LIFE = (
    signals.engine_started,
    signals.spider_opened,
    signals.spider_idle,
    signals.spider_closed,
    signals.engine_stopped,
)


class LifeSignals(SignalManager):
    """Sends an engine's signals as its own manager does, and notes which handlers failed."""

    def __init__(self, inner: SignalManager, note_failure: Callable[[str], None]) -> None:
        super().__init__(inner.sender)
        self._inner = inner
        self._note_failure = note_failure
        self._has_begun = False
        """Whether the spider was opened: handlers of the end fail where the start failed before."""

    def send_catch_log(self, signal: Any, **arguments: Any) -> list[tuple[Any, Any]]:
        """Send at once; returns each receiver with its answer or a Failure."""
        expected = arguments.get("dont_log")
        answers = self._inner.send_catch_log(signal, **arguments)
        return self._checked(signal, answers, expected)

    async def send_catch_log_async(self, signal: Any, **arguments: Any) -> list[tuple[Any, Any]]:
        """Send, and await awaitables; returns each receiver with its answer or exception."""
        expected = arguments.get("dont_log")
        answers = await self._inner.send_catch_log_async(signal, **arguments)
        return self._checked(signal, answers, expected)

    def _checked(
        self, signal: Any, answers: list[tuple[Any, Any]], expected: Any
    ) -> list[tuple[Any, Any]]:
        self._has_begun |= signal is signals.spider_opened
        if self._has_begun and signal in _OF_LIFE:
            for receiver, answer in answers:
                error = answer.value if isinstance(answer, Failure) else answer
                if isinstance(error, Exception) and not isinstance(error, expected or ()):
                    self._note_failure(getattr(receiver, "__qualname__", repr(receiver)))
        return answers


def watch_handlers(engine: Any, note_failure: Callable[[], None]) -> None:
    """Call *note_failure* once for each part of the project that fails outside any page."""
    close_parts, logged = engine.scraper.close_spider_async, set[str]()

    def note(where: str) -> None:
        if where not in logged:  # a handler of spider_idle fails every few seconds
            logged.add(where)
            text = "the worker will exit with 1, because %s failed; its traceback is in the log"
            logger.error(text, where)
            note_failure()

    async def close_spider_async() -> None:
        try:
            await close_parts()
        except Exception:
            note("an item pipeline's close_spider")
            raise

    engine.scraper.close_spider_async = close_spider_async
    engine.signals = LifeSignals(engine.signals, note)
