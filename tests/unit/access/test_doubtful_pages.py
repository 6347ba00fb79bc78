"""Names of pages that are fetched again, in the meta of the request that showed the need."""

from __future__ import annotations

import pytest
from scrapy import Request

from crawler.access.proxies.doubtful_pages import AGAIN, DOUBTFUL, name_of, note, pages_of
from middlewares.same_answers import _LOOK
from middlewares.ways_out import _LED
from scrapy_seine import meta as m
from scrapy_seine.errors import BadMeta

URL = "http://shop.example/a b"


def test_a_name_holds_the_address_that_was_asked_for_first() -> None:
    led = Request("http://shop.example/new", meta={"redirect_urls": [URL], AGAIN: 1})
    assert pages_of([name_of(led)]) == [(2, URL)]
    assert not name_of(Request(URL, callback=lambda _: None)), "another callback reads it"


def test_a_page_is_not_fetched_again_for_ever() -> None:
    request, times = Request(URL), 0
    while name := name_of(request):
        [(times, url)] = pages_of([name])
        request = Request(url, meta={AGAIN: times})
    assert 1 < times < 10


def test_pages_are_noted_once() -> None:
    request = Request(URL)
    note(request, [])
    assert DOUBTFUL not in request.meta
    note(request, ["0 /a", "0 /b"])
    note(request, ["0 /b", "0 /c"])
    assert request.meta[DOUBTFUL] == ["0 /a", "0 /b", "0 /c"]


@pytest.mark.parametrize("key", [DOUBTFUL, AGAIN, _LOOK, _LED])
def test_no_seed_sets_them(key: str) -> None:
    """A wrong value would raise in each page that comes back."""
    with pytest.raises(BadMeta):
        m.check({key: ["x"]}, m.SEED)
