"""Images and files pipelines: what a page shows is downloaded beside its item."""

import scrapy
from scrapy.pipelines.files import FilesPipeline
from scrapy.pipelines.images import ImagesPipeline


class PictureSpider(scrapy.Spider):
    name = "pictures"
    custom_settings = {
        "ITEM_PIPELINES": {ImagesPipeline: 1, FilesPipeline: 2},
        "IMAGES_STORE": "pictures",
        "FILES_STORE": "files",
    }

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/shop/cat/{n}" for n in range(3)]

    def parse(self, response):
        yield from response.follow_all(css="a.book", callback=self.parse_book)

    def parse_book(self, response):
        picture = response.urljoin(response.css("img::attr(src)").get())
        yield {
            "title": response.css("h1::text").get(),
            "image_urls": [picture],
            "file_urls": [picture + "?as=file"],
        }
