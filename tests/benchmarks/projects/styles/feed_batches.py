"""Feeds in batches, whose names have the batch's number, its time and a parameter of the project."""

import scrapy


def named(params, spider):
    return {**params, "label": spider.label}


class BatchSpider(scrapy.Spider):
    name = "batches"
    label = "first"
    custom_settings = {"FEED_EXPORT_BATCH_ITEM_COUNT": 7, "FEED_URI_PARAMS": "feed_batches.named"}

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/shop/cat/{n}" for n in range(4)]

    def parse(self, response):
        yield from response.follow_all(css="a.book", callback=self.parse_book)

    def parse_book(self, response):
        yield {"title": response.css("h1::text").get(), "price": response.css("p.price::text").get()}
