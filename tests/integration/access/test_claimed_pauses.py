"""Pauses that answers through proxies name: the site's, or a proxy's own."""

from __future__ import annotations

import pytest
from scrapy.http import Response

from middlewares.proxies import PROXY_ID
from tests.integration.access.test_proxies_middleware import Make, leased
from tests.integration.access.test_proxies_middleware import make as make  # noqa: PLC0414

pytestmark = pytest.mark.redis


@pytest.mark.parametrize(
    ("proxies", "confirmed"),
    [
        (["one.example:1", "two.example:2"], [False, False, True]),
        (["one.example:1 provider=a", "two.example:2 provider=a"], [True] * 3),
    ],
)
async def test_a_long_pause_is_the_sites_when_a_second_source_names_it(
    make: Make, proxies: list[str], confirmed: list[bool]
) -> None:
    """By one proxy's Retry-After the site's pages waited for an hour, through all proxies."""
    middleware = await make(SEINE_PROXIES=proxies)
    confirms = middleware.site_limits.confirms_pause
    assert confirms is not None
    assert await confirms(leased(middleware), 3600), "it goes out directly"
    one, other = (leased(middleware, number) for number in (2, 3))
    for request in (one, other):
        assert await middleware.process_request(request) is None
    assert one.meta[PROXY_ID] != other.meta[PROXY_ID]
    assert [await confirms(request, 3600) for request in (one, one, other)] == confirmed


async def test_a_proxy_rests_for_as_long_as_its_answer_says(make: Make) -> None:
    """The site may mean the proxy's address alone, which was used again after its quarantine."""
    middleware = await make(
        SEINE_PROXIES=["one.example:1", "two.example:2"], SEINE_PROXY_QUARANTINE_SECONDS=5
    )
    request = leased(middleware)
    assert await middleware.process_request(request) is None
    confirms = middleware.site_limits.confirms_pause
    assert confirms is not None
    assert not await confirms(request, 3600)
    await middleware.process_response(request, Response(request.url, status=429))
    pool = await middleware._open()
    (rests_s,) = [one.domains for one in await pool.health() if one.domains]
    assert next(iter(rests_s.values())) > 3500
