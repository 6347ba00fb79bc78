"""A signal manager that returns early if a signal has no receivers.

A page sends some eight signals, and most have no receiver. Scrapy looks for them in four places by
generators, and makes a task for each receiver of an awaitable signal. Here receivers are looked up
where Scrapy connects them; the other places are read only if they are not empty.
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
    """Sends to the same receivers as Scrapy, for code that sends signals with every page."""

    def has_receivers(self, signal: object) -> bool:
        """Whether a signal has receivers."""
        return bool(self._receivers(signal))

    def send_catch_log(self, signal: object, **arguments: Any) -> list[tuple[Any, Any]]:
        """Send at once; returns each receiver with its answer or a Failure."""
        receivers = self._receivers(signal)
        if not receivers:
            return []
        quiet = _quiet(arguments)
        arguments.setdefault("sender", self.sender)
        answers = []
        for receiver in receivers:
            try:
                answer = _call(receiver, signal, arguments)
            except Exception as error:
                _report(receiver, error, (*quiet, StopDownload), arguments.get("spider"))
                answer = Failure()  # type: ignore[no-untyped-call]
            if isinstance(answer, Deferred):
                text = "Cannot return deferreds from signal handler: %(receiver)s"
                spider = arguments.get("spider")
                logger.error(text, {"receiver": receiver}, extra={"spider": spider})
            answers.append((receiver, answer))
        return answers

    async def send_catch_log_async(self, signal: object, **arguments: Any) -> list[tuple[Any, Any]]:
        """Send, and await receivers' awaitables; returns each receiver with its answer or
        exception.

        All receivers are called before the first awaitable is awaited.
        """
        receivers = self._receivers(signal)
        if not receivers:
            return []
        quiet, spider = _quiet(arguments), arguments.get("spider")
        arguments.setdefault("sender", self.sender)
        answers: list[Any] = []
        for receiver in receivers:
            try:
                answer = _call(receiver, signal, arguments)
                # None first, because nearly all return it and checking for an awaitable takes
                # longer.
                if answer is not None and (isinstance(answer, Deferred) or isawaitable(answer)):
                    answer = asyncio.ensure_future(_await_answer(receiver, answer, quiet, spider))
            except Exception as error:
                _report(receiver, error, quiet, spider)
                answer = error
            answers.append((receiver, answer))
        return [
            (
                receiver_of,
                await answer_task if isinstance(answer_task, asyncio.Task) else answer_task,
            )
            for receiver_of, answer_task in answers
        ]

    def _receivers(self, signal: object) -> list[Any]:
        connections = dispatcher.connections
        by_signal = connections.get(id(self.sender), {})
        if (
            dispatcher.Any in by_signal or id(dispatcher.Any) in connections
        ):  # few receivers take every signal
            receivers = dispatcher.getAllReceivers(self.sender, signal)
            return list(dispatcher.liveReceivers(receivers))
        receivers = by_signal.get(signal)
        return list(dispatcher.liveReceivers(receivers)) if receivers else []


def _call(receiver: Any, signal: object, arguments: dict[str, Any]) -> Any:
    """Call a receiver with the arguments it takes, as `robustApply`, which inspects each time."""
    code = getattr(getattr(receiver, "__func__", receiver), "__code__", None)
    if code is None:  # a class, a partial, a callable object
        return robustApply(receiver, signal=signal, **arguments)
    names = _names(code, int(hasattr(receiver, "__func__")))
    if names is None:
        return receiver(signal=signal, **arguments)
    taken_arguments = {name: arguments[name] for name in names if name in arguments}
    if "signal" in names:
        taken_arguments["signal"] = signal
    return receiver(**taken_arguments)


@lru_cache(2048)
def _names(code: CodeType, first: int) -> tuple[str, ...] | None:
    """Return a function's parameters from the *first* on; None: it takes any."""
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    return code.co_varnames[first : code.co_argcount]


def _quiet(arguments: dict[str, Any]) -> tuple[type[BaseException], ...]:
    """Remove and return the exceptions that count as answers, not as errors."""
    quiet = arguments.pop("dont_log", None)
    if quiet is None:
        return ()
    return tuple(quiet) if isinstance(quiet, Sequence) else (quiet,)


async def _await_answer(receiver: Any, answer: Any, quiet: Any, spider: Any) -> Any:
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
