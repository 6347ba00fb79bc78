"""Proxies that say by themselves that a page is missing."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

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
