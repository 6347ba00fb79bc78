"""A page that is done is freed at once, and cycles of others after so many bytes of pages."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from scrapy.http import HtmlResponse, Response
from twisted.python.failure import Failure

from scrapy_seine.engine.reading.freed_pages import COLLECT_BYTES, PageMemory


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def page() -> HtmlResponse:
    return HtmlResponse("http://shop.invalid/", body=b"<h1>Lamp</h1>", encoding="utf-8")


@pytest.mark.usefixtures("no_collector")
def test_a_page_read_by_its_selector_needs_no_collector_to_be_freed() -> None:
    response = page()
    assert response.css("h1::text").get() == "Lamp"
    freed = weakref.ref(response)

    PageMemory().free(response, 13)
    del response

    assert freed() is None


def test_who_keeps_a_page_reads_it_as_before() -> None:
    response = page()
    heading = response.css("h1")[0]

    PageMemory().free(response, 13)

    assert heading.css("::text").get() == response.css("h1::text").get() == "Lamp"


def test_bytes_of_pages_decide_when_cycles_are_collected() -> None:
    collected: list[int] = []
    memory = PageMemory(lambda: collected.append(1))

    for _ in range(7):
        memory.free(Response("http://shop.invalid/a.bin"), COLLECT_BYTES // 4)

    assert len(collected) == 1
    memory.free(Failure(ValueError()), COLLECT_BYTES)  # type: ignore[no-untyped-call]
    assert len(collected) == 2


def test_the_bytes_of_pages_are_counted_from_nothing_again() -> None:
    collected: list[int] = []
    memory = PageMemory(lambda: collected.append(1))
    for size, times in ((COLLECT_BYTES - 1, 0), (1, 1), (COLLECT_BYTES - 1, 1), (1, 2)):
        memory.free(None, size)
        assert len(collected) == times
