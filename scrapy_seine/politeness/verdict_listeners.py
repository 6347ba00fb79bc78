"""Passes the verdict on an answer to middlewares of one crawler that do not know each other.

A middleware that sends a request back ends the chain, so a later one would never see the answer.
"""

from __future__ import annotations

from collections.abc import Callable

from scrapy import Request

Listener = Callable[[Request, bool, int], None]


class VerdictListeners:
    """Passes each verdict that says something about the site on: good or not."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def __bool__(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def listen(self, listener: Listener) -> None:
        """Hear every verdict from now on."""
        self._listeners.append(listener)

    def tell(self, request: Request, good: bool, weight: int = 1) -> None:
        """Say what came of a request; it counts as *weight* answers."""
        for listener in self._listeners:
            listener(request, good, weight)
