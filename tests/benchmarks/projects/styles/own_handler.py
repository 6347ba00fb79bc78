"""A download handler of the project's own for some requests, and a Request class with attributes."""

import scrapy
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.http import HtmlResponse, TextResponse


class RenderRequest(scrapy.Request):
    def __init__(self, *args, wait=None, **kwargs):
        self.wait = wait
        super().__init__(*args, **kwargs)


class Render:
    def process_request(self, request):
        if isinstance(request, RenderRequest):
            body = f"<h1>rendered after {request.wait}</h1>"
            request.meta["driver"] = object()
            return HtmlResponse(request.url, body=body.encode(), request=request)


class Handler(HTTP11DownloadHandler):
    async def download_request(self, request):
        response = await super().download_request(request)
        if "steps" not in request.meta:
            return response
        request.meta["steps"].result = len(response.body)
        request.meta["page"] = object()
        return response.replace(flags=["by the handler"])


class Shelf:
    """Takes `shelf:` addresses, for which Scrapy has no handler."""

    lazy = True

    async def download_request(self, request):
        return TextResponse(request.url, body=request.url[-1:].encode(), request=request)

    async def close(self):
        pass


class Step:
    result = None


class HandlerSpider(scrapy.Spider):
    name = "handler"
    custom_settings = {
        "DOWNLOAD_HANDLERS": {"http": Handler, "shelf": Shelf},
        "DOWNLOADER_MIDDLEWARES": {Render: 800},
    }

    async def start(self):
        for n in range(4):
            yield scrapy.Request(f"{self.site}/shop/cat/{n}", meta={"steps": Step()})

    def parse(self, response):
        page = type(response.meta["page"]).__name__
        yield {"size": response.meta["steps"].result, "page": page, "flags": response.flags}
        yield scrapy.Request(f"shelf://cat/{response.url[-1]}", self.parse_shelf)
        for n, link in enumerate(response.css("a.book::attr(href)").getall()):
            if n % 2:
                yield response.follow(link, self.parse_book)
            else:
                yield RenderRequest(response.urljoin(link), self.parse_book, wait=n)

    def parse_shelf(self, response):
        yield {"shelf": response.text}

    def parse_book(self, response):
        name = response.css("h1::text").get().strip()
        yield {"url": response.url[-8:], "name": name, "driver": "driver" in response.meta}
