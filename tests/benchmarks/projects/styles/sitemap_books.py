"""SitemapSpider: robots.txt names an index of sitemaps; two rules read what they list."""

from scrapy.spiders import SitemapSpider


class BooksSpider(SitemapSpider):
    name = "sitemap"
    sitemap_rules = [(r"/book/", "parse_book"), (r"/cat/", "parse_category")]

    def __init__(self, site, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.sitemap_urls = [f"{site}/robots.txt"]

    def sitemap_filter(self, entries):
        yield from (entry for entry in entries if not entry["loc"].endswith("-5"))

    def parse_book(self, response):
        yield {"book": response.css("h1::text").get()}

    def parse_category(self, response):
        yield {"category": response.url.rpartition("/")[2], "books": len(response.css("a.book"))}
