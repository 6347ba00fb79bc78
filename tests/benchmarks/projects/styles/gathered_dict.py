"""One dict that several requests fill; the last one, or its errback, yields it."""

import scrapy


class GatheringDictSpider(scrapy.Spider):
    name = "gathering_dict"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/shop/cat/{n}" for n in range(4)]

    def parse(self, response):
        links = response.css("a.book::attr(href)").getall()
        category = {"number": response.url[-1], "books": [], "left": len(links)}
        for link in links:
            yield response.follow(
                link, self.parse_book, errback=self.failed, meta={"category": category}
            )

    def parse_book(self, response):
        category = response.meta["category"]
        category["books"].append(response.css("h1::text").get())
        yield from self.ended(category)

    def failed(self, failure):
        yield from self.ended(failure.request.meta["category"])

    def ended(self, category):
        category["left"] -= 1
        if not category["left"]:
            yield {"number": category["number"], "books": sorted(category["books"])}
