"""How long a spider waits for seeds: for ever, a time, until it has seen work, or not at all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scrapy import Spider, signals
from scrapy_redis.spiders import RedisMixin

from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def idle_limit_s(spider: Spider, *, keep_alive: bool) -> float | None:
    """Seconds that a worker stays when its crawl has no work left.

    None: until it has seen work, as a FrontierSpider does. A RedisSpider has its `max_idle_time`
    (https://github.com/rmax/scrapy-redis), 0 for ever. Any other spider ends at once, as Scrapy's.

    Raises:
        ConfigError: `max_idle_time` is no number.
    """
    if keep_alive:
        return math.inf
    if isinstance(spider, FrontierSpider):
        return None
    if not isinstance(spider, RedisMixin):
        return 0.0
    try:
        return float(spider.max_idle_time or 0) or math.inf
    except (TypeError, ValueError):
        raise ConfigError(
            f"max_idle_time = {spider.max_idle_time!r} of spider {spider.name!r} is not a number"
        ) from None


def stop_popping(spider: Spider, crawler: Crawler) -> None:
    """Stop a RedisSpider from popping seeds: a crash between pop and push would lose them."""
    if isinstance(spider, RedisMixin) and spider.server is not None:
        crawler.signals.disconnect(spider.spider_idle, signals.spider_idle)
