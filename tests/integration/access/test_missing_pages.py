"""Proxies that say by themselves that a page is missing, and gates that proxies say nothing of."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from middlewares.proxies import PROXY_ID
from tests.integration.access.test_proxies_middleware import Make, leased
from tests.integration.access.test_proxies_middleware import make as make  # noqa: PLC0414

pytestmark = pytest.mark.redis


async def test_a_proxy_that_says_of_each_page_that_it_is_missing_is_banned(make: Make) -> None:
    """Such as a gateway whose zone is gone: a third of a shop was gone without a word."""
    proxies = await make(SEINE_PROXIES=["gone.example:1", "good.example:2"])
    read: list[int] = []
    for number in range(20):
        meta: dict[str, Any] = {}
        while True:
            request = leased(proxies, number, **meta)
            request._set_url(f"http://shop.example/p/{number}")
            assert await proxies.process_request(request) is None
            is_gone = "gone" in str(request.meta["proxy"])
            body = b"<html>no zone" if is_gone else b"%d" % number
            answer = Response(request.url, status=404 if is_gone else 200, body=body)
            back = await proxies.process_response(request, answer)
            if back is answer:
                read.append(answer.status)
                break
            assert isinstance(back, Request)
            meta = back.meta
    assert 404 not in read, "the first one is a seed's, too"
    assert proxies.stats.get_value("proxies/bans") == 1


async def test_a_page_behind_a_gate_speaks_against_no_gate(make: Make) -> None:
    """Each proxy was refused through which a page had been the gate before the cookie was known."""
    proxies = await make(SEINE_PROXIES=["one.example:1", "two.example:2"])
    for number in range(20):
        request = leased(proxies, number)
        request._set_url(f"http://shop.example/p/{number}")
        gate = Response(request.url, body=b"<html><h1>Are you 18?")
        while True:
            assert await proxies.process_request(request) is None
            back = await proxies.process_response(request, gate)
            if back is gate:
                break
            assert isinstance(back, Request)
            request = leased(proxies, number, **back.meta)
            request._set_url(back.url)
            request.headers["Cookie"] = "age=18"
            gate = Response(request.url, body=b"<html><h1>Lamp %c" % (65 + number))
    assert not proxies.stats.get_value("proxies/bans")
    its_proxy = proxies.proxies[1].id
    for number in range(3):
        request = leased(proxies, number, gate_proxy=its_proxy, gate_bound=True)
        assert await proxies.process_request(request) is None
        assert request.meta[PROXY_ID] == its_proxy
        gate = Response(request.url, body=b"<html><h1>Are you 18?")
        assert await proxies.process_response(request, gate) is gate


async def test_a_seed_is_not_led_away_by_one_proxy(make: Make) -> None:
    """It was followed through another proxy to a page that the site has not: the crawl was over."""
    proxies = await make(SEINE_PROXIES=["ended.example:1", "good.example:2"])
    request = leased(proxies)
    request._set_url("http://shop.example/")
    for _ in range(9):
        assert await proxies.process_request(request) is None
        is_ended = "ended" in str(request.meta["proxy"])
        headers = {"Location": "/account-suspended"} if is_ended else {}
        answer = Response(request.url, status=302 if is_ended else 200, headers=headers)
        back = await proxies.judge(request, answer)
        if back is answer:
            break
        assert isinstance(back, Request)
        request = leased(proxies, **back.meta)
        request._set_url(back.url)
    assert answer.status == 200


async def test_a_front_page_is_not_missing_because_the_only_provider_says_so(make: Make) -> None:
    """The crawl ended as complete, with "1 gone", where its account had ended."""
    ways = ["one.example:1 provider=a", "two.example:2 provider=a"]
    for lines, is_believed in ((ways, False), ([*ways, "three.example:3"], True)):
        proxies = await make(SEINE_PROXIES=lines)
        answer = None
        request = leased(proxies)
        for _ in range(9):
            request._set_url("http://shop.example/")
            assert await proxies.process_request(request) is None
            answer = Response(request.url, status=404, body=b"<h1>404 Not Found</h1>")
            back = await proxies.process_response(request, answer)
            if back is answer:
                break
            assert isinstance(back, Request)
            request = leased(proxies, **back.meta)
        assert (back is answer) is is_believed
    assert not proxies.stats.get_value("proxies/bans")
