"""Fingerprints that are no digests: an address as bytes, or what a request's meta says."""

import scrapy


class Fingerprinter:
    def fingerprint(self, request):
        return request.meta.get("fingerprint") or request.url.encode()


class PageSpider(scrapy.Spider):
    name = "own_fingerprints"
    custom_settings = {"REQUEST_FINGERPRINTER_CLASS": Fingerprinter}

    async def start(self):
        yield scrapy.Request(f"{self.site}/page/1/")

    def parse(self, response):
        if "fingerprint" in response.meta:  # any of three addresses
            yield {"same": True}
            return
        yield {"page": response.url.split("/")[-2]}
        for n in range(1, 4):
            yield scrapy.Request(f"{self.site}/page/{n}/")
            yield scrapy.Request(f"{self.site}/page/{n}/?same", meta={"fingerprint": b"same"})
