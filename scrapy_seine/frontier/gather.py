"""Runs several calls at once and waits for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def run_all(works: Iterable[Awaitable[T]]) -> list[T]:
    """Run all to the end; the first error, if any, is raised after that."""
    results = await asyncio.gather(*works, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
