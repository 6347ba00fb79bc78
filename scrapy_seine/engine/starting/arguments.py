"""Arguments (-a) that a spider does not have, or that workers of one crawl do not share.

Scrapy sets what `-a` names as an attribute, silently. A spider that declares its arguments has no
others, so that another name ends the start. Of other spiders the arguments are unknown: a name is
reported if no method of the spider uses it and it resembles one that the spider has. A name with a
leading underscore is never reported, because it is the launcher's own: Scrapyd gives each job
`_job`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from hashlib import sha256
from itertools import pairwise
from types import CodeType

from scrapy import Spider
from scrapy_redis.spiders import RedisMixin

from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import did_you_mean

logger = logging.getLogger(__name__)
#: Similarity of two names, of 1, at which one is taken for the other misspelt.
_ALIKE = 0.75
_GIVEN = frozenset({"name", "crawler", "settings", "state", "start_urls"})


def refuse_undeclared(kind: type[Spider], names: Iterable[str]) -> None:
    """Raise if -a names an argument that a spider with declared arguments does not have.

    A class declares them itself, in `arguments`: a subclass may have others.

    Raises:
        ConfigError: with the likely correct name.
    """
    if (arguments := vars(kind).get("arguments")) is None:
        return
    for name in names:
        if name not in arguments and not _is_launchers(name) and not hasattr(kind, name):
            suggestion = did_you_mean(name, arguments) or f"; there is {', '.join(arguments)}"
            raise ConfigError(f"-a {name}=…: spider {kind.name} has no such argument{suggestion}")


def warn_of_others(crawl: str, run: int, *, is_same_process: bool, differs: bool) -> None:
    """Log that spiders with different arguments share a crawl, because each gets all requests.

    *is_same_process*: another spider of this process works on the crawl; *differs*: the run began
    with other arguments.
    """
    if is_same_process:
        other_user = f"another spider of this process works on crawl {crawl!r}"
    elif differs:
        other_user = f"run {run} of crawl {crawl!r} was begun with other arguments (-a)"
    else:
        return
    text = "%s: each takes requests of both; set SEINE_CRAWL to another name where they differ"
    logger.warning(text, other_user)


def digest(command: Sequence[str]) -> str:
    """Hash the -a arguments of a command, to compare them with another's; '' if there are none.

    Only this hash is stored, because values may be secret.

    >>> digest(["crawl", "-a", "k=1", "-ax=2"]) == digest(["crawl", "-a", "x=2", "-a", "k=1"])
    True
    >>> digest(["crawl", "-a", "k=2"]) == digest(["crawl", "-a", "k=1"])
    False
    >>> digest(["crawl", "-a", "_job=7"])
    ''
    """
    pairs = [argument for word, argument in pairwise(command) if word == "-a"]
    pairs += [word[2:] for word in command if word.startswith("-a") and "=" in word]
    arguments = sorted({pair for pair in pairs if "=" in pair and not _is_launchers(pair)})
    return (
        sha256("\n".join(arguments).encode("utf-8", "replace")).hexdigest()[:16]
        if arguments
        else ""
    )


def has_unread_start(kind: type[Spider]) -> bool:
    """Whether a spider's own `start_requests` is never called, because Scrapy calls `start` alone.

    >>> has_unread_start(type("Old", (Spider,), {"start_requests": None}))
    True
    >>> has_unread_start(type("Both", (Spider,), {"start_requests": None, "start": None}))
    False

    The start of a RedisSpider only pops seeds, which the worker claims in its place.

    >>> has_unread_start(type("Popping", (RedisMixin, Spider), {}))
    False
    """
    for each in kind.__mro__:
        if "start" in vars(each) or each is RedisMixin:
            return False
        if "start_requests" in vars(each):
            return True
    return False


def misspelt(spider: Spider) -> dict[str, str]:
    """Return arguments that no method of the spider uses, each with the name that it resembles."""
    kinds = [kind for kind in type(spider).__mro__ if kind is not object]
    attributes = {name for name, value in vars(spider).items() if isinstance(value, str)} - _GIVEN
    parameters = {name for kind in kinds for name in _parameters(kind)}
    names = parameters | {name for kind in kinds for name in vars(kind) if not _is_launchers(name)}
    unknown = {name for name in attributes - names if not _is_launchers(name)}
    used_names = {name for kind in kinds for name in _named_in(kind)} if unknown else set()
    similar = {name: _alike(name, names, parameters) for name in sorted(unknown - used_names)}
    return {name: alike for name, alike in similar.items() if alike}


def _alike(name: str, names: set[str], parameters: set[str]) -> str:
    """Return the parameter a name is taken for, as url for Url and start_url; '' for none."""
    lower = name.lower()
    for parameter in sorted(parameters):
        if parameter.lower() == lower or parameter in lower.split("_"):
            return parameter
    return next(iter(get_close_matches(lower, names, 1, _ALIKE)), "")


def _is_launchers(name: str) -> bool:
    return name.startswith("_")


def _parameters(kind: type) -> Iterator[str]:
    method = vars(kind).get("__init__")
    if inspect.isfunction(method):
        yield from list(inspect.signature(method).parameters)[1:]


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
