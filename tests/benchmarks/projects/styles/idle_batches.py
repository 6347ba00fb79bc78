"""Requests that an idle handler puts in, batch by batch, as projects with a queue of their own do."""

import scrapy
from scrapy import signals
from scrapy.exceptions import DontCloseSpider


class BatchSpider(scrapy.Spider):
    name = "batches"

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.todo = [f"{spider.site}/author/{n}/" for n in range(7)]
        crawler.signals.connect(spider.more, signals.spider_idle)
        return spider

    def more(self):
        batch, self.todo = self.todo[:3], self.todo[3:]
        for url in batch:
            self.crawler.engine.crawl(scrapy.Request(url))
        if batch:
            raise DontCloseSpider

    def parse(self, response):
        yield {"author": response.css("h3::text").get()}
