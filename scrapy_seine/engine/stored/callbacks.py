"""Which methods of a spider a stored request may name, and under which name each is stored.

Anybody who can write to Redis can write a stored request. It may name methods that the spider's
author wrote to be called with a page, and none that Scrapy, scrapy-redis or this engine added:
`_set_crawler` of a base class, for instance, would break the worker.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from scrapy import Request, Spider
from scrapy.spiders import CrawlSpider, Rule

from scrapy_seine.engine.fastpath.scrapy_internals import rules_of
from scrapy_seine.errors import EncodeError

#: Classes of these packages are not the spider's own.
_FRAMEWORKS = ("scrapy", "scrapy_redis", "scrapy_seine.engine", "builtins", "typing", "abc")
#: Callbacks that Scrapy's own generic spiders set on their requests.
_OF_RULES = ("_callback", "_errback")
_GENERIC = {
    "CrawlSpider": ("parse_start_url", *_OF_RULES),
    "SitemapSpider": ("_parse_sitemap",),
}
#: Hooks that Scrapy calls if a spider has them.
_HOOKS = frozenset({"closed", "start_requests"})
#: First parameter of a private method that is meant to be called with a page or a failure.
_CALLED_WITH = frozenset({"response", "failure"})


def rule_of(call: Any, request: Request) -> Rule | None:
    """Return the rule that a CrawlSpider's own callback or errback of a request is for.

    None for a method of the same name that the spider's author wrote: it handles what it gets.
    """
    spider, name = getattr(call, "__self__", None), getattr(call, "__name__", "")
    if name not in _OF_RULES or not isinstance(spider, CrawlSpider):
        return None
    if getattr(call, "__func__", None) is not getattr(CrawlSpider, name, None):
        return None
    rules, number = rules_of(spider), request.meta.get("rule")
    return rules[number] if isinstance(number, int) and 0 <= number < len(rules) else None


def _is_own(kind: type) -> bool:
    module = kind.__module__
    return not any(module == name or module.startswith(f"{name}.") for name in _FRAMEWORKS)


def own_classes(kind: type) -> list[type]:
    """Return the spider's own classes, which no framework defines, in order."""
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
    """Return the methods of a spider's class that a request may name as callback or errback.

    These are methods that the spider's own classes define, that no framework's base class has
    (except `parse`), and that take a page; a private one only if its first parameter is called
    `response` or `failure`. Callbacks of Scrapy's generic spiders are added.
    """
    return _callbacks(kind)


@lru_cache(maxsize=64)  # a dictionary of weak references takes four times as long
def _callbacks(kind: Any) -> frozenset[str]:
    own_bases = own_classes(kind)
    framework_bases = [base for base in kind.__mro__ if not _is_own(base)]
    reserved = {name for base in framework_bases for name in vars(base)} - {"parse"} | _HOOKS
    names = {name for base in framework_bases for name in _GENERIC.get(base.__name__, ())}
    for name in {name for base in own_bases for name in vars(base)} - reserved:
        method = inspect.getattr_static(kind, name)
        if not name.startswith("__") and _takes_a_page(method, private=name.startswith("_")):
            names.add(name)
    return frozenset(names)


def method_name(spider: Spider, function: Any, url: str) -> str:
    """Return the name under which a callback is stored: that of a spider's own method.

    Raises:
        EncodeError: it is a lambda, a function, another object's method, or one that a stored
        request may not name.
    """
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
    """Return another name by which a spider has a method; '' if it has none.

    A decorator without functools.wraps gives its methods its own function's name. A method that the
    spider's class has overridden (`super().parse`) has no name.
    """
    names = sorted(callbacks_of(type(spider)))
    return next((name for name in names if getattr(spider, name, None) == method), "")


def no_callback(spider: Spider, name: object) -> str:
    """Return why a stored request may not name a method."""
    return (
        f"{str(name)[:80]!r} is no callback of spider {spider.name!r}: that is a method of its own "
        "classes that takes a page, public or with a first parameter named response or failure"
    )
