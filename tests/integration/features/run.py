"""Crawl the features in one process: `run REDIS_URL SITE NAMESPACE FILE [SPIDERS]`.

It is a script as users write them, with AsyncCrawlerRunner: all crawlers share one process, and the
workers of a feature are crawlers of one crawl. FILE gets what came of each, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

import attrs
from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.utils.reactor import install_reactor

from tests.integration.features import features
from tests.integration.features.catalogue import Feature

logger = logging.getLogger(__name__)
#: Crawlers at a time.
AT_ONCE = 24
COMMON = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_TIMES": 1,
}


def key_of(feature: Feature, side: str) -> str:
    """Name of one side's crawl, and the first part of its paths."""
    return f"{feature.shown_by}-{side}".lower()


def placed(value: Any, folder: str) -> Any:
    """Fill the folder into settings that name it."""
    if isinstance(value, dict):
        return {placed(name, folder): placed(each, folder) for name, each in value.items()}
    return value.replace("{folder}", folder) if isinstance(value, str) else value


@attrs.frozen
class Where:
    """What all crawls share."""

    redis_url: str
    site: str
    namespace: str
    folder: Path


async def crawl(feature: Feature, side: str, where: Where) -> dict[str, Any]:
    """Crawl a feature on one side by all its workers; returns what came of it."""
    place = where.folder / key_of(feature, side)
    place.mkdir()
    settings = {**COMMON, **placed(feature.settings, str(place))}
    if side == "ours":
        settings |= {
            "ADDONS": {"scrapy_seine.Addon": 500},
            "REDIS_URL": where.redis_url,
            "SEINE_CRAWL": f"{where.namespace}-{feature.shown_by}".lower(),
        }
    found: dict[str, Any] = {"items": [], "stats": [], "notes": []}
    runner = AsyncCrawlerRunner(settings)

    def collect(item: Any) -> None:
        found["items"].append(item)

    async def one(crawler: Crawler) -> None:
        crawler.signals.connect(collect, signals.item_scraped)
        await runner.crawl(
            crawler,
            base=f"{where.site}/{key_of(feature, side)}",
            notes=found["notes"],
            folder=str(place),
        )
        stats: Any = crawler.stats
        found["stats"].append(stats.get_stats())

    workers = feature.workers if side == "ours" else 1
    await asyncio.gather(*(one(runner.create_crawler(feature.spider)) for _ in range(workers)))
    return found


async def main(where: Where, out: Path, only: list[str]) -> None:
    """Crawl all, or those named, some at a time."""
    turns = asyncio.Semaphore(AT_ONCE)
    found: dict[str, Any] = {}

    async def one(feature: Feature, side: str) -> None:
        async with turns:
            try:
                found[key_of(feature, side)] = await crawl(feature, side, where)
            except Exception as error:
                logger.exception("%s", key_of(feature, side))
                found[key_of(feature, side)] = {"notes": [repr(error)]}

    chosen = [f for f in features() if not only or f.shown_by in only]
    await asyncio.gather(*(one(f, side) for f in chosen for side in ("plain", "ours")))
    await asyncio.to_thread(out.write_text, json.dumps(found, default=str), "utf-8")


if __name__ == "__main__":
    logging.basicConfig(level="INFO")
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor
    from twisted.internet.defer import Deferred

    def over(result: object) -> object:
        reactor.stop()
        return result

    redis_url, site, namespace, file, *only = sys.argv[1:]
    out = Path(file)
    task = main(Where(redis_url, site, namespace, out.parent), out, only)
    reactor.callWhenRunning(lambda: Deferred.fromFuture(asyncio.ensure_future(task)).addBoth(over))
    reactor.run()
