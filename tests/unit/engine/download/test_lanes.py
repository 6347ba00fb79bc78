"""Which client serves a request, and what is checked before it is asked."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import NotSupported
from scrapy.utils.test import get_crawler

from scrapy_seine import meta as m
from scrapy_seine.engine.download.lanes import Lanes, lane_of
from scrapy_seine.engine.download.which_client import CLIENTS, client_of
from scrapy_seine.errors import ConfigError, NoWay


@pytest.mark.parametrize("name", CLIENTS)
def test_a_setting_names_the_client(name: str) -> None:
    assert client_of({"SEINE_CLIENT": name}) == CLIENTS[name]


def test_a_client_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match=r"SEINE_CLIENT='curl' is none of seine, scrapy"):
        client_of({"SEINE_CLIENT": "curl"})


@pytest.mark.parametrize(
    ("meta", "lane"),
    [
        ({}, "plain"),
        ({"proxy": None}, "plain"),
        ({"proxy": "http://127.0.0.1:1"}, "plain"),
        ({"proxy": "socks5://127.0.0.1:1"}, "tls"),
        ({"proxy": "http://[::1]:1"}, "tls"),
        ({"proxy": "http://me:a[b@[::1]:1"}, "tls"),
        ({"proxy": "http://me:a[b@127.0.0.1:1"}, "plain"),
        ({"lane": "browser", "proxy": "socks5://127.0.0.1:1"}, "browser"),
        ({"lane": "tls"}, "tls"),
        ({"lane": "browser", m.LANE_NOW: "tls"}, "tls"),
    ],
)
def test_a_request_takes_the_ladders_lane_or_its_own_and_socks_the_client_that_speaks_it(
    meta: dict[str, object], lane: str
) -> None:
    assert lane_of(Request("http://shop.example/", meta=meta)) == lane


class Wire:
    """A lane's client, the gate and the guard of addresses: each notes when it was asked."""

    def __init__(self, lanes: Lanes) -> None:
        self.steps: list[str] = []
        self.fails: Exception | None = None
        self.early = False
        for lane in ("plain", "tls", "browser", "replay"):
            made: Any = SimpleNamespace(
                download_request=partial(self.downloaded, lane), close=partial(self.noted, "close")
            )
            lanes.handlers[lane] = made
        guard: Any = SimpleNamespace(
            check_proxy=partial(self.noted, "proxy"), check_name=partial(self.noted, "name")
        )
        gate: Any = SimpleNamespace(
            wait_for_slot=self.wait_for_slot, inflight=SimpleNamespace(bury=self.buried)
        )
        lanes.reach, lanes.gate = guard, gate

    async def noted(self, step: str, *about: object) -> None:
        self.steps.append(step)

    def wait_for_slot(self, request: Request) -> Any:
        return self.noted("waited") if self.early else None

    def buried(self, request: Request, kind: str, reason: str) -> None:
        self.steps.append(f"buried as {kind}")

    async def downloaded(self, lane: str, request: Request) -> None:
        self.steps.append(lane)
        if self.fails is not None:
            raise self.fails


def lanes_of(**settings: Any) -> tuple[Lanes, Wire]:
    every = dict.fromkeys(("tls", "browser", "replay"), CLIENTS["seine"])
    crawler = get_crawler(Spider, {"SEINE_LANES": every, **settings})
    lanes = Lanes(crawler)
    return lanes, Wire(lanes)


@pytest.mark.parametrize(
    ("meta", "steps"),
    [
        ({}, ["plain"]),
        ({"lane": "tls"}, ["waited", "tls"]),
        ({"proxy": "http://a.example:1"}, ["proxy", "plain"]),
        # The proxy's own server looks the name up, so that it is checked here before.
        ({"lane": "tls", "proxy": "http://a.example:1"}, ["proxy", "name", "waited", "tls"]),
        ({m.GATEWAY: "zyte", "lane": "tls"}, ["name", "plain"]),
    ],
)
async def test_addresses_are_checked_and_the_time_is_kept_before_anything_is_sent(
    meta: dict[str, Any], steps: list[str]
) -> None:
    """I5, I9: no lane leads to a private address, or is asked before its domain's time."""
    lanes, wire = lanes_of()
    wire.early = True
    request = Request("http://shop.example/", meta=meta)
    await lanes.download_request(request)
    assert wire.steps == steps
    assert m.GATEWAY not in request.meta


async def test_a_lane_that_is_at_its_time_waits_for_nothing() -> None:
    lanes, wire = lanes_of()
    await lanes.download_request(Request("http://shop.example/", meta={"lane": "tls"}))
    assert wire.steps == ["tls"]


async def test_a_gateways_key_leaves_the_request_when_it_fails_too() -> None:
    lanes, wire = lanes_of()
    wire.fails = OSError("refused")
    request = Request("http://shop.example/", meta={m.GATEWAY: "zyte"})
    with pytest.raises(OSError, match="refused"):
        await lanes.download_request(request)
    assert m.GATEWAY not in request.meta


async def test_a_lane_that_is_not_there_is_buried_and_one_that_others_have_is_not() -> None:
    lanes, wire = lanes_of()
    with pytest.raises(NotSupported, match="no 'smoke' lane"):
        await lanes.download_request(Request("http://shop.example/", meta={"lane": "smoke"}))
    assert wire.steps == ["buried as lane"]
    with pytest.raises(NotSupported, match="this worker has no 'browser' lane"):
        await lanes.download_request(Request("http://shop.example/", meta={"lane": "browser"}))
    assert wire.steps == ["buried as lane"]


async def test_scrapys_own_client_asks_no_gateway() -> None:
    lanes, wire = lanes_of(SEINE_CLIENT="scrapy")
    with pytest.raises(NoWay):
        await lanes.download_request(Request("http://shop.example/", meta={m.GATEWAY: "zyte"}))
    assert wire.steps == ["buried as lane"]
    await lanes.download_request(Request("http://shop.example/"))
    assert wire.steps[1:] == ["plain"]


async def test_a_replay_asks_no_site_whatever_lane_a_request_names() -> None:
    lanes, wire = lanes_of(SEINE_REPLAY="folder")
    for meta in ({}, {"lane": "tls"}, {"lane": "smoke"}):
        await lanes.download_request(Request("http://shop.example/", meta=meta))
    assert wire.steps == ["replay"] * 3


async def test_each_lane_is_closed_once() -> None:
    lanes, wire = lanes_of()
    await lanes.close()
    await lanes.close()
    assert wire.steps == ["close"] * 4
