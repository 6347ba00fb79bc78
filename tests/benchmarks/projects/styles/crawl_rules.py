"""CrawlSpider: rules follow the categories, and read the books."""

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class ShopSpider(CrawlSpider):
    name = "shop"
    allowed_domains = ["127.0.0.1"]
    rules = (
        Rule(LinkExtractor(allow=r"/shop/cat/\d+"), follow=True),
        Rule(LinkExtractor(allow=r"/shop/book/"), callback="parse_book", cb_kwargs={"kind": "book"}),
        Rule(LinkExtractor(allow=r"/shop$"), callback="parse_home", process_request="marked"),
    )

    def __init__(self, site, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.start_urls = [f"{site}/shop"]

    def marked(self, request, response):
        return request.replace(meta={**request.meta, "from": response.url.rpartition("/")[2][:4]})

    def parse_start_url(self, response, **kwargs):
        yield {"start": True, "title": response.css("title::text").get()}

    def parse_home(self, response):
        yield {"home": True}

    def parse_book(self, response, kind):
        yield {
            "kind": kind,
            "title": response.css("h1::text").get().strip(),
            "price": response.css("p.price::text").get(),
            "text": response.meta["link_text"],
        }
