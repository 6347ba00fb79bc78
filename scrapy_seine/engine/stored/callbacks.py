"""Which methods of a spider a stored request may name: those that its own classes define for that.

A stored request comes from whoever can write to Redis. It may name what the author of the spider
wrote to be called with a page, and nothing of what Scrapy, scrapy-redis or this engine gave the
spider besides: `_set_crawler` of a base class would run, and spoil the worker.
"""

from __future__ import annotations

import inspect
from typing import Any
from weakref import WeakKeyDictionary

#: Classes of these packages are not the spider's own.
_FRAMEWORKS = ("scrapy", "scrapy_redis", "scrapy_seine.engine", "builtins", "typing", "abc")
#: Callbacks that Scrapy's own generic spiders give their requests.
_GENERIC = {
    "CrawlSpider": ("parse_start_url", "_callback", "_errback"),
    "SitemapSpider": ("_parse_sitemap",),
}
#: Hooks that Scrapy calls where a spider has them.
_HOOKS = frozenset({"closed", "start_requests"})
#: First parameter of a private method that is meant to be called with a page or a failure.
_CALLED_WITH = frozenset({"response", "failure"})
_known: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()


def _is_own(kind: type) -> bool:
    module = kind.__module__
    return not any(module == name or module.startswith(f"{name}.") for name in _FRAMEWORKS)


def own_classes(kind: type) -> list[type]:
    """Classes of a spider that neither Scrapy, scrapy-redis nor this engine brought, in order."""
    return [base for base in kind.__mro__ if _is_own(base)]


def _takes_a_page(method: Any, *, private: bool) -> bool:
    """Whether a method takes an argument beside self, a private one a response or a failure."""
    if isinstance(method, type | staticmethod | classmethod | property):
        return False
    if not inspect.isroutine(method):
        return False
    try:
        parameters = list(inspect.signature(method).parameters.values())[1:]
    except (TypeError, ValueError):  # compiled, without a signature
        return not private
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        return False
    return not private or parameters[0].name in _CALLED_WITH


def callbacks_of(kind: Any) -> frozenset[str]:
    """Names of the methods of a spider's class that a request may have as callback or errback.

    These are methods that the spider's own classes define, whose names no base class of a
    framework has (but for `parse`), and that take a page; a private one only where it calls its
    first parameter `response` or `failure`. What Scrapy's generic spiders give their requests
    comes on top.
    """
    found = _known.get(kind)
    if found is None:
        found = _known[kind] = _callbacks(kind)
    return found


def _callbacks(kind: Any) -> frozenset[str]:
    own = own_classes(kind)
    given = [base for base in kind.__mro__ if not _is_own(base)]
    taken = {name for base in given for name in vars(base)} - {"parse"} | _HOOKS
    found = {name for base in given for name in _GENERIC.get(base.__name__, ())}
    for name in {name for base in own for name in vars(base)} - taken:
        method = inspect.getattr_static(kind, name)
        if not name.startswith("__") and _takes_a_page(method, private=name.startswith("_")):
            found.add(name)
    return frozenset(found)
