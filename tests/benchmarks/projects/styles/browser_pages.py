"""scrapy-playwright: page methods click and wait, and a callback gets the browser's page."""

import scrapy
from scrapy_playwright.page import PageMethod

CHROMIUM = "/usr/bin/chromium"


class BrowserSpider(scrapy.Spider):
    name = "browser"
    custom_settings = {
        "DOWNLOAD_HANDLERS": {
            "http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
            "https": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
        },
        "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": CHROMIUM, "args": ["--no-sandbox"]},
    }

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.site = site

    async def start(self):
        for n in range(3):
            yield scrapy.Request(
                f"{self.site}/script/{n}",
                meta={
                    "playwright": True,
                    "playwright_page_methods": [
                        PageMethod("click", "#more"),
                        PageMethod("wait_for_selector", "p.late"),
                        PageMethod("evaluate", "document.title"),
                    ],
                },
            )

    def parse(self, response):
        methods = response.meta["playwright_page_methods"]
        yield {"late": response.css("p.late::text").get(), "title": methods[2].result}
        link = response.css("a.book::attr(href)").get()
        meta = {"playwright": True, "playwright_include_page": True}
        yield response.follow(link, self.parse_book, meta=meta, errback=self.failed)

    async def parse_book(self, response):
        page = response.meta["playwright_page"]
        heading = await page.text_content("h1")
        await page.close()
        yield {"title": heading.strip(), "plain": response.css("p.price::text").get()}
        yield response.follow("?plain", self.parse_plain)

    def parse_plain(self, response):
        yield {"again": response.css("h1::text").get(), "with": response.meta.get("playwright")}

    async def failed(self, failure):
        await failure.request.meta["playwright_page"].close()
