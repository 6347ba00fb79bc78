"""The examples in the docstrings of politeness say the truth."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = (
    "scrapy_seine.politeness.retry_after",
    "scrapy_seine.politeness.robots",
    "scrapy_seine.frontier.lateness",
    "scrapy_seine.frontier.server_clock",
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_hold(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0
