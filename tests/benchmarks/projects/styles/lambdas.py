"""Callbacks that are lambdas, nested functions and partials; an Item in cb_kwargs; `data:` URLs."""

from functools import partial

import scrapy


class Author(scrapy.Item):
    name = scrapy.Field()
    born = scrapy.Field()


def born(response, item, key):
    item[key] = response.css("span.born::text").get()
    yield item


class LambdaSpider(scrapy.Spider):
    name = "lambdas"

    async def start(self):
        yield scrapy.Request(f"{self.site}/page/1/", lambda response: self.read(response, 1))
        yield scrapy.Request("data:,first", self.note)

    def note(self, response):
        yield {"note": response.text}
        if response.text == "first":
            yield scrapy.Request("data:,second", self.note)

    def read(self, response, page):
        def author(answer):
            yield {"author": answer.css("h3::text").get(), "page": page}
            item = Author(name=answer.css("h3::text").get())
            yield answer.request.replace(
                url=answer.url + "?again", callback=partial(born, item=item, key="born")
            )

        for link in response.css("a[href^='/author']::attr(href)").getall():
            yield response.follow(f"{link}?page={page}", author)
        following = response.css("li.next a::attr(href)").get()
        if following is not None:
            yield response.follow(following, lambda answer: self.read(answer, page + 1))
