"""Names of pages that are fetched again."""

from __future__ import annotations

import pytest
from scrapy import Request

from crawler.access.proxies.doubtful_pages import AGAIN, is_last, name_of, page_of
from middlewares.same_answers import _LOOK
from scrapy_seine import meta as m
from scrapy_seine.errors import BadMeta

URL = "http://shop.example/a b"


def test_a_name_holds_the_address_that_was_asked_for_first() -> None:
    led = Request("http://shop.example/new", meta={"redirect_urls": [URL], AGAIN: 1})
    assert page_of(name_of(led)) == (2, URL)
    assert not name_of(Request(URL, callback=lambda _: None)), "another callback reads it"


def test_a_page_is_not_fetched_again_for_ever() -> None:
    request, times = Request(URL), 0
    while name := name_of(request):
        times, url = page_of(name)
        request = Request(url, meta={AGAIN: times})
    assert 1 < times < 10
    assert is_last(request)


@pytest.mark.parametrize("key", [AGAIN, _LOOK])
def test_no_seed_sets_them(key: str) -> None:
    """A wrong value would raise in each page that comes back."""
    with pytest.raises(BadMeta):
        m.check({key: ["x"]}, m.SEED)
