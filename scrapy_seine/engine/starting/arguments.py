"""Arguments (-a) that a spider does not have, or that workers of one crawl do not share.

Scrapy sets what `-a` names as an attribute, silently. A spider that declares its arguments has no
others, so that another name ends the start. Which arguments any other spider has is not known: a
name is doubted where no method of the spider uses it and it resembles one that the spider has. A
name with an underscore first is never judged, because it is the launcher's own: Scrapyd gives each
job `_job`.
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

from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import did_you_mean

logger = logging.getLogger(__name__)
#: How alike two names must be, of 1, to take one for the other misspelt.
_ALIKE = 0.75
_GIVEN = frozenset({"name", "crawler", "settings", "state", "start_urls"})


def refuse_undeclared(kind: type[Spider], given: Iterable[str]) -> None:
    """End the start where -a names nothing that a spider which declares its arguments has.

    A class declares them itself, in `arguments`: a class that is derived from it may have others.

    Raises:
        ConfigError: with what may be meant.
    """
    if (known := vars(kind).get("arguments")) is None:
        return
    for name in given:
        if name not in known and not _is_launchers(name) and not hasattr(kind, name):
            meant = did_you_mean(name, known) or f"; there is {', '.join(known)}"
            raise ConfigError(f"-a {name}=…: spider {kind.name} has no such argument{meant}")


def warn_of_others(crawl: str, run: int, *, here: bool, differs: bool) -> None:
    """Say that spiders of unlike arguments share a crawl, because each takes all requests.

    *here*: another spider of this process works on it; *differs*: the run was begun with others.
    """
    if here:
        who = f"another spider of this process works on crawl {crawl!r}"
    elif differs:
        who = f"run {run} of crawl {crawl!r} was begun with other arguments (-a)"
    else:
        return
    text = "%s: each takes requests of both; set SEINE_CRAWL to another name where they differ"
    logger.warning(text, who)


def digest(command: Sequence[str]) -> str:
    """Tell what a command gives its spider by -a from what another one does; '' where by nothing.

    Values may be secret, so that no more of them than this is stored.

    >>> digest(["crawl", "-a", "k=1", "-ax=2"]) == digest(["crawl", "-a", "x=2", "-a", "k=1"])
    True
    >>> digest(["crawl", "-a", "k=2"]) == digest(["crawl", "-a", "k=1"])
    False
    >>> digest(["crawl", "-a", "_job=7"])
    ''
    """
    pairs = [after for word, after in pairwise(command) if word == "-a"]
    pairs += [word[2:] for word in command if word.startswith("-a") and "=" in word]
    given = sorted({pair for pair in pairs if "=" in pair and not _is_launchers(pair)})
    return sha256("\n".join(given).encode("utf-8", "replace")).hexdigest()[:16] if given else ""


def misspelt(spider: Spider) -> dict[str, str]:
    """Arguments that no method of the spider names, each with the parameter that it resembles."""
    kinds = [kind for kind in type(spider).__mro__ if kind is not object]
    given = {name for name, value in vars(spider).items() if isinstance(value, str)} - _GIVEN
    parameters = {name for kind in kinds for name in _parameters(kind)}
    asked = parameters | {name for kind in kinds for name in vars(kind) if not _is_launchers(name)}
    unknown = {name for name in given - asked if not _is_launchers(name)}
    used = {name for kind in kinds for name in _named_in(kind)} if unknown else set()
    found = {name: _alike(name, asked, parameters) for name in sorted(unknown - used)}
    return {name: alike for name, alike in found.items() if alike}


def _alike(name: str, asked: set[str], parameters: set[str]) -> str:
    """What a name is taken for: Url and start_url for the parameter url; '' where for nothing."""
    lower = name.lower()
    for known in sorted(parameters):
        if known.lower() == lower or known in lower.split("_"):
            return known
    return next(iter(get_close_matches(lower, asked, 1, _ALIKE)), "")


def _is_launchers(name: str) -> bool:
    return name.startswith("_")


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
