"""Pipelines that return Deferreds and coroutines, drop items, and download by themselves."""

import asyncio
import scrapy
from scrapy.exceptions import DropItem
from scrapy.utils.defer import deferred_to_future
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.task import deferLater


class Later:
    def process_item(self, item, spider):
        from twisted.internet import reactor
        d = deferLater(reactor, 0.05, lambda: item)
        d.addCallback(self.more)
        return d

    def more(self, item):
        item["later"] = True
        return item


class Co:
    async def open_spider(self, spider):
        await asyncio.sleep(0.01)
        self.open = True

    async def process_item(self, item, spider):
        await asyncio.sleep(0.02)
        if item["n"] % 5 == 0:
            raise DropItem("five")
        item["co"] = self.open
        return item

    async def close_spider(self, spider):
        await asyncio.sleep(0.01)


class Fetches:
    @classmethod
    def from_crawler(cls, crawler):
        self = cls()
        self.crawler = crawler
        return self

    async def process_item(self, item):
        r = await self.crawler.engine.download_async(scrapy.Request(item["site"] + "/author/1/", dont_filter=True))
        item["born"] = r.css(".born::text").get()
        del item["site"]
        return item


class Inline:
    @inlineCallbacks
    def process_item(self, item, spider):
        from twisted.internet import reactor
        yield deferLater(reactor, 0.01, lambda: None)
        item["inline"] = 1
        return item


class S(scrapy.Spider):
    name = "awaited_pipelines"
    custom_settings = {"ITEM_PIPELINES": {Later: 1, Co: 2, Inline: 3, Fetches: 4}}

    async def start(self):
        for n in range(1, 7):
            yield scrapy.Request(f"{self.site}/page/{n}/")

    def parse(self, response):
        p = int(response.url.strip("/")[-1])
        for n, q in enumerate(response.css(".quote")):
            yield {"n": p * 7 + n, "t": q.css(".text::text").get(), "site": self.site}
