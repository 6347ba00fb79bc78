"""Passes verdicts on responses between middlewares of one crawler that do not know each other.

A middleware that sends a request back ends the chain, so a later one would never see the response.
"""

from __future__ import annotations

from collections.abc import Callable

from scrapy import Request

Listener = Callable[[Request, bool, int], None]


class VerdictListeners:
    """Passes on each verdict about the site: good or not."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def __bool__(self) -> bool:
        """Whether there are listeners."""
        return bool(self._listeners)

    def listen(self, listener: Listener) -> None:
        """Call *listener* for every verdict from now on."""
        self._listeners.append(listener)

    def notify(self, request: Request, good: bool, weight: int = 1) -> None:
        """Report the outcome of a request; it counts as *weight* responses."""
        for listener in self._listeners:
            listener(request, good, weight)
