"""Priorities of requests, a limit of depth, DEPTH_PRIORITY, URLLENGTH_LIMIT and depth statistics."""

import scrapy


class PrioritySpider(scrapy.Spider):
    name = "priorities"
    custom_settings = {
        "DEPTH_LIMIT": 3,
        "DEPTH_PRIORITY": 1,
        "DEPTH_STATS_VERBOSE": True,
        "URLLENGTH_LIMIT": 200,
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/page/1/"]

    def parse(self, response):
        for quote in response.css("span.text::text").getall():
            yield {"quote": quote, "depth": response.meta["depth"]}
        for link in response.css("li.next a::attr(href)").getall():
            yield response.follow(link, priority=10)
            yield response.follow(link + "?long=" + "x" * 200, priority=20)
            yield response.follow("/author/1/", self.parse_author, priority=-5)

    def parse_author(self, response):
        yield {"author": response.css("h3::text").get(), "priority": response.request.priority}
