"""Turns uncaught exceptions of project code into ordinary ones, so that they end no worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from scrapy_seine.engine.lease.error_text import describe


class Cancelled(Exception):
    """The spider or a middleware awaited a cancelled task."""


class Escaped(Exception):
    """Code raised a BaseException, which would end its caller before the outcome is stated (I10).

    For instance a panic of a Rust library, or a project's own subclass of BaseException.
    """


def as_exception(error: BaseException) -> Exception:
    """Turn an exception of project code into an ordinary one.

    Raises:
        KeyboardInterrupt, GeneratorExit: they are meant for the caller.

    >>> as_exception(KeyError("x")), as_exception(asyncio.CancelledError())
    (KeyError('x'), Cancelled(''))
    >>> as_exception(type("Panic", (BaseException,), {})("index out of bounds"))
    Escaped('Panic: index out of bounds')

    A page whose code calls `sys.exit` would end the fleet's workers one by one.

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
    """Turn a generator's exception into an Exception; GeneratorExit was then raised by itself."""
    return Escaped(describe(error)) if isinstance(error, GeneratorExit) else as_exception(error)


_END = object()


def uncancelled(outputs: Iterable[Any]) -> Iterator[Any]:
    """Yield a callback's outputs; its errors are raised as Exceptions."""
    iterator = iter(outputs)
    while True:
        try:
            output = next(iterator, _END)
        except BaseException as error:
            raise as_output(error) from error
        if output is _END:
            return
        yield output


async def uncancelled_async(outputs: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield an asynchronous callback's outputs; its errors are raised as Exceptions."""
    while True:
        try:
            output = await anext(outputs, _END)
        except BaseException as error:
            raise as_output(error) from error
        if output is _END:
            return
        yield output


async def staying(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Await a callback; in a task SystemExit would end the process before it could be caught.

    Raises:
        Escaped: instead of SystemExit.
    """
    try:
        return await coroutine
    except SystemExit as error:
        raise as_exception(error) from error


#: Whether the running code is a spider's start, or was started by it.
in_start: ContextVar[bool] = ContextVar("in_start", default=False)


async def unbroken(start: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield the outputs of a spider's start; its errors are raised as Exceptions.

    Scrapy takes any cancellation for its own: it reads no further, never notices that the start
    ended, and the worker would stay for ever. A cancellation that Scrapy requested is passed on.
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
