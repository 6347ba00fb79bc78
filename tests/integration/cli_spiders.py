"""A spider for the tests of the commands."""

from __future__ import annotations

from typing import Any

from scrapy_seine.engine.spider import FrontierSpider


class Plain(FrontierSpider):
    """Follows nothing and keeps nothing."""

    name = "plain"

    def parse(self, response: Any, **kwargs: Any) -> None:
        """Do nothing with a page."""
