"""A misspelt `-a` argument is named; one that the spider uses in any way is not."""

from __future__ import annotations

import pytest
from scrapy import Spider

from scrapy_seine.engine.arguments import misspelt
from scrapy_seine.engine.spider import FrontierSpider


class Own(Spider):
    name = "own"
    category = "all"
    tag: str

    def parse(self, response: object) -> object:
        return getattr(self, "pages", None), self.tag, response


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (FrontierSpider, {"name": "x", "urls": "http://a/"}, {"urls": "url"}),
        (FrontierSpider, {"name": "x", "url": "http://a/"}, {}),
        (Own, {"categroy": "shoes"}, {"categroy": "category"}),
        (Own, {"category": "shoes", "pages": "3", "tag": "x", "_job": "7"}, {}),
        (Own, {"unlike_any_other": "1"}, {}),
    ],
)
def test_what_resembles_a_parameter_is_named(kind, given, expected) -> None:
    assert misspelt(kind(**given)) == expected
