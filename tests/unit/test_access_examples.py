"""The examples in the docstrings of access, its middlewares and its commands are true."""

import doctest

import pytest

from crawler.access import detect, ladder, profiles, proxies, state
from crawler.commands import domains
from crawler.demo import hostile
from middlewares import render

MODULES = [detect, ladder, profiles, proxies, state, domains, hostile, render]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_in_the_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0
