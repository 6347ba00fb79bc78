"""Scrapy's features: a spider for each, crawled plain and with the add-on's line, then compared.

`catalogue` is what a row of docs/scrapy-features.md is made of. `run` crawls all of them in one
process, as a script with `AsyncCrawlerRunner` does; `site` answers, and remembers who asked when.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from tests.integration.features.catalogue import FEATURES, Feature

SECTIONS = ("pace", "bounds", "answers", "items", "parts")


def features() -> Sequence[Feature]:
    """All of them, in the page's order."""
    for name in SECTIONS:
        import_module(f"{__name__}.{name}")
    return FEATURES
