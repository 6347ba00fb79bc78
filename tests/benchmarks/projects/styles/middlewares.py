"""Spider and downloader middlewares of a project's own, a fingerprinter and an extension."""

import scrapy
from scrapy import signals
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.http import HtmlResponse
from scrapy.utils.request import RequestFingerprinter


class Stamp:
    def process_request(self, request):
        request.headers["X-Stamp"] = "project"
        if "/author/3" in request.url:
            raise IgnoreRequest("not this one")
        if "/author/2" in request.url:
            return HtmlResponse(request.url, body=b"<h3>Made up</h3>", request=request)

    def process_response(self, request, response):
        if "/author/4" in request.url and not request.meta.get("again"):
            return request.replace(meta={**request.meta, "again": True}, dont_filter=True)
        return response


class Filter:
    async def process_spider_output(self, response, result):
        async for output in result:
            if isinstance(output, dict):
                output["through"] = "middleware"
            yield output

    async def process_start(self, start):
        async for output in start:
            output.meta["marked"] = True
            yield output


class Once:
    def __init__(self):
        self.seen = set()

    def process_item(self, item):
        if item.get("drop"):
            raise DropItem("as asked")
        return item


class Count:
    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        made.stats = crawler.stats
        crawler.signals.connect(made.item_scraped, signals.item_scraped)
        return made

    def item_scraped(self, item, response, spider):
        self.stats.inc_value("mine/items")


class WithoutQuery(RequestFingerprinter):
    def fingerprint(self, request):
        return super().fingerprint(request.replace(url=request.url.partition("?")[0]))


class MiddlewareSpider(scrapy.Spider):
    name = "middlewares"
    custom_settings = {
        "DOWNLOADER_MIDDLEWARES": {Stamp: 543},
        "SPIDER_MIDDLEWARES": {Filter: 543},
        "ITEM_PIPELINES": {Once: 300},
        "EXTENSIONS": {Count: 500},
        "REQUEST_FINGERPRINTER_CLASS": WithoutQuery,
    }

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/page/1/"]

    def parse(self, response):
        yield {"page": response.url.split("/")[-2], "marked": response.meta.get("marked", False)}
        yield {"drop": True}
        for link in response.css("a[href^='/author']::attr(href)").getall():
            yield response.follow(f"{link}?page={response.url[-2]}", self.parse_author)
        yield from response.follow_all(css="li.next a")

    def parse_author(self, response):
        stamp = response.request.headers.get("X-Stamp", b"").decode()
        yield {"author": response.css("h3::text").get(), "stamp": stamp}
