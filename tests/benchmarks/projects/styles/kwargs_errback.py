"""cb_kwargs from page to page, and errbacks of errors of HTTP and of the network."""

import scrapy
from scrapy.spidermiddlewares.httperror import HttpError


class KwargsSpider(scrapy.Spider):
    name = "kwargs"
    custom_settings = {"RETRY_TIMES": 1}
    handle_httpstatus_list = [404]

    async def start(self):
        for status in (200, 404, 410, 500):
            yield scrapy.Request(
                f"{self.site}/status/{status}",
                callback=self.parse_status,
                errback=self.failed,
                cb_kwargs={"asked": status, "path": [status]},
                meta={"asked": status},
            )
        yield scrapy.Request("http://127.0.0.1:1/", errback=self.failed, meta={"asked": "nobody"})

    def parse_status(self, response, asked, path):
        yield {"status": response.status, "asked": asked, "path": path}
        if len(path) < 4:
            yield response.follow(
                f"/moved/{len(path)}",
                callback=self.parse_status,
                cb_kwargs={"asked": asked, "path": [*path, "author"]},
                dont_filter=True,
            )

    def failed(self, failure):
        kind = failure.type.__name__
        status = failure.value.response.status if failure.check(HttpError) else None
        yield {"failed": kind, "status": status, "asked": failure.request.meta["asked"]}
