"""What a site file asks for holds for the whole fleet, from the first seed and link on."""

from __future__ import annotations

from itertools import pairwise

import pytest
from redis.asyncio import Redis

from scrapy_seine.frontier.keys import Keys
from spiders import which_site
from spiders.catalog import CatalogSpider
from tests.integration.politeness.crawl import Crawl
from tests.integration.politeness.site import serve

pytestmark = pytest.mark.redis


@pytest.mark.alone
async def test_the_pause_of_a_site_file_is_kept_by_two_workers(
    redis_url: str, redis_client: Redis, namespace: str
) -> None:
    settings = {"POLITE_LIMITS": [150, 1]}
    async with serve() as site, Crawl(redis_url, namespace, settings) as crawl:
        await crawl.start(2)
        await crawl.seed(site.pages(14))
        await crawl.finish()
    state = await redis_client.hmget(Keys(namespace).domain(site.domain), "site_delay", "site_cap")
    assert state == [b"150", b"1"]
    times = site.times()
    assert len(times) == 14
    assert site.most_active == 1
    # A busy machine moves single sends; never the pace as a whole.
    assert times[-1] - times[0] >= 13 * 0.145
    assert sorted(b - a for a, b in pairwise(times))[3] >= 0.12


def test_the_catalogue_takes_limits_from_the_site_file() -> None:
    spider = CatalogSpider()
    for name, site in which_site.load().items():
        assert spider.limits_of(f"http://{name}/x") == (site.delay_ms, site.concurrency)
    assert spider.limits_of("http://nobody.knows.example/") == (None, None)
