"""A worker exits with 1 if code that runs at its end fails.

Scrapy logs the error of a pipeline's `close_spider`, of the spider's `closed` or of a handler, and
exits with 0: a pipeline that writes its items there would have lost them without a sign.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from scrapy import signals

logger = logging.getLogger(__name__)
#: Signals that Scrapy sends at the end.
_ENDS = (signals.spider_closed, signals.engine_stopped)


def watch_close(engine: Any, note_failure: Callable[[], None]) -> None:
    """Call *note_failure* for each error of the code that this engine's end runs, from now on."""
    close_parts, send = engine.scraper.close_spider_async, engine.signals.send_catch_log_async

    def note(where: str) -> None:
        logger.error(
            "the worker exits with 1, because %s failed; its traceback is in the log", where
        )
        note_failure()

    async def close_spider_async() -> None:
        try:
            await close_parts()
        except Exception:
            note("an item pipeline's close_spider")
            raise

    async def send_catch_log_async(signal: Any, **arguments: Any) -> list[tuple[Any, Any]]:
        answers: list[tuple[Any, Any]] = await send(signal, **arguments)
        if signal in _ENDS:
            for receiver, answer in answers:
                if isinstance(answer, Exception):
                    note(getattr(receiver, "__qualname__", repr(receiver)))
        return answers

    engine.scraper.close_spider_async = close_spider_async
    engine.signals.send_catch_log_async = send_catch_log_async
