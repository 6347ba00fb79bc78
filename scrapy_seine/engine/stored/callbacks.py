"""Which methods of a spider a stored request may name, and the name by which each is stored.

A stored request comes from whoever can write to Redis. It may name what the author of the spider
wrote to be called with a page, and nothing of what Scrapy, scrapy-redis or this engine gave the
spider besides: `_set_crawler` of a base class would run, and spoil the worker.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from scrapy import Spider

from scrapy_seine.errors import EncodeError

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
    return _callbacks(kind)


@lru_cache(maxsize=64)  # a dictionary of weak references takes four times as long
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


def method_name(spider: Spider, function: Any, url: str) -> str | None:
    """Return the name by which a callback is stored: that of a spider's own method.

    Raises:
        EncodeError: it is a lambda, a function, another object's method, or none that a stored
            request may name.
    """
    if function is None:
        return None
    name = str(getattr(function, "__name__", ""))
    if getattr(function, "__self__", None) is not spider:
        raise EncodeError(f"{url}: {function!r} is not a method of spider {spider.name!r}")
    if getattr(spider, name, None) != function:
        name = _other_name(spider, function)
    if not name:
        raise EncodeError(f"{url}: {function!r} has no name in spider {spider.name!r}")
    if name not in callbacks_of(type(spider)):
        raise EncodeError(f"{url}: {no_callback(spider, name)}")
    return name


def _other_name(spider: Spider, method: Any) -> str:
    """Name by which a spider has a method that is called otherwise; '' where it has none.

    A decorator without functools.wraps gives its methods its own function's name. A method that the
    spider's class has overridden (`super().parse`) has no name.
    """
    names = sorted(callbacks_of(type(spider)))
    return next((name for name in names if getattr(spider, name, None) == method), "")


def no_callback(spider: Spider, name: object) -> str:
    """Say why a stored request may not name a method."""
    return (
        f"{str(name)[:80]!r} is no callback of spider {spider.name!r}: that is a method of its own "
        "classes that takes a page, public or with a first parameter named response or failure"
    )
