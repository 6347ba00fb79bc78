"""XMLFeedSpider and CSVFeedSpider are read by the tests; here the first, with its iterator."""

from scrapy.spiders import XMLFeedSpider


class ProductsSpider(XMLFeedSpider):
    name = "xmlfeed"
    iterator = "iternodes"
    itertag = "item"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/products.xml"]

    def parse_node(self, response, node):
        return {"id": node.xpath("id/text()").get(), "name": node.xpath("name/text()").get()}
