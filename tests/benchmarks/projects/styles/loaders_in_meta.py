"""Item loaders, carried in meta from page to page: no request with one can be stored."""

import scrapy
from itemloaders.processors import Join, MapCompose, TakeFirst
from scrapy.loader import ItemLoader


class Book(scrapy.Item):
    title = scrapy.Field(input_processor=MapCompose(str.strip), output_processor=TakeFirst())
    price = scrapy.Field(output_processor=TakeFirst())
    stars = scrapy.Field(output_processor=Join(","))


class LoaderSpider(scrapy.Spider):
    name = "loaders"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/shop/cat/{n}" for n in range(3)]

    def parse(self, response):
        yield from response.follow_all(css="a.book", callback=self.parse_book)

    def parse_book(self, response):
        loader = ItemLoader(Book(), response=response)
        loader.add_css("title", "h1::text")
        loader.add_css("price", "p.price::text")
        review = response.css("a[href*=review]::attr(href)").get()
        yield response.follow(review, self.parse_review, meta={"loader": loader})

    def parse_review(self, response):
        loader = response.meta["loader"]
        loader.add_value("stars", response.css("b.stars::text").getall())
        yield loader.load_item()
