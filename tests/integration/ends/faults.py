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


#: Nobody hears of these in a spider middleware.
_UNHEARD = {"Cancelled", "Panic", "SystemExit"}


def expected(fault: dict[str, str], way: str) -> list[str]:
    """How the leases of a page end, one after the other, where each may be retried once."""
    place, error, errback = fault["place"], fault["error"], fault["errback"]
    failed = ["retry", "bury"]
    if place == "nowhere":
        return ["done"]
    if place == "pipeline":
        once = {"DropItem": "done", "ValueError": "bury"}  # another try would not mend the item
        return [once[error]] if error in once else failed
    if place == "store":
        return failed
    if place in SPIDER and (error != "Exit" or place not in {"callback", "coroutine"}):
        return ["ignored"] if error == "IgnoreRequest" else ["bury"]
    if error == "Exit":
        return failed  # as of a generator that was closed
    # A RETRY_EXCEPTION before an answer is retried ahead of the errback; others are not.
    listed = place == "process_request" and error == "Refused"
    heard = errback and not (place == "spider_input" and error in _UNHEARD)
    if heard:
        end = "done" if errback == "takes" else "bury"
        return ["retry", end] if listed else [end]
    if error == "IgnoreRequest":
        return ["ignored"]
    # Scrapy's code lets these pass there, and ours takes them for an exception.
    passes = way == "rewrites" and error in _UNHEARD
    return ["bury"] if place == "spider_input" and not passes else failed


def is_followed(fault: dict[str, str], ends: list[str]) -> bool:
    """Whether the link of a page enters: its callback had yielded it, and the page ended (I3)."""
    if fault["place"] in {*DOWNLOAD, "spider_input", "callback", "coroutine"}:
        return False
    return ends[-1] in {"done", "ignored", "bury"}


def fail(name: str) -> Any:
    """Raise the exception of a name."""
    raise ERRORS[name]("on purpose")
