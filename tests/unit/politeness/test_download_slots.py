"""Slots that a spider names, and filters of a project's own."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from scrapy import Request, Spider
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.test import get_crawler

from scrapy_seine.engine.dupefilter import DupeFilter, dupefilter_of
from scrapy_seine.engine.stored import serializer
from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.model import Lease, Push
from scrapy_seine.politeness.download_slots import OwnSlot

URL = "http://shop.example:8080/a"


class Plain(Spider):
    name = "plain"


def push(slot: Any) -> Push:
    """Store a request of a slot."""
    meta = {} if slot is None else {"download_slot": slot}
    return serializer.to_push(Request(URL, meta=meta), Plain(), fingerprint=1)


def leased(stored: bytes) -> Request:
    """Read a stored request."""
    lease = Lease(id="1", token="1", slot_ms=0, deliveries=0, stored=stored)
    return serializer.from_lease(lease, Plain())


@pytest.mark.parametrize(
    ("slot", "queue"),
    [
        (None, "shop.example:8080"),
        ("shop.example", "shop.example:8080"),
        (OwnSlot("other.example"), "shop.example:8080"),
        ("", "shop.example:8080"),
        ("slow", "slow"),
        ("slow\nones 2", "slow_ones_2"),
        (7, "7"),
        ("x" * 5000, "x" * 200),
    ],
)
def test_a_request_waits_at_the_slot_that_its_spider_names(slot: Any, queue: str) -> None:
    made = push(slot)
    assert made.domain == queue
    request = leased(made.to_stored())
    assert request.url == URL
    own = None if slot is None or isinstance(slot, OwnSlot) else slot
    assert request.meta.get("download_slot") == own


def test_a_stored_request_whose_queue_is_not_its_slot_is_refused() -> None:
    """I5: its pace would be another one's."""
    stored = push("slow").to_stored().replace(b" slow\n", b" fast\n", 1)
    with pytest.raises(DecodeError, match="fast"):
        leased(stored)


class ByPath(RFPDupeFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.paths: set[str] = set()

    def request_seen(self, request: Request) -> bool:
        path = request.url.partition("?")[0]
        seen = path in self.paths
        self.paths.add(path)
        return seen


class Nothing(BaseDupeFilter):
    def request_seen(self, request: Request) -> bool:
        return False


class Broken(RFPDupeFilter):
    def request_seen(self, request: Request) -> bool:
        raise KeyError


def made(kind: type) -> DupeFilter:
    """The filter of a crawler."""
    path = f"{__name__}.{kind.__qualname__}" if kind.__module__ == __name__ else kind
    return dupefilter_of(get_crawler(Plain, {"DUPEFILTER_CLASS": path}))


def test_a_projects_own_filter_is_asked_and_its_fingerprints_still_count() -> None:
    df = made(ByPath)
    first, second = Request("http://a.example/x?1"), Request("http://a.example/x?2")
    number = df.request_fingerprint(first)
    assert number is not None
    assert number != df.request_fingerprint(second)
    assert not df.drops(first, number, was_parsed=False)
    assert df.drops(second, df.request_fingerprint(second), was_parsed=False)
    assert not df.drops(second.replace(dont_filter=True), None, was_parsed=False)


class Telling(RFPDupeFilter):
    told: ClassVar[list[str]] = []

    def log(self, request: Request, spider: Any) -> None:
        self.told.append(request.url)


def test_a_projects_own_filter_tells_of_duplicates_in_its_own_words() -> None:
    made(Telling).log(Request(URL), None)
    made(RFPDupeFilter).log(Request(URL), None)
    assert Telling.told == [URL]


class Polling(RFPDupeFilter):
    def request_seen(self, request: Request) -> bool:
        return not request.meta.get("again") and super().request_seen(request)


def test_what_a_projects_filter_lets_pass_each_time_is_not_filtered() -> None:
    """A public spider asks for one URL until it changes, by a filter that takes its meta's word."""
    df = made(Polling)
    link, polled = Request("http://a.example/x"), Request("http://a.example/x", meta={"again": 1})
    assert not df.drops(link, df.request_fingerprint(link), was_parsed=False)
    assert not df.accepts_repeats(link)  # it remembers
    assert not df.drops(polled, df.request_fingerprint(polled), was_parsed=False)
    assert df.accepts_repeats(polled)
    assert not made(RFPDupeFilter).accepts_repeats(link)


def test_what_a_filter_let_pass_passes_when_its_page_is_read_again() -> None:
    """I3: the links of a reading that failed did not enter."""
    df, link = made(ByPath), Request("http://a.example/x")
    number = df.request_fingerprint(link)
    assert not df.drops(link, number, was_parsed=False)
    assert df.drops(link, number, was_parsed=False)
    assert not df.drops(link, number, was_parsed=True)


@pytest.mark.parametrize("kind", [Nothing, BaseDupeFilter])
def test_a_filter_that_lets_all_pass_filters_nothing(kind: type) -> None:
    df = made(kind)
    assert df.request_fingerprint(Request(URL)) is None
    assert not df.drops(Request(URL), None, was_parsed=False)


@pytest.mark.parametrize("kind", [Nothing, BaseDupeFilter])
def test_without_a_filter_a_start_request_is_still_known_by_its_address(kind: type) -> None:
    """Each of three workers has the same start requests, and one of them enters each."""
    df, page = made(kind), Request("http://a.example/")
    number, force = df.identity_of(Request(URL), None)
    assert number == made(kind).identity_of(Request(URL), None)[0] is not None
    assert force  # the second start request to an address is another one
    assert df.identity_of(Request(URL), page) == (None, False)


def test_a_filter_that_raises_is_no_word_that_all_may_pass() -> None:
    df = made(Broken)
    assert df.request_fingerprint(Request(URL)) is not None
    with pytest.raises(KeyError):
        df.drops(Request(URL), 1, was_parsed=False)
