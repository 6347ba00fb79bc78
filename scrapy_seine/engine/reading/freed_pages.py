"""Frees pages when they are done, because a page and its selector reference each other.

A response caches its selector and the selector references its response, so that only Python's cycle
collector frees the two, the page's bytes and the parsed tree, which is ten times as large. The
collector counts objects, and a tree of 3 MB is a handful of objects: 900 pages of 285 kB took 400
MB. So the cycle is broken when a page ends, and other cycles (a callback that keeps its response in
an object of its own) are collected after a number of page bytes.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from scrapy.http import TextResponse

from scrapy_seine.engine.fastpath import scrapy_internals

#: Bytes of pages between two collections. Pages in cycles then occupy some ten times as much; a
#: collection takes 10 to 100 ms of CPU, pages of 32 MB take 2 s and more.
COLLECT_BYTES = 32 << 20


class PageMemory:
    """Frees the pages of one worker."""

    def __init__(self, collect: Callable[[], object] = gc.collect) -> None:
        self._collect = collect
        self._bytes = 0

    def free(self, result: object, size: int) -> None:
        """Free a page of *size* bytes; code that keeps it may go on using it."""
        if isinstance(result, TextResponse):
            scrapy_internals.forget_selector(result)  # parsed again on the next use
        self._bytes += size
        if self._bytes >= COLLECT_BYTES:
            self._bytes = 0
            self._collect()
