"""Validation of a site file's declarations, before any page is read with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

import attrs

from crawler.extract.site import Site, select_compiled
from crawler.items import Product
from scrapy_seine.misspelt_names import did_you_mean

_FIELDS = frozenset(field.name for field in attrs.fields(Product))
#: Similarity, 0 to 1, from which on a name counts as another name misspelt.
_ALIKE = 0.75
_DAY_MS = 86_400_000
_LANES = frozenset({"plain", "tls", "browser"})


def mistakes(kind: type[Site]) -> Iterator[tuple[str, str]]:
    """Yield each attribute that is unknown or has an invalid value, with the reason."""
    for name, similar_name in _misspelt(kind):
        yield name, f"a site has no {name}; did you mean {similar_name}?"
    for name, check in _CHECKS.items():
        value = getattr(kind, name)
        if (reason := check(value)) is not None:
            yield name, f"{name} = {_shortened(value)}: {reason}"


def _misspelt(kind: type[Site]) -> Iterator[tuple[str, str]]:
    """Yield unknown attributes with the name that each resembles; helpers resemble none."""
    declared = [name for name in vars(Site) if not name.startswith("_")]
    file_values = {
        name: value
        for base in kind.__mro__[:-1]
        if base not in Site.__mro__
        for name, value in vars(base).items()
    }
    for name, value in file_values.items():
        if name.startswith("_") or name in declared or callable(value) or not name.islower():
            continue
        if alike := get_close_matches(name, declared, 1, _ALIKE):
            yield name, alike[0]


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, str) else "a text is needed"


def _texts(value: Any) -> str | None:
    if isinstance(value, list | tuple) and all(isinstance(item, str) and item for item in value):
        return None
    return "a tuple of texts is needed" + (", as (…,)" if isinstance(value, str) else "")


def _number(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return None
    return "a number of at least 0 is needed"


def _whole_number(value: Any) -> str | None:
    if value is None or (isinstance(value, int) and _number(value) is None):
        return None
    return "a whole number of at least 0 is needed"


def _pause(value: Any) -> str | None:
    if (fault := _whole_number(value)) is not None or value is None or value <= _DAY_MS:
        return fault
    return f"at most {_DAY_MS} (a day) is possible"


def _count(value: Any) -> str | None:
    if value is None or (_whole_number(value) is None and value > 0):
        return None
    return "a whole number of at least 1 is needed: by 0 none of its pages would ever be asked for"


def _pattern(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        return "a regular expression is needed"
    try:
        re.compile(value)
    except re.error as error:
        return f"no regular expression: {error}"
    return None


def _patterns(value: Any) -> str | None:
    return _texts(value) or next((fault for item in value if (fault := _pattern(item))), None)


def _names(value: Any) -> str | None:
    if (fault := _texts(value)) is not None:
        return fault
    unknown = [name for name in value if name not in _FIELDS]
    return _no_field(unknown) if unknown else None


def _no_field(names: Sequence[str]) -> str:
    return f"a product has no {', '.join(names)}{did_you_mean(names[0], _FIELDS)}"


def _selectors(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "a mapping of fields to selectors is needed"
    for name, selector in value.items():
        if name not in _FIELDS:
            return _no_field([name])
        if not isinstance(selector, str):
            return f"the selector of {name} is no text"
        try:
            select_compiled(selector)
        except Exception as error:  # parsers of selectors have many errors
            return f"the selector of {name} cannot be read: {error}"
    return None


def _hosts(value: Any) -> str | None:
    if (fault := _texts(value)) is not None:
        return fault
    invalid = [host for host in value if any(c in "/*" or c.isspace() for c in host)]
    return f"{invalid[0]!r} is no host name" if invalid else None


def _urls(value: Any) -> str | None:
    if (fault := _texts(value)) is not None:
        return fault
    invalid = [url for url in value if not _is_url(url)]
    return f"{invalid[0]!r} is no URL with http:// or https:// in front" if invalid else None


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port  # both raise for what they cannot be
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(host) and len(text.split()) == 1


def _lane(value: Any) -> str | None:
    return None if value is None or value in _LANES else f"a lane is one of {sorted(_LANES)}"


_CHECKS: Mapping[str, Callable[[Any], str | None]] = {
    "domains": _hosts,
    "name": _text,
    "seeds": _urls,
    "fields": _selectors,
    "product_pages": _pattern,
    "allow": _patterns,
    "deny": _patterns,
    "lane": _lane,
    "identity": _text,
    "proxy_pool": _text,
    "delay_ms": _pause,
    "concurrency": _count,
    "required": _names,
    "schedule": _text,
    "sitemaps": _urls,
    "watch_s": _number,
    "recrawl_s": _number,
    "budget": _whole_number,
}
