"""The examples in the docstrings of operations and dashboard are true."""

import doctest
import importlib

import pytest

MODULES = (
    *(
        "crawler.ops.domains",
        "crawler.ops.ladder",
        "crawler.ops.screens",
        "crawler.ops.tallies",
        "crawler.ops.words",
    ),
    *("crawler.dashboard.actions", "crawler.dashboard.charts", "crawler.dashboard.config"),
    *("crawler.dashboard.html", "crawler.dashboard.layout", "crawler.dashboard.pages.overview"),
    "crawler.dashboard.pages.products",
)


@pytest.mark.parametrize("name", MODULES)
def test_an_example_shows_what_happens(name):
    done = doctest.testmod(importlib.import_module(name))

    assert done.attempted
    assert done.failed == 0
