"""A worker's drain time ends while its crawl ends, too."""

from __future__ import annotations

import logging

import pytest
from twisted.internet.error import ReactorNotRunning

from scrapy_seine.engine.ending import shutdown


class Stopping:
    """A reactor that is stopping already: it runs its last calls."""

    running = True

    def stop(self) -> None:
        raise ReactorNotRunning("Can't stop reactor that isn't running.")


async def nothing() -> None:
    """Do nothing."""


def test_the_end_of_the_drain_time_finds_the_reactor_stopping(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A sink that takes as long as the drain may left a traceback of asyncio's."""
    monkeypatch.setattr(shutdown, "_reactor", Stopping)
    with caplog.at_level(logging.WARNING):
        shutdown.Shutdown(nothing, nothing, 20)._stop_reactor()
    assert "the drain took 20 s" in caplog.text
