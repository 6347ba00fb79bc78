"""Scrapy's signals, without the way to receivers that are not there.

A page sends some eight signals, and most have no receiver. Scrapy looks for them in four places by
generators, and makes a task for each receiver of a signal that may be waited for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from inspect import isawaitable
from typing import Any

from pydispatch import dispatcher
from pydispatch.robustapply import robustApply
from scrapy.signalmanager import SignalManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)


class Signals(SignalManager):
    """Sends to whom Scrapy would; for what sends signals with every page."""

    def heard(self, signal: object) -> bool:
        """Whether anybody may listen; receivers that are gone may count."""
        for sender in (self.sender, dispatcher.Any):
            known = dispatcher.connections.get(id(sender))
            if known and (signal in known or dispatcher.Any in known):
                return True
        return False

    def send_catch_log(self, signal: object, **named: Any) -> list[tuple[Any, Any]]:
        """Send at once; returns each receiver with its answer or a Failure."""
        return super().send_catch_log(signal, **named) if self.heard(signal) else []

    async def send_catch_log_async(self, signal: object, **named: Any) -> list[tuple[Any, Any]]:
        """Send, and wait for who promises; returns each receiver with its answer or exception.

        All are called before the first promise is waited for.
        """
        if not self.heard(signal):
            return []
        quiet = named.pop("dont_log", ())
        quiet = tuple(quiet) if isinstance(quiet, Sequence) else (quiet,)
        sender = named.setdefault("sender", self.sender)
        found = dispatcher.liveReceivers(dispatcher.getAllReceivers(sender, signal))
        answers: list[Any] = []
        for receiver in found:
            try:
                answer = robustApply(receiver, signal=signal, **named)
                if isinstance(answer, Deferred) or isawaitable(answer):
                    answer = asyncio.ensure_future(
                        _promised(receiver, answer, quiet, named.get("spider"))
                    )
            except Exception as error:
                _report(receiver, error, quiet, named.get("spider"))
                answer = error
            answers.append((receiver, answer))
        return [(to, await got if isinstance(got, asyncio.Task) else got) for to, got in answers]


async def _promised(receiver: Any, answer: Any, quiet: Any, spider: Any) -> Any:
    try:
        return await ensure_awaitable(answer, _warn=global_object_name(receiver))
    except Exception as error:
        _report(receiver, error, quiet, spider)
        return error


def _report(receiver: Any, error: Exception, quiet: Any, spider: Any) -> None:
    if not isinstance(error, quiet):
        logger.error(
            "Error caught on signal handler: %(receiver)s",
            {"receiver": receiver},
            exc_info=error,
            extra={"spider": spider},
        )
