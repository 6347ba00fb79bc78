"""Which client serves the plain lane."""

from __future__ import annotations

import pytest
from scrapy import Request

from scrapy_seine import meta as m
from scrapy_seine.engine.download.lanes import CLIENTS, client_of, lane_of
from scrapy_seine.errors import ConfigError


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
        ({"lane": "browser", "proxy": "socks5://127.0.0.1:1"}, "browser"),
        ({"lane": "tls"}, "tls"),
        ({"lane": "browser", m.LANE_NOW: "tls"}, "tls"),
    ],
)
def test_a_request_takes_the_ladders_lane_or_its_own_and_socks_the_client_that_speaks_it(
    meta: dict[str, object], lane: str
) -> None:
    assert lane_of(Request("http://shop.example/", meta=meta)) == lane
