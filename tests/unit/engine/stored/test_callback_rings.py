"""Callbacks that lead to each other, and of which one reads what the other changes."""

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from scrapy import Spider
from scrapy.spiders import CSVFeedSpider

from scrapy_seine.engine.stored.spider_state import own_state


class PagesInARing(Spider):
    """A list notes its pages, its pager looks there and leads to a list again; an item to none."""

    seen: ClassVar[dict[str, set[str]]] = {}

    def parse(self, response: Any) -> Iterator[Any]:
        yield response.follow("/list", self.parse_list)

    def parse_list(self, response: Any) -> Iterator[Any]:
        self.seen.setdefault(response.url, set())
        yield response.follow("/item", self.parse_item)
        yield response.follow("/pager", self.parse_pager)

    def parse_item(self, response: Any) -> None:
        self.seen["items"].add(response.url)

    def parse_pager(self, response: Any) -> Iterator[Any]:
        if response.text not in self.seen[response.url]:
            yield response.follow(response.text, self.parse_list)


class RowsInARing(CSVFeedSpider):
    """Scrapy calls `parse_row` within `parse`, which is the callback that a request has."""

    seen: ClassVar[dict[str, str]] = {}

    def parse_row(self, response: Any, row: Any) -> Iterator[Any]:
        self.seen[row["id"]] = response.url
        yield response.follow(row["next"], self.parse_pager)

    def parse_pager(self, response: Any) -> Iterator[Any]:
        if response.url not in self.seen:
            yield response.follow(response.text, callback=self.parse_row)


@pytest.mark.parametrize(
    ("kind", "read_by"),
    [
        (PagesInARing, {"parse_list": {"seen"}, "parse_pager": {"seen"}}),
        (RowsInARing, {"parse": {"seen"}, "parse_pager": {"seen"}}),
    ],
)
def test_a_callback_that_changes_what_one_behind_it_reads_stays_with_it(
    kind: type[Spider], read_by: dict[str, set[str]]
) -> None:
    """A list's page in another worker would note what the pager here looks for."""
    assert own_state(kind).read_by == read_by
