"""A limit on reading: no page holds the event loop longer than `SEINE_READ_SECONDS` of CPU (I11).

A timer signal reaches Python code and the regex engine on the main thread, the spider's own code
included. It counts: the timer runs while the process computes (ITIMER_VIRTUAL), and its handler
asks for the main thread's own CPU time, so that a frozen or a loaded machine interrupts nothing.
A stretch of reading counts from the first such look at it on: to ask for the time when it begins
would cost each page more than all the rest of the limit. The handler raises only within a stretch:
there nothing is awaited, and no lock, Redis or database is asked. C code (libxml2, JSON) is not
reached; what it gets is bounded before. What is interrupted leaves as `Unreadable`, an ordinary
exception.

A callback may also yield without end, each output in a moment: no signal finds that. So a page's
outputs are counted, and what yields more than `SEINE_PAGE_OUTPUTS` leaves as `Endless`.
"""

from __future__ import annotations

import atexit
import logging
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator
from time import thread_time
from types import FrameType
from typing import Any, TypeVar

from scrapy_seine.engine.lease.uncaught import as_output

logger = logging.getLogger(__name__)
#: Outputs of one page, at most, where no setting says otherwise.
MOST_OUTPUTS = 1_000_000
#: The handler looks so often within the limit: what overran is stopped a fifth of it too late.
_LOOKS = 10
_END = object()
_Made = TypeVar("_Made")


class Unreadable(Exception):
    """Reading a page took longer than the limit."""


class Endless(Unreadable):
    """A callback yielded more than a page can have; a second try would yield them all again."""


class _Overran(BaseException):
    """Raised by the signal; a spider's own `except Exception` must not take it."""


class ReadingLimit:
    """Interrupts reading that takes too long; one at a time in a process."""

    def __init__(self, limit_s: float, most_outputs: int = MOST_OUTPUTS) -> None:
        self.limit_s = limit_s
        self.most_outputs = most_outputs
        """Outputs of one page, at most; 0: no limit."""
        self._reading = False
        self._seen: float | None = None
        """CPU time of the first look at the stretch."""
        self._before: Any = None
        self.installed = False

    def install(self) -> None:
        """Take the signal; where that is impossible, one line says that there is no limit."""
        usable = hasattr(signal, "ITIMER_VIRTUAL")
        if self.limit_s <= 0:
            return
        if not usable or threading.current_thread() is not threading.main_thread():
            logger.warning(
                "SEINE_READ_SECONDS has no effect: no timer signal reaches this thread or system"
            )
            return
        self._before = signal.signal(signal.SIGVTALRM, self._look)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.limit_s / _LOOKS, self.limit_s / _LOOKS)
        self.installed = True
        # The interpreter's end gives signals their default action back: the next one would kill.
        atexit.register(self.remove)

    def remove(self) -> None:
        """Give the signal back to whoever had it."""
        if self.installed:
            self.installed = False
            atexit.unregister(self.remove)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, self._before or signal.SIG_DFL)

    def _look(self, number: int, frame: FrameType | None) -> None:
        if not self._reading:
            return
        now = thread_time()
        if self._seen is None:
            self._seen = now
        elif now - self._seen >= self.limit_s:
            raise _Overran

    def call(self, function: Callable[..., _Made], /, *arguments: Any, **named: Any) -> _Made:
        """Call a function within the limit; *named* may hold any name, a callback's own ones.

        Raises:
            Unreadable: it took too long.
        """
        try:
            try:
                self._seen, self._reading = None, True
                return function(*arguments, **named)
            finally:
                self._reading = False
        except _Overran:
            self._reading = False  # the signal may have come just before it was set
            raise self._unreadable() from None

    def _unreadable(self) -> Unreadable:
        return Unreadable(f"reading took more than {self.limit_s:g} s of CPU")

    def too_many(self, outputs: int) -> Endless | None:
        """What a page leaves as that has so many outputs so far; None: it goes on."""
        if not 0 < self.most_outputs < outputs:
            return None
        return Endless(
            f"its callback yielded more than {self.most_outputs} outputs; "
            "set SEINE_PAGE_OUTPUTS if that is right"
        )

    def _count(self, outputs: int) -> int:
        if error := self.too_many(outputs):
            raise error
        return outputs

    def outputs(self, made: Iterable[Any]) -> Iterator[Any]:
        """Yield what a callback yields, each step within the limit.

        Raises:
            Unreadable: a step took too long, or the steps have no end.
        """
        outputs, found = iter(made), 0
        while (output := self.call(next, outputs, _END)) is not _END:
            found = self._count(found + 1)
            yield output

    async def outputs_async(self, made: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The same for what is awaited: between two waits, its code is within the limit."""
        found = 0
        while True:
            try:
                output = await self.awaited(made.__anext__())
            except StopAsyncIteration:
                return
            found = self._count(found + 1)
            yield output

    def awaited(self, made: Awaitable[_Made]) -> _Stretches[_Made]:
        """Await something, each stretch between two waits within the limit."""
        return _Stretches(self, made)


class _Stretches(Awaitable[_Made]):
    def __init__(self, limit: ReadingLimit, made: Awaitable[_Made]) -> None:
        self._limit, self._made = limit, made

    def __await__(self) -> Generator[Any, Any, _Made]:
        inner = self._made.__await__()
        step: Callable[..., Any] = next
        given: tuple[Any, ...] = (inner,)
        closed = False
        while True:
            try:
                waits_for = self._limit.call(step, *given)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            except GeneratorExit as error:
                raise error if closed else as_output(error) from error
            try:
                sent = yield waits_for
            except BaseException as error:  # a cancellation belongs to the code that waits
                closed = isinstance(error, GeneratorExit)
                step, given = getattr(inner, "throw", _raised), (error,)
            else:
                step, given = (getattr(inner, "send", None) or _ignored(inner)), (sent,)


def _ignored(inner: Iterator[Any]) -> Callable[[Any], Any]:
    return lambda _: next(inner)


def _raised(error: BaseException) -> Any:
    raise error
