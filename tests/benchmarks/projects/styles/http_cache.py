"""HTTPCACHE on disk: pages come from the cache the second time, and say so."""

import scrapy


class CacheSpider(scrapy.Spider):
    name = "cached"
    custom_settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": "cache"}

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/shop/cat/0"]

    def parse(self, response):
        for link in response.css("a.book::attr(href)").getall():
            yield response.follow(link, self.parse_book)

    def parse_book(self, response):
        yield {"title": response.css("h1::text").get(), "cached": "cached" in response.flags}
        if "cached" not in response.flags:
            yield response.request.replace(dont_filter=True)
