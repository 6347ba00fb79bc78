"""Misspelt arguments of a spider: Scrapy sets what `-a` names as an attribute, without a word."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from difflib import get_close_matches
from types import CodeType

from scrapy import Spider

#: How alike two names must be, of 1, to take one for the other misspelt.
_ALIKE = 0.75
_GIVEN = frozenset({"name", "crawler", "settings", "state", "start_urls"})


def misspelt(spider: Spider) -> dict[str, str]:
    """Arguments that no method of the spider names, each with the parameter that it resembles."""
    kinds = [kind for kind in type(spider).__mro__ if kind is not object]
    given = {name for name, value in vars(spider).items() if isinstance(value, str)} - _GIVEN
    asked = {name for kind in kinds for name in _parameters(kind)}
    asked |= {name for kind in kinds for name in vars(kind) if not name.startswith("_")}
    unknown = {name for name in given - asked if not name.startswith("_")}
    used = {name for kind in kinds for name in _named_in(kind)} if unknown else set()
    found = {name: get_close_matches(name, asked, 1, _ALIKE) for name in sorted(unknown - used)}
    return {name: alike[0] for name, alike in found.items() if alike}


def _parameters(kind: type) -> Iterator[str]:
    made = vars(kind).get("__init__")
    if inspect.isfunction(made):
        yield from list(inspect.signature(made).parameters)[1:]


def _named_in(kind: type) -> Iterator[str]:
    for part in vars(kind).values():
        function = getattr(part, "__func__", getattr(part, "fget", part))
        if inspect.isfunction(function):
            yield from _names(function.__code__)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _names(constant)
