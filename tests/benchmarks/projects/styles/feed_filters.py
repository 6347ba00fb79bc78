"""Several FEEDS at a time: a filter class, item classes, renamed fields, one without items."""

import scrapy
from scrapy.extensions.feedexport import ItemFilter


class Cheap(ItemFilter):
    def __init__(self, feed_options):
        self.most = feed_options["most"]

    def accepts(self, item):
        return float(item.get("price", "£99")[1:]) < self.most


class Even(scrapy.Item):
    price = scrapy.Field()
    name = scrapy.Field()


class S(scrapy.Spider):
    name = "feed_filters"
    custom_settings = {
        "FEEDS": {
            "cheap/items-cheap-%(name)s.jsonl": {"format": "jsonlines", "item_filter": Cheap, "most": 60.0, "fields": {"name": "n", "price": "p"}},
            "even/items-even.jsonl": {"format": "jsonlines", "item_classes": [Even], "overwrite": True},
            "none/items-none.jsonl": {"format": "jsonlines", "item_classes": ["scrapy.item.Item"], "store_empty": True},
        }
    }

    async def start(self):
        for n in range(4):
            yield scrapy.Request(f"{self.site}/shop/cat/{n}")

    def parse(self, response):
        yield from response.follow_all(css="a.book", callback=self.book)

    def book(self, response):
        kind = dict if int(response.url.split("?")[0][-1]) % 2 else Even
        yield kind(price=response.css("p.price::text").get(), name=response.css("h1::text").get())
