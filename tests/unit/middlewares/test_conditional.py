"""Conditions of a request: what is kept of an answer, what is sent, which 304 is believed."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import resources
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector

from crawler.conditional_headers import KEY, Validators, from_meta, validators_in
from crawler.extract.parser_version import _files, parser_version
from crawler.extract.site import Site
from crawler.storage import storage_of
from middlewares.conditional import Answer, Ask
from scrapy_seine import meta as m
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.stored.serializer import to_fields
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.model import Lease
from spiders.sites.quotes_toscrape import QuotesToScrape

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
OLD = "Fri, 20 Nov 2026 12:00:00 GMT"
URL = "https://shop.example/p/1"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"etag": '"a"'}, ('"a"', None)),
        ({"etag": 'W/"a"', "last-modified": OLD}, ('W/"a"', OLD)),
        ({"etag": "a"}, None),
        ({"etag": '"a\r\nX: y"'}, None),
        ({"etag": '"' + "a" * 300 + '"'}, None),
        ({"last-modified": OLD}, (None, OLD)),
        ({"last-modified": "yesterday"}, None),
        # PostgreSQL stores no NUL: each product of such a site was rejected.
        ({"last-modified": f"{OLD}\x00"}, None),
        ({"last-modified": f"{OLD} {'x' * 300}"}, None),
        # Changed within the minute in which it was sent: it may change again unseen.
        ({"last-modified": OLD, "date": "Fri, 20 Nov 2026 12:00:30 GMT"}, None),
        ({"last-modified": OLD, "date": "Fri, 20 Nov 2026 12:01:00 GMT"}, (None, OLD)),
        # Dynamic pages that call themselves new at each visit, and clocks that are ahead.
        ({"last-modified": "Sat, 21 Nov 2026 12:00:00 GMT"}, None),
        ({"last-modified": "Sun, 22 Nov 2026 12:00:00 GMT"}, None),
    ],
)
def test_only_what_names_one_state_of_a_page_is_kept(headers, expected):
    found = validators_in(headers, NOW)
    assert found == (expected and Validators(*expected))


@pytest.mark.parametrize("value", [None, "x", {}, {"parser": "p"}, {"etag": ""}])
def test_meta_without_a_state_asks_for_nothing(value):
    assert from_meta(value) is None


class Rig:
    """Both middlewares around one leased request."""

    def __init__(self, meta: dict[str, Any]) -> None:
        made: Any = Crawler(FrontierSpider, {})
        made.stats = self.stats = MemoryStatsCollector(made)
        made.spider = self.spider = FrontierSpider(name="x")
        self.ask, self.answer = Ask.from_crawler(made), Answer.from_crawler(made)
        self.inflight = worker_of(made).inflight
        self.ended: list[InFlight] = []
        self.inflight.connect(self.ended.append, lambda *_: 1.0)
        self.parser = storage_of(made).parser(URL)
        self.request = Request(URL, meta=meta)
        lease = Lease(id="1", token="t", slot_ms=0, deliveries=0, stored=b"4000 shop.example\n")
        self.entry = self.inflight.begin(self.request, lease)

    def sent(self) -> set[str]:
        self.ask.process_request(self.request)
        names = {name.decode() for name in self.request.headers}
        return names & {"If-None-Match", "If-Modified-Since"}

    def got(self, status: int = 304, **headers: str) -> Request | Response:
        return self.answer.process_response(self.request, Response(URL, status, headers=headers))


def known(parser: str | None = None, **more: str) -> dict[str, Any]:
    version = parser or parser_version(FrontierSpider(name="x"))
    return {KEY: {"etag": '"a"', "modified": OLD, "parser": version, **more}, m.SITE_ID: "s"}


def test_a_known_state_is_sent_for_one_download_only():
    rig = Rig(known())
    assert rig.sent() == {"If-None-Match", "If-Modified-Since"}
    assert "headers" not in to_fields(rig.request, rig.spider)


def test_another_parser_must_see_the_page_itself():
    assert Rig(known(parser="older")).sent() == set()


def test_a_redirect_leads_to_a_page_whose_state_is_unknown():
    rig = Rig(known())
    rig.sent()
    rig.request.meta["redirect_urls"] = ["https://shop.example/old"]
    assert rig.sent() == set()
    assert KEY not in rig.request.meta


def test_304_ends_the_request_and_holds_its_lease_until_it_is_stored():
    rig = Rig(known())
    rig.sent()
    with pytest.raises(IgnoreRequest):
        rig.got(ETag='W/"a"')
    # This storage was never opened: what it could not take must be tried again.
    rig.inflight.record_finished(rig.request)
    assert [entry.kind for entry in rig.ended] == ["store"]
    assert rig.stats.get_value("seine/not_modified") == 1


@pytest.mark.parametrize("meta", [{}, known(parser="older")])
def test_304_that_nobody_asked_for_is_a_failure(meta):
    rig = Rig(meta)
    rig.sent()
    copy = rig.got()
    assert isinstance(copy, Request)
    assert rig.entry.kind == "protocol"
    assert "no condition" in rig.entry.reason


def test_304_about_another_state_brings_the_page_at_the_next_try():
    rig = Rig(known())
    rig.sent()
    copy = rig.got(ETag='"b"')
    assert isinstance(copy, Request)
    assert KEY not in copy.meta
    assert "If-None-Match" not in copy.headers


def test_a_spider_that_asks_for_304_gets_it():
    rig = Rig({"handle_httpstatus_list": [304]})
    assert isinstance(rig.got(), Response)


def test_the_state_of_a_page_is_noted_and_that_of_an_error_is_not():
    rig = Rig({})
    rig.got(status=404, ETag='"e"')
    assert rig.entry.seen is None
    rig.got(status=200, ETag='"p"')
    assert rig.entry.seen == Validators('"p"')


def test_each_site_file_has_a_parser_version_of_its_own():
    versions = {parser_version(site) for site in (Site(), QuotesToScrape())}
    assert len(versions) == 2
    assert parser_version(Site()) in versions


def test_the_parser_version_counts_the_word_tables_and_the_folders_inside():
    """Another word list reads another thing on the same page."""
    names = {name for name, _ in _files(resources.files("crawler.extract"), "")}
    assert {"default_parser.py", "words/de.toml", "words/__init__.py"} <= names
    assert not [name for name in names if "__pycache__" in name]
