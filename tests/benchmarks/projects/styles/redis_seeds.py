"""scrapy-redis: a RedisSpider with its own key, batch size, limit of idleness and seeds."""

import json

from scrapy import Request
from scrapy_redis.spiders import RedisSpider


class SeedSpider(RedisSpider):
    name = "seeded"
    redis_batch_size = 2
    max_idle_time = 2

    def __init__(self, *args, site, key="seeded:urls", **kwargs):
        super().__init__(*args, **kwargs)
        self.redis_key = key

    def make_request_from_data(self, data):
        seed = json.loads(data)
        return Request(seed["at"], cb_kwargs={"label": seed["label"]}, dont_filter=True)

    def parse(self, response, label):
        yield {"label": label, "books": len(response.css("a.book"))}
        yield from response.follow_all(css="a.book", callback=self.parse_book)

    def parse_book(self, response):
        yield {"title": response.css("h1::text").get()}
