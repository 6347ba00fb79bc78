"""Scrapy's tutorial: quotes of all pages, and their authors."""

import scrapy


class QuotesSpider(scrapy.Spider):
    name = "quotes"

    async def start(self):
        yield scrapy.Request(f"{self.site}/page/1/", callback=self.parse)

    def parse(self, response):
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.css("small.author::text").get(),
                "tags": quote.css("a.tag::text").getall(),
            }
        yield from response.follow_all(css="div.quote a[href^='/author']", callback=self.parse_author)
        yield from response.follow_all(css="li.next a", callback=self.parse)

    def parse_author(self, response):
        yield {
            "name": response.css("h3::text").get(),
            "born": response.css("span.born::text").get(),
            "depth": response.meta["depth"],
        }
