"""An API of JSON: JsonRequest, async callbacks, and pages asked for inside a callback."""

import asyncio

import scrapy
from scrapy.http import JsonRequest


class ApiSpider(scrapy.Spider):
    name = "api"

    async def start(self):
        for page in (1, 2):
            yield JsonRequest(f"{self.site}/api", data={"page": page}, callback=self.parse_api)
            await asyncio.sleep(0.01)

    async def parse_api(self, response):
        found = response.json()
        for number in found["ids"]:
            answer = await self.crawler.engine.download_async(
                scrapy.Request(f"{self.site}/author/{number}/")
            )
            yield {"id": number, "born": answer.css("span.born::text").get()}
        if found["more"]:
            yield JsonRequest(
                f"{self.site}/api", data={"page": found["page"] + 1}, callback=self.parse_api
            )
