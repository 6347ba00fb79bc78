"""CrawlSpider whose rules filter, change and drop requests, with a lambda among them."""

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class RuleSpider(CrawlSpider):
    name = "rules"
    rules = (
        Rule(
            LinkExtractor(allow="/cat/", restrict_css="a.cat"),
            follow=True,
            process_links="first_three",
        ),
        Rule(
            LinkExtractor(allow="/book/", process_value=lambda url: url.split("?")[0]),
            callback="parse_book",
            follow=True,
            cb_kwargs={"shop": "x"},
            process_request=lambda request, response: request.replace(priority=5),
            errback="failed",
        ),
        Rule(LinkExtractor(allow="/review/"), callback="parse_review", process_request="most"),
    )

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/shop"]

    def parse_start_url(self, response, **kwargs):
        yield {"start": response.url.rsplit("/", 1)[-1]}

    def first_three(self, links):
        return links[:3]

    def most(self, request, response):
        return None if request.url.endswith("3") else request

    def parse_book(self, response, shop):
        text = response.meta["link_text"]
        yield {"name": response.css("h1::text").get(), "shop": shop, "text": text}

    async def parse_review(self, response):
        yield {"review": response.url.rsplit("/", 1)[-1], "rule": response.meta["rule"]}

    def failed(self, failure):
        yield {"failed": str(failure.value)}
