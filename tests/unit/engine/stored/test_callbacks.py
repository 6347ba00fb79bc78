"""I9: a stored request names what the spider's author wrote to be called with a page."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.spiders import CrawlSpider, SitemapSpider

from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.stored.callbacks import callbacks_of
from scrapy_seine.engine.stored.serializer import from_blob, to_fields
from scrapy_seine.errors import DecodeError, EncodeError
from scrapy_seine.frontier.encoding.codec import encode


def traced(method: Any) -> Any:
    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    return wrapper


class Mixin:
    def parse_item(self, response: Any) -> None: ...


class Own(Mixin, FrontierSpider):
    name = "own"
    text = "no method"
    rule = print

    def parse(self, response: Any) -> None: ...

    @traced
    def product(self, page: Any, extra: int = 0) -> None: ...

    async def later(self, r: Any) -> None: ...

    def _private(self, response: Any) -> None: ...

    def _failed(self, failure: Any) -> None: ...

    def _helper(self, text: str) -> None: ...

    def nothing(self) -> None: ...

    def only_names(self, *, page: Any) -> None: ...

    @staticmethod
    def loose(response: Any) -> None: ...

    @classmethod
    def of_class(cls, response: Any) -> None: ...

    @property
    def shown(self) -> str:
        raise AssertionError("a property is not looked at")

    def closed(self, reason: str) -> None: ...

    def _set_crawler(self, crawler: Any) -> None:
        super()._set_crawler(crawler)

    def make_request_from_data(self, data: bytes) -> Request:
        return super().make_request_from_data(data)


class Silent(FrontierSpider):
    name = "silent"


def test_callbacks_are_methods_of_the_spiders_own_classes_that_take_a_page() -> None:
    expected = {"parse", "parse_item", "product", "later", "_private", "_failed"}
    assert callbacks_of(Own) == expected
    assert callbacks_of(Silent) == callbacks_of(Spider) == frozenset()


def test_what_scrapys_generic_spiders_give_their_requests_is_a_callback() -> None:
    class Following(CrawlSpider):
        name = "following"

        def shop(self, response: Any) -> None: ...

    assert callbacks_of(Following) == {"shop", "parse_start_url", "_callback", "_errback"}
    assert callbacks_of(SitemapSpider) == {"_parse_sitemap"}


@pytest.mark.parametrize("name", sorted(set(dir(Own)) - callbacks_of(Own)))
@pytest.mark.parametrize("field", ["callback", "errback"])
def test_no_other_attribute_of_a_spider_is_called(name: str, field: str) -> None:
    blob = encode({"url": "http://a/", field: name})
    with pytest.raises(DecodeError, match="no callback of spider 'own'"):
        from_blob(blob, Own())


@pytest.mark.parametrize("name", sorted(callbacks_of(Own)))
def test_a_callback_comes_back_as_the_spiders_method(name: str) -> None:
    spider = Own()
    request = Request("http://a/", callback=getattr(spider, name))
    assert from_blob(encode(to_fields(request, spider)), spider).callback == getattr(spider, name)


def test_what_could_not_come_back_is_refused_when_it_is_stored() -> None:
    spider = Own()
    with pytest.raises(EncodeError, match="'_helper' is no callback"):
        to_fields(Request("http://a/", callback=spider._helper), spider)


@pytest.mark.parametrize("handler", ["_set_crawler", "closed", "crawler.stop", 5, None])
def test_event_handlers_of_a_browser_page_are_callbacks_too(handler: Any) -> None:
    meta = {"playwright_page_event_handlers": {"dialog": handler}}
    with pytest.raises(DecodeError, match="no callback"):
        from_blob(encode({"url": "http://a/", "meta": meta}), Own())


def test_no_stored_request_names_something_to_import() -> None:
    for more in ({"meta": {"playwright_page_init_callback": "os.system"}}, {"_class": "os.system"}):
        with pytest.raises(DecodeError):
            from_blob(encode({"url": "http://a/", **more}), Own())
