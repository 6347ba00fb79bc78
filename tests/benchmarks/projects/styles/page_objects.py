"""scrapy-poet: callbacks take page objects, which are injected, with dependencies of their own."""

import attrs
import scrapy
from scrapy_poet import DummyResponse
from web_poet import HttpResponse, ItemPage, RequestUrl, WebPage, field


@attrs.define
class Book:
    title: str
    price: str
    asked: str


@attrs.define
class Stars:
    number: int


class ListPage(WebPage):
    @property
    def links(self):
        return self.css("a.book::attr(href)").getall()


@attrs.define
class BookPage(ItemPage[Book]):
    response: HttpResponse
    asked_url: RequestUrl

    @field
    def title(self):
        return self.response.css("h1::text").get().strip()

    @field
    async def price(self):
        return self.response.css("p.price::text").get()

    @field
    def asked(self):
        return str(self.asked_url).partition("?")[2]

    @property
    def reviews(self):
        return self.response.css("a[href*=review]::attr(href)").get()


class StarsPage(WebPage[Stars]):
    @field
    def number(self):
        return int(self.css("b.stars::text").get())


class PageObjectSpider(scrapy.Spider):
    name = "page_objects"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/shop/cat/{n}" for n in range(2)]

    def parse(self, response, page: ListPage):
        yield from response.follow_all(page.links, self.parse_book)

    async def parse_book(self, response: DummyResponse, page: BookPage):
        yield await page.to_item()
        yield response.follow(page.reviews, self.parse_stars, cb_kwargs={"title": page.title})

    async def parse_stars(self, response: DummyResponse, page: StarsPage, title):
        stars = await page.to_item()
        yield {"title": title, "stars": stars.number}
