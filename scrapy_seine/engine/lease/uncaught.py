"""What leaves code of a project uncaught becomes an ordinary exception: it ends no worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from scrapy_seine.engine.lease.error_text import describe


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
