"""Each address' pause is kept at the wire, however long a connection takes (I5)."""

from __future__ import annotations

from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import StatsCollector

from crawler.access.proxies.pool import Slot
from middlewares.egress_pace import Egress
from middlewares.proxies import AT, PROXY_ID
from scrapy_seine.engine.download.lanes import Lanes
from scrapy_seine.engine.download.send_gate import NotNow, SendGate
from scrapy_seine.engine.download.warm_up import warm_up
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.model import Lease

URL = "http://shop.example/p/1"


class Pool:
    """A fleet's proxies that gives each address a time at once."""

    def __init__(self) -> None:
        self.paced: list[tuple[Any, ...]] = []
        self.fails: Exception | None = None

    async def pace(self, *asked: Any) -> tuple[int, int]:
        if self.fails is not None:
            raise self.fails
        self.paced.append(asked)
        now_ms = int(monotonic() * 1000)
        return now_ms, now_ms


def crawler_of(**settings: Any) -> Crawler:
    crawler = Crawler(Spider, Settings(settings))
    crawler.stats = StatsCollector(crawler)
    return crawler


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    # The clock stands still, because a slot is missed by milliseconds on a busy machine.
    now = monotonic()
    monkeypatch.setattr("middlewares.egress_pace.monotonic", lambda: now)
    monkeypatch.setattr(f"{__name__}.monotonic", lambda: now)
    pool = Pool()
    monkeypatch.setattr(Egress, "_pool", lambda _: pool)
    return pool


def at_gate(
    past_s: float, *, each_ms: int = 200, instead: bool = False
) -> tuple[SendGate, Egress, Request]:
    """A request that comes to the gate with its connection, *past_s* after its proxy's time."""
    crawler = crawler_of()
    middleware = Egress.from_crawler(crawler)
    page = Request(URL)
    lease = Lease(
        id="1", token="1", slot_ms=0, delay_ms=0, each_ms=each_ms, deliveries=0, stored=b""
    )
    worker_of(crawler).inflight.begin(page, lease)
    request = Request(URL, meta={"instead_of": page}) if instead else page
    request.meta.update({PROXY_ID: "a:1", AT: Slot(1000, monotonic() - past_s)})
    return worker_of(crawler).gate, middleware, request


@pytest.mark.parametrize("instead", [False, True])
async def test_a_request_whose_connection_took_too_long_gets_another_time(
    pool: Pool, *, instead: bool
) -> None:
    gate, _, request = at_gate(0.15, instead=instead)
    assert not gate.passes(request)
    opened = gate.wait_for_slot(request)
    assert opened is not None
    await opened
    assert [asked[1:] for asked in pool.paced] == [("a:1", 200, 1000)]


async def test_a_request_waits_for_its_address_time_beside_its_connection(pool: Pool) -> None:
    gate, _, request = at_gate(-0.05)
    due_s = gate.due_in(request)
    assert due_s is not None
    assert due_s == pytest.approx(0.05)
    assert not gate.passes(request)


async def test_what_is_sent_again_needs_another_time(pool: Pool) -> None:
    gate, _, request = at_gate(0.0)
    assert gate.passes(request)
    assert gate.due_in(request) is None
    await gate.reserve(request)
    assert gate.due_in(request) == 0.0
    assert pool.paced[0][3] is None, "the time was used, not missed"


@pytest.mark.parametrize(("past_s", "each_ms", "noted"), [(0.0, 200, 0), (0.15, 200, 1), (0, 0, 1)])
async def test_a_late_send_is_noted_at_its_address(
    pool: Pool, past_s: float, each_ms: int, noted: int
) -> None:
    """The machine slept before the write, or the domain's own pause decided when it left."""
    gate, middleware, request = at_gate(past_s, each_ms=each_ms)
    gate.record_sent(request)
    await middleware.closed()
    assert [asked[2] for asked in pool.paced] == [0] * noted


async def test_a_page_that_left_in_its_slot_is_not_late_because_its_answer_was_slow(
    pool: Pool,
) -> None:
    """A browser tells when it sent a page after the answer, and the pause began with that."""
    gate, middleware, request = at_gate(3.0)
    gate.record_sent(request, ago_s=3.0)
    await middleware.closed()
    assert not pool.paced


async def test_a_projects_own_download_waits_for_its_address_as_well(pool: Pool) -> None:
    """It was noted as a use, and sent together with another one."""
    _, middleware, page = at_gate(0.0)
    own = Request(URL, meta={PROXY_ID: "a:1"})
    assert middleware.process_request(own) is None, "no page has told the limits"
    first = middleware.process_request(page)
    assert first is not None
    await first
    waiting = middleware.process_request(own)
    assert waiting is not None
    await waiting
    assert [asked[1:] for asked in pool.paced] == [("a:1", 200, None)]


async def test_while_redis_is_away_nothing_is_sent(pool: Pool) -> None:
    gate, _, request = at_gate(0.15)
    pool.fails = OSError("away")
    with pytest.raises(NotNow):
        await gate.reserve(request)


@pytest.mark.parametrize(("settings", "ways"), [({}, 1), ({"SEINE_PROXIES": "http://a:1"}, 2)])
async def test_a_worker_sets_its_clients_up_before_its_first_request(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], ways: int
) -> None:
    """Else what a client sets up passes between the look at the clock and the wire."""
    asked: list[Any] = []

    async def download(_: Lanes, request: Request) -> None:
        asked.append(request.meta.get("proxy"))

    monkeypatch.setattr(Lanes, "download_request", download)
    crawler = crawler_of(**settings)
    handlers = SimpleNamespace(_get_handler=lambda _: Lanes(crawler))
    crawler._engine = SimpleNamespace(downloader=SimpleNamespace(handlers=handlers))  # type: ignore[assignment]
    monkeypatch.setattr(Crawler, "engine", crawler._engine)
    await warm_up(crawler)
    assert len(asked) == ways
    assert sum(proxy is not None for proxy in asked) == ways - 1
