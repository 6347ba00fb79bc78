"""Several calls at a time, none of which is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def together(works: Iterable[Awaitable[T]]) -> list[T]:
    """Do all at once and to the end; the first error, if any, is raised after that."""
    done = await asyncio.gather(*works, return_exceptions=True)
    for result in done:
        if isinstance(result, BaseException):
            raise result
    return [result for result in done if not isinstance(result, BaseException)]
