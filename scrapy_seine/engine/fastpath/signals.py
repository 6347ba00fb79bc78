"""A signal manager that returns early where a signal has no receivers.

A page sends some eight signals, and most have no receiver. Scrapy looks for them in four places by
generators, and makes a task for each receiver of a signal that may be waited for. Here receivers
are looked for where Scrapy connects them; the other places count where there is something in them.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Sequence
from functools import lru_cache
from inspect import isawaitable
from types import CodeType
from typing import Any

from pydispatch import dispatcher
from pydispatch.robustapply import robustApply
from scrapy.exceptions import StopDownload
from scrapy.signalmanager import SignalManager
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_seine.engine.fastpath import scrapy_internals

logger = logging.getLogger(__name__)


class Signals(SignalManager):
    """Sends to whom Scrapy would; for what sends signals with every page."""

    def heard(self, signal: object) -> bool:
        """Whether anybody listens."""
        return bool(self._receivers(signal))

    def send_catch_log(self, signal: object, **named: Any) -> list[tuple[Any, Any]]:
        """Send at once; returns each receiver with its answer or a Failure."""
        receivers = self._receivers(signal)
        if not receivers:
            return []
        quiet = _quiet(named)
        named.setdefault("sender", self.sender)
        answers = []
        for receiver in receivers:
            try:
                answer = _call(receiver, signal, named)
            except Exception as error:
                _report(receiver, error, (*quiet, StopDownload), named.get("spider"))
                answer = Failure()  # type: ignore[no-untyped-call]
            if isinstance(answer, Deferred):
                text = "Cannot return deferreds from signal handler: %(receiver)s"
                spider = named.get("spider")
                logger.error(text, {"receiver": receiver}, extra={"spider": spider})
            answers.append((receiver, answer))
        return answers

    async def send_catch_log_async(self, signal: object, **named: Any) -> list[tuple[Any, Any]]:
        """Send, and wait for who promises; returns each receiver with its answer or exception.

        All are called before the first promise is waited for.
        """
        receivers = self._receivers(signal)
        if not receivers:
            return []
        quiet, spider = _quiet(named), named.get("spider")
        named.setdefault("sender", self.sender)
        answers: list[Any] = []
        for receiver in receivers:
            try:
                answer = _call(receiver, signal, named)
                # None first, because nearly all give it and to ask for a promise takes longer.
                if answer is not None and (isinstance(answer, Deferred) or isawaitable(answer)):
                    answer = asyncio.ensure_future(_promised(receiver, answer, quiet, spider))
            except Exception as error:
                _report(receiver, error, quiet, spider)
                answer = error
            answers.append((receiver, answer))
        return [(to, await got if isinstance(got, asyncio.Task) else got) for to, got in answers]

    def _receivers(self, signal: object) -> list[Any]:
        known = dispatcher.connections
        mine = known.get(id(self.sender), {})
        if dispatcher.Any in mine or id(dispatcher.Any) in known:  # hardly anybody listens to all
            found = dispatcher.getAllReceivers(self.sender, signal)
            return list(dispatcher.liveReceivers(found))
        found = mine.get(signal)
        return list(dispatcher.liveReceivers(found)) if found else []


def _call(receiver: Any, signal: object, named: dict[str, Any]) -> Any:
    """Call a receiver with what it takes, as `robustApply` does, which looks at it each time."""
    code = getattr(getattr(receiver, "__func__", receiver), "__code__", None)
    if code is None:  # a class, a partial, an object that can be called
        return robustApply(receiver, signal=signal, **named)
    names = _names(code, int(hasattr(receiver, "__func__")))
    if names is None:
        return receiver(signal=signal, **named)
    asked = {name: named[name] for name in names if name in named}
    if "signal" in names:
        asked["signal"] = signal
    return receiver(**asked)


@lru_cache(2048)
def _names(code: CodeType, first: int) -> tuple[str, ...] | None:
    """Parameters of a function from the *first* on; None: it takes any."""
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    return code.co_varnames[first : code.co_argcount]


def _quiet(named: dict[str, Any]) -> tuple[type[BaseException], ...]:
    """Take out which exceptions are answers and no errors."""
    quiet = named.pop("dont_log", None)
    if quiet is None:
        return ()
    return tuple(quiet) if isinstance(quiet, Sequence) else (quiet,)


async def _promised(receiver: Any, answer: Any, quiet: Any, spider: Any) -> Any:
    try:
        return await scrapy_internals.awaitable(answer, global_object_name(receiver))
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
