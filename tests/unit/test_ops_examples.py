"""The examples in the docstrings of operations and dashboard are true."""

import doctest
import importlib

import pytest

MODULES = (
    *(
        "scrapy_seine.reads.domains",
        "crawler.reads.ladder",
        "crawler.reads.crawl_words",
        "scrapy_seine.reads.screens",
        "scrapy_seine.reads.outcome_counts",
        "scrapy_seine.reads.formatting",
    ),
    *("crawler.dashboard.actions", "crawler.dashboard.charts", "crawler.dashboard.config"),
    *("crawler.dashboard.html", "crawler.dashboard.layout", "crawler.dashboard.pages.overview"),
    *("crawler.dashboard.pages.products", "crawler.stores.formats"),
)


@pytest.mark.parametrize("name", MODULES)
def test_an_example_shows_what_happens(name):
    done = doctest.testmod(importlib.import_module(name))

    assert done.attempted
    assert done.failed == 0
