"""One Item that several requests fill; the last one yields it."""

import scrapy


class Category(scrapy.Item):
    number = scrapy.Field()
    books = scrapy.Field()


class GatheringSpider(scrapy.Spider):
    name = "gathering"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/shop/cat/{n}" for n in range(4)]

    def parse(self, response):
        links = response.css("a.book::attr(href)").getall()
        item, left = Category(number=response.url[-1], books=[]), [len(links)]
        for link in links:
            yield response.follow(link, self.parse_book, cb_kwargs={"item": item, "left": left})

    def parse_book(self, response, item, left):
        item["books"] = sorted([*item["books"], response.css("h1::text").get()])
        left[0] -= 1
        if not left[0]:
            yield item
