"""Six spiders that know scrapy-redis, and nothing of Seine."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import FormRequest, Request, Spider
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy_redis.spiders import RedisCrawlSpider, RedisSpider

TREE, MEMBERS = os.environ.get("TREE", ""), os.environ.get("MEMBERS", "")


def number(response: Response) -> int:
    """Number of a page."""
    return int(response.url.rsplit("/", 1)[1])


class Lists(RedisSpider):  # type: ignore[misc]
    """Seeds from a list, links by hand."""

    name = "lists"
    max_idle_time = 2

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"spider": self.name, "page": number(response)}
        yield from response.follow_all(css="a")


class Rules(RedisCrawlSpider):  # type: ignore[misc]
    """Seeds from a key of its own, links by rules."""

    name = "rules"
    redis_key = "rules:begin"
    redis_batch_size = 2
    max_idle_time = 2
    rules = (Rule(LinkExtractor(), callback="page", follow=True),)

    def page(self, response: Response) -> dict[str, Any]:
        return {"spider": self.name, "page": number(response)}

    parse_start_url = page


class Jobs(RedisSpider):  # type: ignore[misc]
    """Seeds of a form of its own."""

    name = "jobs"
    redis_key = "jobs:todo"
    max_idle_time = 2

    def make_request_from_data(self, data: bytes) -> Request:
        job = json.loads(data)
        return Request(f"{TREE}/{job['page']}", cb_kwargs={"label": job["label"]})

    def parse(self, response: Response, label: str = "") -> Iterator[Any]:
        yield {"spider": self.name, "page": number(response), "label": label}


class Plain(Spider):
    """A spider of Scrapy's, whose requests go through the shared queue."""

    name = "plain"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(f"{TREE}/0", meta={"path": [0]})

    def parse(self, response: Response) -> Iterator[Any]:
        path = response.meta["path"]
        yield {"spider": self.name, "page": number(response), "path": path}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, meta={"path": [*path, int(link[1:])]}, priority=len(path))


class Errors(Spider):
    """Pages that are not there, and an errback."""

    name = "errors"

    async def start(self) -> AsyncIterator[Any]:
        for page in (1, 999):
            yield Request(f"{TREE}/{page}", errback=self.failed, cb_kwargs={"page": page})

    def parse(self, response: Response, page: int) -> Iterator[Any]:
        yield {"spider": self.name, "page": page}

    def failed(self, failure: Any) -> Iterator[Any]:
        yield {"spider": self.name, "page": failure.request.cb_kwargs["page"], "failed": True}


class Login(Spider):
    """A form, a session, and pages behind it."""

    name = "login"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(f"{MEMBERS}/login")

    def parse(self, response: Response) -> Any:
        form = {"user": "me", "password": "word"}
        return FormRequest.from_response(response, formdata=form, callback=self.inside)

    def inside(self, response: Response) -> Iterator[Any]:
        yield from response.follow_all(css="a", callback=self.page)

    def page(self, response: Response) -> Iterator[Any]:
        yield {"spider": self.name, "page": number(response), "who": response.text}
