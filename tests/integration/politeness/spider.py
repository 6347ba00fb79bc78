"""A spider that asks for pages and looks at nothing."""

from __future__ import annotations

from typing import Any

from crawler.engine.spider import FrontierSpider


class PoliteSpider(FrontierSpider):
    """Seeds only."""

    name = "polite"

    def parse(self, response: Any) -> None:
        """Nothing to find."""
