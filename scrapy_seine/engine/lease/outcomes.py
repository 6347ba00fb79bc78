"""How a lease ends, and which statement counts where several are made about one request (I10).

A request ends by one stated outcome: `done`, `ignored` by a named rule, `retry` or `bury`.
`release` hands it back unsent. The empty outcome means that nobody has stated one yet: it never
stands for success. A request that ends without a statement has failed (kind `internal`).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, Literal

from scrapy.exceptions import IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError

from scrapy_seine.printable import redact

Outcome = Literal["", "done", "ignored", "release", "retry", "bury"]

#: From the weakest statement to the strongest: a failure counts more than success, and giving up
#: more than another try, because a dead letter is seen and can be replayed.
_ORDER: tuple[Outcome, ...] = ("", "done", "ignored", "release", "retry", "bury")
_RANK = {outcome: rank for rank, outcome in enumerate(_ORDER)}
#: Characters of an exception's text that a dead letter keeps.
_TEXT = 500
_NOT_THERE = frozenset({404, 410})
#: Failures that a status alone states: a callback that takes the status handles them.
BY_STATUS = frozenset({"5xx", "429"})


class Ignored(IgnoreRequest):
    """Raised by a middleware: a named rule says that the request's page is not to be read."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(text)
        self.rule = rule


def prevails(new: Outcome, stated: Outcome) -> bool:
    """Whether a new statement replaces the one made before; of two equal ones the first counts.

    >>> prevails("done", ""), prevails("ignored", "done"), prevails("retry", "done")
    (True, True, True)
    >>> prevails("done", "ignored"), prevails("done", "retry"), prevails("retry", "bury")
    (False, False, False)
    >>> prevails("bury", "retry"), prevails("bury", "bury")
    (True, False)
    """
    return _RANK[new] > _RANK[stated]


def rule_of(error: IgnoreRequest) -> str:
    """Name the rule by which a request is ignored; `filter` is that of any other project's.

    >>> rule_of(Ignored("robots", "forbidden")), rule_of(IgnoreRequest())
    ('robots', 'filter')
    """
    if isinstance(error, HttpError):
        return "gone" if error.response.status in _NOT_THERE else "http status"
    return str(getattr(error, "rule", "filter"))


#: What users need not know as exceptions of Python, in a sentence each.
_SENTENCES: tuple[tuple[type[BaseException], str, str], ...] = (
    (LookupError, "not a text encoding", "the page names a charset that is none of text"),
    (LookupError, "unknown encoding", "the page names a charset that does not exist"),
)


def describe(error: BaseException) -> str:
    """Class and text of an exception, short, printable and without credentials. Never raises.

    >>> describe(LookupError("unknown encoding: klingon"))
    'the page names a charset that does not exist (LookupError: unknown encoding: klingon)'

    >>> describe(ValueError("http://me:secret@shop.example/ is wrong"))
    'ValueError: http://***@shop.example/ is wrong'
    """
    try:
        text = redact(" ".join(str(error).split()))
    except Exception:  # __str__ of a project's own exception may fail
        text = ""
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    for kind, words, sentence in _SENTENCES:
        if isinstance(error, kind) and words in text:
            return printable(f"{sentence} ({said})")
    return printable(said)


def printable(text: str) -> str:
    """Shorten a text, and replace what UTF-8 cannot hold.

    >>> printable("a" + chr(0xD800))
    'a?'
    """
    return text[:_TEXT].encode("utf-8", "replace").decode()


#: What an item's own values cause, as a rule, and another try would cause again.
_FAULTS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError),
    *(NameError, TypeError, ValueError),
)
#: Names that PEP 249 gives to a database's refusals; its other errors are of the database itself.
_REFUSALS = {"DataError", "IntegrityError", "NotSupportedError", "ProgrammingError"}


def blames_item(error: BaseException) -> bool:
    """Whether an exception of a pipeline says that the item is wrong, and not that a sink is away.

    >>> blames_item(KeyError("price")), blames_item(TimeoutError()), blames_item(Exception())
    (True, False, False)
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, _FAULTS) or not names.isdisjoint(_REFUSALS)


class Cancelled(Exception):
    """Code of the spider or of a middleware awaited something that was cancelled."""


class Escaped(Exception):
    """Code raised what is no Exception: what waits for it would end, and never be told (I10).

    A panic of a library in Rust is one, and what a project derives from BaseException.
    """


def as_exception(error: BaseException) -> Exception:
    """Turn what left code of a project into an ordinary exception, as which it counts.

    Raises:
        KeyboardInterrupt, GeneratorExit: they are meant for who runs the code.

    >>> as_exception(KeyError("x")), as_exception(asyncio.CancelledError())
    (KeyError('x'), Cancelled(''))
    >>> as_exception(type("Panic", (BaseException,), {})("index out of bounds"))
    Escaped('Panic: index out of bounds')

    A page whose code calls `sys.exit` would end one worker of the fleet after the other.

    >>> as_exception(SystemExit(3))
    Escaped('SystemExit: 3')
    """
    if isinstance(error, Exception):
        return error
    if isinstance(error, KeyboardInterrupt | GeneratorExit):
        raise error
    if isinstance(error, asyncio.CancelledError):
        return Cancelled(str(error))
    return Escaped(describe(error))


def as_output(error: BaseException) -> Exception:
    """Return what left a generator as an Exception; GeneratorExit is then the generator's own."""
    return Escaped(describe(error)) if isinstance(error, GeneratorExit) else as_exception(error)


_END = object()


def uncancelled(outputs: Iterable[Any]) -> Iterator[Any]:
    """Yield what a callback yields; what leaves it is an Exception."""
    made = iter(outputs)
    while True:
        try:
            output = next(made, _END)
        except BaseException as error:
            raise as_output(error) from error
        if output is _END:
            return
        yield output


async def uncancelled_async(outputs: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield what an asynchronous callback yields; what leaves it is an Exception."""
    while True:
        try:
            output = await anext(outputs, _END)
        except BaseException as error:
            raise as_output(error) from error
        if output is _END:
            return
        yield output


async def staying(made: Coroutine[Any, Any, Any]) -> Any:
    """Await a callback; a task would end the process by SystemExit before anybody could catch it.

    Raises:
        Escaped: in the place of SystemExit.
    """
    try:
        return await made
    except SystemExit as error:
        raise as_exception(error) from error


#: Whether the code that runs is a spider's start, or what that began.
in_start: ContextVar[bool] = ContextVar("in_start", default=False)


async def unbroken(start: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield what a spider's start yields; what leaves it is an Exception.

    Scrapy takes a cancellation for its own, reads no further, and never learns that the start is
    over, so that the worker would stay for ever. One that Scrapy asked for goes on as it is.
    """
    while True:
        in_start.set(True)
        try:
            output = await anext(start, _END)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise as_output(error) from error
        except BaseException as error:
            raise as_output(error) from error
        finally:
            in_start.set(False)
        if output is _END:
            return
        yield output


def whole(value: Any, default: int) -> int:
    """Read a whole number that a stored request holds; anything else is *default*. Never raises.

    >>> whole("3", 0), whole("three", 7), whole(None, 7), whole(True, 7), whole(-2, 7)
    (3, 7, 7, 7, 0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        return max(0, int(value))
    except (ValueError, OverflowError):
        return default


def seconds(value: float | None, most: float = 30 * 86400) -> float:
    """Read a wait that a site or a project asked for: finite, not negative, 30 days at most.

    >>> seconds(1.5), seconds(-1), seconds(float("nan")), seconds(float("inf"))
    (1.5, 0.0, 0.0, 0.0)
    """
    return min(max(0.0, value), most) if value is not None and math.isfinite(value) else 0.0
