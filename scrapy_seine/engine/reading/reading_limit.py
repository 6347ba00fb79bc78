"""A limit on parsing: no page blocks the event loop longer than `SEINE_READ_SECONDS` of CPU (I11).

A timer signal interrupts Python code and the regex engine on the main thread, the spider's own code
included. The timer runs while the process computes (ITIMER_VIRTUAL), and its handler compares the
main thread's own CPU time, so that a frozen or a loaded machine interrupts nothing. A stretch
counts from the first signal in it, because reading the time at its beginning would cost each page
more than the rest of the limit. The handler raises only within a stretch: there nothing is awaited,
and no lock, Redis or database is used. C code (libxml2, JSON) is not interrupted; its input is
limited beforehand. An interrupted page raises `Unreadable`, an ordinary exception.

Several stretches may be due in one iteration of the event loop, for instance bodies that arrive
together, and together they would block it for longer than the watchdog waits. So after each signal,
code that can wait does so in the parse queue, where each iteration has one stretch.

A callback may also yield without end, each output quickly: no signal detects that. So a page's
outputs are counted, and one with more than `SEINE_PAGE_OUTPUTS` raises `Endless`.
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
from scrapy_seine.engine.reading.parse_queue import ParseQueue

logger = logging.getLogger(__name__)
#: Outputs of one page, at most, if no setting sets another limit.
MOST_OUTPUTS = 1_000_000
#: Signals within the limit: an overrun is stopped up to a fifth of the limit too late.
_LOOKS = 10
_END = object()
_Made = TypeVar("_Made")


class Unreadable(Exception):
    """Parsing a page took longer than the limit."""


class Endless(Unreadable):
    """A callback yielded more than a page can have; a second try would yield them all again."""


class _Overran(BaseException):
    """Raised by the signal; a spider's own `except Exception` must not catch it."""


class ReadingLimit:
    """Interrupts parsing that takes too long; one at a time in a process."""

    def __init__(self, limit_s: float, most_outputs: int = MOST_OUTPUTS) -> None:
        self.limit_s = limit_s
        self.most_outputs = most_outputs
        """Outputs of one page, at most; 0: no limit."""
        self._reading = False
        self._stretch_began: float | None = None
        """CPU time at the first signal in the stretch."""
        self._before: Any = None
        self.installed = False
        self.queue = ParseQueue()

    def install(self) -> None:
        """Install the signal handler; if that is impossible, one log line reports it."""
        usable = hasattr(signal, "ITIMER_VIRTUAL")
        if self.limit_s <= 0:
            return
        if not usable or threading.current_thread() is not threading.main_thread():
            logger.warning(
                "SEINE_READ_SECONDS has no effect: no timer signal reaches this thread or system"
            )
            return
        self._before = signal.signal(signal.SIGVTALRM, self._check)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.limit_s / _LOOKS, self.limit_s / _LOOKS)
        self.installed = True
        # At exit the interpreter restores the signal's default action, which would kill the
        # process.
        atexit.register(self.remove)

    def remove(self) -> None:
        """Restore the previous signal handler."""
        if self.installed:
            self.installed = False
            atexit.unregister(self.remove)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, self._before or signal.SIG_DFL)

    def _check(self, number: int, frame: FrameType | None) -> None:
        self.queue.is_busy = True
        if not self._reading:
            return
        now = thread_time()
        if self._stretch_began is None:
            self._stretch_began = now
            return
        self.queue.needs_pause = True
        if now - self._stretch_began >= self.limit_s:
            raise _Overran

    def call(self, function: Callable[..., _Made], /, *arguments: Any, **named: Any) -> _Made:
        """Call a function within the limit; *named* may contain any name of a callback's
        parameters.

        Raises:
            Unreadable: it took too long.
        """
        try:
            try:
                self._stretch_began, self._reading = None, True
                return function(*arguments, **named)
            finally:
                self._reading = False
        except _Overran:
            self._reading = False  # the signal may have come just before it was set
            raise self._unreadable() from None

    def _unreadable(self) -> Unreadable:
        return Unreadable(f"reading took more than {self.limit_s:g} s of CPU")

    def too_many(self, outputs: int) -> Endless | None:
        """Return the error for a page with more than the allowed outputs; None: it may go on."""
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

    def outputs(self, produced: Iterable[Any]) -> Iterator[Any]:
        """Yield a callback's outputs, each step within the limit.

        Raises:
            Unreadable: a step took too long, or there are too many steps.
        """
        outputs, output_count = iter(produced), 0
        while (output := self.call(next, outputs, _END)) is not _END:
            output_count = self._count(output_count + 1)
            yield output

    async def outputs_async(self, produced: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The same for asynchronous outputs: the code between two awaits is within the limit."""
        output_count = 0
        while True:
            if self.queue.is_busy:
                await self.queue.wait()
            try:
                output = await self.awaited(produced.__anext__())
            except StopAsyncIteration:
                return
            output_count = self._count(output_count + 1)
            yield output

    def awaited(self, awaitable: Awaitable[_Made]) -> _Stretches[_Made]:
        """Await something, with the code between two awaits within the limit."""
        return _Stretches(self, awaitable)


class _Stretches(Awaitable[_Made]):
    def __init__(self, limit: ReadingLimit, awaitable: Awaitable[_Made]) -> None:
        self._limit, self._awaitable = limit, awaitable

    def __await__(self) -> Generator[Any, Any, _Made]:
        inner = self._awaitable.__await__()
        step: Callable[..., Any] = next
        arguments: tuple[Any, ...] = (inner,)
        is_closed = False
        while True:
            try:
                waits_for = self._limit.call(step, *arguments)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            except GeneratorExit as error:
                raise error if is_closed else as_output(error) from error
            try:
                value = yield waits_for
                if self._limit.queue.is_busy:
                    yield from self._limit.queue.wait().__await__()
            except BaseException as error:  # a cancellation belongs to the awaiting code
                is_closed = isinstance(error, GeneratorExit)
                step, arguments = getattr(inner, "throw", _raised), (error,)
            else:
                step, arguments = (getattr(inner, "send", None) or _ignored(inner)), (value,)


def _ignored(inner: Iterator[Any]) -> Callable[[Any], Any]:
    return lambda _: next(inner)


def _raised(error: BaseException) -> Any:
    raise error
