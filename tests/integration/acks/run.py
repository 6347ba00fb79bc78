"""Runs every scenario as a crawl of its own, all at once; prints a JSON report.

usage: python -m tests.integration.acks.run REDIS_URL NAMESPACE
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.frontier import Frontier
from tests.helpers import patient
from tests.integration.acks import site
from tests.integration.acks.spider import SCENARIOS, AckSpider
from tests.integration.acks.ways import WAYS

DEPTH = "scrapy.spidermiddlewares.depth.DepthMiddleware"


def _settings(redis_url: str, crawl: str, way: str = "looks") -> Settings:
    settings = Settings()
    settings.setmodule("settings.test")
    settings.setdict(
        {
            "REDIS_URL": redis_url,
            "DATABASE_URL": "postgresql://unused.invalid/",
            "SEINE_CRAWL": crawl,
            "SEINE_INTAKE": False,
            "USER_AGENT": crawl,
            "SPIDER_MODULES": [],
            "COMMANDS_MODULE": "",
            "ITEM_PIPELINES": {"tests.integration.acks.spider.Pipeline": 1},
            "DOWNLOADER_MIDDLEWARES": {
                "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
                "scrapy_seine.middlewares.retry.Retry": 550,
                "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
                "scrapy_seine.middlewares.offsite.Offsite": 50,
                "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
                "scrapy_seine.middlewares.robots.RobotsMiddleware": 100,
                "tests.integration.acks.spider.Ignores": 10,
                "tests.integration.acks.spider.Wrong": 20,
            },
            "SPIDER_MIDDLEWARES": {
                **settings.getdict("SPIDER_MIDDLEWARES"),
                "tests.integration.acks.spider.Swallows": 10,
                **WAYS[way],
                **({DEPTH: 900} if "depth_" in crawl else {}),
            },
            "EXTENSIONS": {},
            "RETRY_TIMES": 1,
            "DEPTH_LIMIT": 2 if "too_deep" in crawl else 1 if "depth_" in crawl else 0,
            "ROBOTSTXT_OBEY": "robots" in crawl,
            "SEINE_FASTPATH": way != "stock",
            "LOG_LEVEL": "CRITICAL",
        },
        priority="cmdline",
    )
    return settings


async def _scenario(process: Any, redis_url: str, key: str, namespace: str, base: str) -> Any:
    way, name = key.split()
    crawl = f"{namespace}-{way}-{name}"
    crawler = process.create_crawler(AckSpider)
    crawler.settings = _settings(redis_url, crawl, way)
    report: dict[str, Any] = {"items": [], "events": [], "outcomes": [], "depths": []}
    crawler.report = report

    def note_end(scheduler: Any) -> None:
        ended = scheduler.inflight._on_end

        def noted(entry: Any) -> None:
            report["events"].append("ended")
            report["outcomes"].append(entry.outcome)
            ended(entry)

        scheduler.inflight._on_end = noted

    crawler.signals.connect(
        lambda: note_end(crawler.engine._slot.scheduler), signal=_opened(), weak=False
    )
    began = time.monotonic()
    await asyncio.wait_for(crawler.crawl_async(scenario=name, base=base), patient(30))
    report["seconds"] = round(time.monotonic() - began, 1)
    redis = redis_client(redis_url)
    frontier = Frontier(redis, crawl)
    counts = await frontier.counts()
    letters = await redis.hvals(frontier.keys.autopsy)  # type: ignore[misc]
    await redis.aclose()
    report |= {
        "dequeued": crawler.stats.get_value("seine/dequeued"),
        "ends": len(report["outcomes"]),
        "undone": counts.undone,
        "dead": counts.dead,
        "totals": counts.totals,
        "letters": [json.loads(letter) for letter in letters],
        "reason": crawler.stats.get_value("finish_reason"),
        "stats": {k: v for k, v in crawler.stats.get_stats().items() if k.startswith("seine/")},
    }
    return report


def _opened() -> Any:
    from scrapy import signals

    return signals.spider_opened


async def _all(process: Any, redis_url: str, namespace: str) -> dict[str, Any]:
    runner, base = await site.start()
    redis = redis_client(redis_url)
    await redis.delete(f"robots:{{{base.rstrip('/')}}}")  # of a former test's site at this port
    await redis.aclose()
    keys, reports = [], []
    for way in WAYS:  # one after the other, because a process with all of them loses leases
        mine = [f"{way} {name}" for name in SCENARIOS]
        runs = [_scenario(process, redis_url, key, namespace, base) for key in mine]
        reports += await asyncio.gather(*runs, return_exceptions=True)
        keys += mine
    await runner.cleanup()
    return {
        key: report if isinstance(report, dict) else {"failed": repr(report)}
        for key, report in zip(keys, reports, strict=True)
    }


def main() -> None:
    redis_url, namespace = sys.argv[1:3]
    process = AsyncCrawlerProcess(_settings(redis_url, namespace))

    async def run() -> None:
        print(json.dumps(await _all(process, redis_url, namespace)), flush=True)

    from twisted.internet import reactor

    loop = asyncio.get_event_loop()
    task = loop.create_task(run())
    task.add_done_callback(lambda _: reactor.stop())
    reactor.run()
    task.result()


if __name__ == "__main__":
    main()
