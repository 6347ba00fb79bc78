"""Fetches URLs with the project's lanes in a process of its own; prints a line of JSON for each.

usage: python -m tests.integration.access.fetch  < JSON: {"settings": {…}, "requests": [{…}, …]}
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.settings import Settings

TASK = json.loads(sys.stdin.read()) if __name__ == "__main__" else {}


class FetchSpider(Spider):
    """Asks for each request once, without the frontier."""

    name = "fetch"

    async def start(self) -> AsyncIterator[Any]:
        for number, fields in enumerate(TASK["requests"]):
            yield Request(
                **fields,
                callback=self.parse,
                errback=self.failed,
                cb_kwargs={"number": number},
                dont_filter=True,
            )

    def parse(self, response: Response, number: int) -> None:
        meta = {k: v for k, v in response.meta.items() if isinstance(v, str | int | float)}
        self.tell(
            number,
            status=response.status,
            body=response.text if isinstance(response, TextResponse) else "",
            meta=meta,
            headers=[[k.decode(), v.decode()] for k, vs in response.headers.items() for v in vs],
            flags=response.flags,
            protocol=response.protocol,
            ip=str(response.ip_address),
            certificate=bool(response.certificate),
        )

    def failed(self, failure: Any) -> None:
        self.tell(
            failure.request.cb_kwargs["number"], error=f"{failure.type.__name__}: {failure.value}"
        )

    def tell(self, number: int, **found: Any) -> None:
        print(json.dumps({"number": number, **found}), flush=True)


def main() -> None:
    settings = Settings()
    settings.setmodule("settings.test")
    settings.setdict(
        {
            "SCHEDULER": "scrapy.core.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
            "SPIDER_MODULES": [],
            "EXTENSIONS": {},
            "ITEM_PIPELINES": {},
            "ROBOTSTXT_OBEY": False,
            "RETRY_ENABLED": False,  # what a client does with one request is looked at
            "LOG_LEVEL": "DEBUG",
            **TASK["settings"],
        },
        priority="cmdline",
    )
    process = AsyncCrawlerProcess(settings)
    process.crawl(FetchSpider)
    process.start()


if __name__ == "__main__":
    main()
