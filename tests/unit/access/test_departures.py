"""Bytes of a browser's pages wait in the relay for the slots of their pages."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, cast

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

from crawler.access.browser_slot import Departures, PageInSlot
from scrapy_seine.engine.download.send_gate import NotNow, SendGate
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.model import Lease

HOST = "shop.example"
#: A record of TLS that carries data.
ENCRYPTED = b"\x17\x03\x03" + bytes(200)


class Times:
    """Limits of addresses that give each request one time, and no other."""

    def __init__(self) -> None:
        self.at: dict[str, float | None] = {}
        self.left: list[str] = []

    def due_in(self, request: Request, _: Lease) -> float | None:
        at = self.at[request.url]
        return None if at is None else max(0.0, at - monotonic())

    async def reserve(self, *_: object) -> None:
        raise NotNow

    def spend(self, request: Request) -> None:
        self.at[request.url] = None

    def record_sent(self, request: Request, _: Lease, *, ago_s: float = 0.0) -> None:
        assert not ago_s
        self.left.append(request.url)


@pytest.fixture
def times() -> Times:
    return Times()


@pytest.fixture
def gate(times: Times) -> SendGate:
    crawler = Crawler(Spider)
    crawler.stats = StatsCollector(crawler)
    gate = worker_of(crawler).gate
    gate.addresses = times
    return gate


def page_of(gate: SendGate, times: Times, url: str, at: float | None) -> PageInSlot:
    """A page whose request left its browser, and is due at a time, or has no time."""
    request = Request(url)
    lease = Lease(id=url, token="1", slot_ms=0, each_ms=200, deliveries=0, stored=b"")
    gate.inflight.begin(request, lease)
    times.at[request.url] = at
    page = PageInSlot(gate, request, cast("Any", None), None)
    page.expects(url)
    return page


async def left_after(departures: Departures, place: str, data: bytes) -> float | None:
    """Seconds that bytes waited; None: they were refused."""
    began = monotonic()
    try:
        if (released := departures.hold(place, data)) is not None:
            await released
    except ConnectionAbortedError:
        return None
    return monotonic() - began


async def test_encrypted_bytes_behind_anothers_wait_for_the_last_page(
    gate: SendGate, times: Times
) -> None:
    """A script of an earlier page was taken for the page, which then left before its slot."""
    departures = Departures()
    departures.add(page_of(gate, times, f"https://{HOST}/2", monotonic() + 0.2))
    waits = [left_after(departures, f"{HOST}:443", ENCRYPTED) for _ in range(2)]
    assert all(s is not None and s > 0.15 for s in await asyncio.gather(*waits))
    assert times.left == [f"https://{HOST}/2"]
    assert departures.hold(f"{HOST}:443", ENCRYPTED) is None


async def test_a_browser_that_asks_again_after_a_refusal_is_refused_again(
    gate: SendGate, times: Times
) -> None:
    """The page counted as left, so that the second connection's bytes left without a slot."""
    departures = Departures()
    page = page_of(gate, times, f"https://{HOST}/2", None)
    departures.add(page)
    for _ in range(2):
        assert await left_after(departures, f"{HOST}:443", ENCRYPTED) is None
    assert isinstance(page.refusal, NotNow)


async def test_what_a_page_asks_for_twice_needs_one_slot(gate: SendGate, times: Times) -> None:
    """A redirect to the same address, as with a cookie, needed another, and the page went back."""
    departures = Departures()
    departures.add(page_of(gate, times, f"http://{HOST}/2", monotonic()))
    asked = b"GET /2 HTTP/1.1\r\n"
    assert [await left_after(departures, f"{HOST}:80", asked) is None for _ in range(2)] == [
        False,
        False,
    ]


async def test_a_page_that_ended_while_it_waited_is_not_sent(gate: SendGate, times: Times) -> None:
    departures = Departures()
    page = page_of(gate, times, f"http://{HOST}/2", monotonic() + 0.2)
    departures.add(page)
    waiting = asyncio.ensure_future(left_after(departures, f"{HOST}:80", b"GET /2 HTTP/1.1\r\n"))
    await asyncio.sleep(0)
    page.end()
    assert await waiting is None
    assert times.left == []


@pytest.mark.parametrize("url", [f"http://{HOST}/2?", f"http://{HOST}/2?#part"])
async def test_a_page_with_an_empty_query_waits_for_its_slot(
    gate: SendGate, times: Times, url: str
) -> None:
    departures = Departures()
    departures.add(page_of(gate, times, url, monotonic() + 0.2))
    waited = await left_after(departures, f"{HOST}:80", b"GET /2? HTTP/1.1\r\n")
    assert waited is not None
    assert waited > 0.15


async def test_data_that_look_like_a_request_are_no_error(gate: SendGate, times: Times) -> None:
    departures = Departures()
    departures.add(page_of(gate, times, f"http://{HOST}/2", monotonic()))
    assert departures.hold(f"{HOST}:80", b"HTTP/1.1" + b"\r\n" * 50) is None
