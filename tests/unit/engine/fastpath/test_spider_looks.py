"""Which spider middlewares look at single outputs, so that a page needs no chain of generators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.http import Response
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.utils.test import get_crawler

from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.engine.fastpath.request_task import begins_of, item_looks_of, looks_of


class OwnDepth(DepthMiddleware):
    """A project's own, which only asks of each request what it wants to know."""

    def get_processed_request(self, request: Request, response: Response | None) -> Any:
        return None if "drop" in request.url else super().get_processed_request(request, response)


class OwnOutput(DepthMiddleware):
    """A project's own, which handles the output as a whole."""

    def process_spider_output(
        self, response: Response | None, result: Iterable[Any], spider: Spider | None = None
    ) -> Iterable[Any]:
        return list(super().process_spider_output(response, result))


def manager(**settings: Any) -> SpiderMiddlewareManager:
    crawler = get_crawler(Spider, settings)
    crawler.spider = crawler._create_spider("test")
    made: SpiderMiddlewareManager = SpiderMiddlewareManager.from_crawler(crawler)
    return made


def replaced(by: type) -> dict[str, Any]:
    return {"SPIDER_MIDDLEWARES": {DepthMiddleware: None, by: 900}}


def test_a_project_that_sets_nothing_has_middlewares_that_only_look() -> None:
    found = manager()
    assert looks_of(found)
    assert len(begins_of(found)) == 1


def test_the_first_look_gives_a_page_without_a_depth_one_and_its_links_the_next() -> None:
    found = manager(DEPTH_STATS_VERBOSE=True)
    page = Response("http://a.example/", request=Request("http://a.example/"))
    for _, begin in begins_of(found):
        begin(page)
    assert page.meta["depth"] == 0
    link: Any = Request("http://a.example/1")
    for _, look in looks_of(found) or ():
        link = look(link, page)
    assert link.meta["depth"] == 1
    assert link.headers[b"Referer"] == b"http://a.example/"
    assert found.crawler is not None
    assert found.crawler.stats is not None
    assert found.crawler.stats.get_value("request_depth_count/0") == 1


def test_a_depth_middleware_that_changes_requests_alone_looks_as_well() -> None:
    found = manager(**replaced(OwnDepth))
    page = Response("http://a.example/", request=Request("http://a.example/", meta={"depth": 3}))
    link: Any = Request("http://a.example/drop")
    for _, look in looks_of(found) or ():
        link = link and look(link, page)
    assert link is None


class OwnItems(DepthMiddleware):
    """A project's own, which makes requests of items."""

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        return Request("http://a.example/of-item")


def test_items_pass_by_middlewares_that_return_each_as_it_came_and_no_others() -> None:
    assert item_looks_of(looks_of(manager()) or ()) == ()
    looks = looks_of(manager(**replaced(OwnItems))) or ()
    assert len(looks) > 1
    assert item_looks_of(looks) == looks


def test_one_that_handles_the_output_itself_is_left_to_scrapy() -> None:
    assert looks_of(manager(**replaced(OwnOutput))) is None


def test_where_scrapy_lacks_the_name_its_own_chain_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrapy_internals, "available", lambda feature: feature != "depth")
    assert looks_of(manager()) is None
