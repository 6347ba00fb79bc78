"""Where an exception may leave the code around a page, and the model of how the page then ends."""

from __future__ import annotations

import asyncio
from typing import Any

from scrapy.exceptions import DropItem, IgnoreRequest
from twisted.internet.error import ConnectionRefusedError as Refused


class Unsaid(Exception):
    """Has no text that could be read."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Panic(BaseException):
    """As a library in Rust raises it."""


ERRORS: dict[str, type[BaseException]] = {
    "ValueError": ValueError,
    "Refused": Refused,
    "IgnoreRequest": IgnoreRequest,
    "DropItem": DropItem,
    "Cancelled": asyncio.CancelledError,
    "Unsaid": Unsaid,
    "Recursion": RecursionError,
    "Memory": MemoryError,
    "Panic": Panic,
    "Exit": GeneratorExit,
    "SystemExit": SystemExit,
}
DOWNLOAD = ("process_request", "process_response")
SPIDER = ("callback", "callback_late", "coroutine", "async_generator", "spider_output")
PLACES = (*DOWNLOAD, "spider_input", *SPIDER, "pipeline", "store", "nowhere")


_PASSES = ("Cancelled", "rewrites")


def expected(fault: dict[str, str], way: str) -> list[str]:
    """How the leases of a page end, one after the other, where each may be retried once."""
    place, error, errback = fault["place"], fault["error"], fault["errback"]
    failed = ["retry", "bury"]
    if place == "nowhere":
        return ["done"]
    if place == "pipeline":
        return ["done"] if error == "DropItem" else failed
    if place == "store":
        return failed
    if place in SPIDER:
        return ["ignored"] if error == "IgnoreRequest" else ["bury"]
    # A RETRY_EXCEPTION before an answer is retried ahead of the errback; others are not.
    listed = place == "process_request" and error == "Refused"
    # Nobody hears of a cancellation in a spider middleware.
    heard = errback and not (place == "spider_input" and error == "Cancelled")
    if heard:
        end = {"takes": "done", "raises": "bury", "yields_late": "bury"}[errback]
        return ["retry", end] if listed else [end]
    if error == "IgnoreRequest":
        return ["ignored"]
    # Scrapy's code lets a cancellation pass there, and ours takes it for an exception.
    return ["bury"] if place == "spider_input" and (error, way) != _PASSES else failed


def fail(name: str) -> Any:
    """Raise the exception of a name."""
    raise ERRORS[name]("on purpose")
