"""What happens where the only proxy, or all of a site's, cannot be used."""

from __future__ import annotations

import pytest

from scrapy_seine.engine.worker import worker_of
from tests.integration.access.test_proxies_middleware import Make, leased
from tests.integration.access.test_proxies_middleware import make as make  # noqa: PLC0414

pytestmark = pytest.mark.redis


async def test_the_only_proxy_is_not_banned_for_an_answer_of_its_own(make: Make) -> None:
    """It gave one to each fifth request, and the crawl waited for half an hour each time."""
    proxies = await make(SEINE_PROXIES=["portal.example:1"])
    for number in (1, 2):
        request = leased(proxies, number)
        assert await proxies.process_request(request) is None
        assert await proxies.reject(request, "answered as another page") is not None
        entry = worker_of(proxies.crawler).inflight.entry_of(request)
        assert entry is not None
        assert (entry.outcome, entry.kind) == ("retry", "ban"), "tries count, so that they end"
    assert not proxies.stats.get_value("proxies/bans", 0)


async def test_that_all_proxies_of_a_site_are_banned_is_logged_once(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """A crawl whose proxies all answered themselves stood still without a line."""
    proxies = await make(SEINE_PROXIES=["a.example:1"])
    request = leased(proxies)
    assert await proxies.process_request(request) is None
    await proxies.settle(request, True, "refused")
    for number in (2, 3):
        assert await proxies.process_request(leased(proxies, number)) is not None
    assert caplog.text.count("all proxies that shop.example may use are banned there") == 1
