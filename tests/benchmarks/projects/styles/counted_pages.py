"""Values that callbacks keep on the spider: a page's number, a token, what several pages gave."""

import scrapy


class CountingSpider(scrapy.Spider):
    name = "counting"
    page = 1
    token = None

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.site, self.books, self.waiting = site, [], 0

    async def start(self):
        yield scrapy.Request(f"{self.site}/api/ids?page=1", self.parse_ids, dont_filter=True)
        yield scrapy.Request(f"{self.site}/author/1/", self.parse_token)
        yield scrapy.Request(f"{self.site}/shop/cat/1", self.parse_category)

    def parse_ids(self, response):
        found = response.json()
        yield from ({"id": number} for number in found["ids"])
        if found["more"]:
            self.page += 1
            yield scrapy.Request(f"{self.site}/api/ids?page={self.page}", self.parse_ids)

    def parse_token(self, response):
        self.token = response.css(".born::text").get()
        for n in range(4):
            yield scrapy.Request(f"{self.site}/page/{n + 1}/", self.parse_quotes)

    def parse_quotes(self, response):
        yield {"token": self.token, "quotes": len(response.css(".quote"))}

    def parse_category(self, response):
        for link in response.css("a.book::attr(href)").getall():
            self.waiting += 1
            yield response.follow(link, self.parse_book)

    def parse_book(self, response):
        self.books.append(response.css("h1::text").get())
        self.waiting -= 1
        if not self.waiting:
            yield {"books": sorted(self.books)}
