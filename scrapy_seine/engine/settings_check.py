"""Checks settings for allowed values before any other code reads them.

A wrong value ends the start with one line: setting, value, allowed values. Without the table some
wrong values would be misread (`SEINE_LADDER=On` for "auto"), and some would end in a traceback of
the code that reads them first.

Scrapy's own settings are checked by the type of their default. An application checks against a
table of its own, which includes this one.
"""

from __future__ import annotations

import codecs
import importlib
import json
import logging
import math
import os
import re
import string
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

import attrs
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import LEAST_SECRET, MOST_PARTITIONS, UNSIGNED, SettingsLike
from scrapy_seine.engine.download.private_addresses import AddressPolicy
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import did_you_mean, nearest
from scrapy_seine.printable import redact

#: Characters of a wrong value that are shown.
_SHOWN = 100
_UNSET = object()
_PAIR = 2
_BLANKS = set(string.whitespace)
#: The longest pause between two requests to a site, s: a day, as in a site file.
_DAY_S = 86_400
#: Prefixes of Seine's settings.
OURS = ("SEINE_", "FRONTIER_")


@attrs.frozen(eq=False, repr=False)
class Kind(Value):
    """The values that a setting may have."""

    text: str
    """Description of the allowed values, for error messages."""
    parse: Callable[[Any], Any]
    """Parses a value; returns False or raises if it is wrong."""
    secret: bool = False
    """The value is never shown."""
    place: Literal["", "written", "read"] = ""
    """How the folder or bucket that the value names is used; `scrapy doctor` tries it."""

    def allows(self, value: Any) -> bool:
        """Whether a value is allowed."""
        try:
            return self.parse(value) is not False
        except Exception:  # a value's own methods may raise anything
            return False


def number(low: float = 0.0, high: float = math.inf) -> Kind:
    """Numbers from *low* to *high*; not NaN or infinity."""
    return Kind(
        _span("number", low, high), lambda v: math.isfinite(n := _real(v)) and low <= n <= high
    )


def whole_number(low: float = 0, high: float = math.inf) -> Kind:
    """Whole numbers from *low* to *high*."""
    return Kind(
        _span("whole number", low, high),
        lambda v: _real(v).is_integer() and low <= _real(v) <= high,
    )


def one_of(*words: str, ignore_case: bool = False) -> Kind:
    """One of some words."""
    return Kind(
        f"one of {', '.join(words)}",
        lambda v: (str(v).lower() if ignore_case else str(v)) in words,
    )


def text_like(expression: str, meaning: str) -> Kind:
    """Texts that match an expression."""
    return Kind(meaning, lambda v: isinstance(v, str) and re.fullmatch(expression, v) is not None)


def table_of(kind: Kind) -> Kind:
    """Tables whose values are of a kind, as objects or as JSON."""
    return Kind(
        f"a table (in JSON, if it is a text){_of_each(kind)}",
        lambda v: all(map(kind.allows, dict(json.loads(v) if isinstance(v, str) else v).values())),
    )


def list_of(kind: Kind) -> Kind:
    """Lists of a kind, as objects or separated by commas, as Scrapy reads them."""
    return Kind(
        f"a list (with commas, if it is a text){_of_each(kind)}",
        lambda v: all(map(kind.allows, v.split(",") if isinstance(v, str) and v else v or ())),
    )


def optional(kind: Kind) -> Kind:
    """The same kind, or an empty value."""
    return attrs.evolve(
        kind, text=f"{kind.text}, or empty", parse=lambda v: v in (None, "") or kind.allows(v)
    )


def or_none(kind: Kind) -> Kind:
    """The same kind, or None; an empty text is no table for Scrapy."""
    return attrs.evolve(kind, parse=lambda v: v is None or kind.allows(v))


def place(use: Literal["written", "read"], kind: Kind) -> Kind:
    """Return a kind whose value names a folder or bucket; `scrapy doctor` tries to use it."""
    return attrs.evolve(kind, place=use)


def secret(characters: int, *others: str) -> Kind:
    """Texts of at least this length, or empty, or one of *others*; never shown."""
    text = (
        f"a text of {characters} characters or more, {''.join(f'{o!r}, ' for o in others)}or empty"
    )
    short = {"", *others}
    return Kind(text, lambda v: str(v or "") in short or len(str(v)) >= characters, secret=True)


def _of_each(kind: Kind) -> str:
    return "" if kind is ANY else f", of which each value is {kind.text}"


def _span(noun: str, low: float, high: float) -> str:
    if math.isfinite(low) and math.isfinite(high):
        return f"a {noun} from {low:g} to {high:g}"
    return f"a {noun} of {low:g} or more" if math.isfinite(low) else f"a {noun}"


def _real(value: Any) -> float:
    return float(value)


def _switched(value: Any) -> bool:
    """Check a value as Scrapy's `getbool` reads it."""
    return str(value) in {"True", "true", "False", "false"} or int(value) is not None


def _feed_options(value: Any) -> bool:
    """Whether a value is a table of a feed's options whose charset exists."""
    return not (charset := dict(value).get("encoding")) or codecs.lookup(charset) is not None


def _slot_options(value: Any) -> bool:
    """Whether a value is a table of a slot's options whose delay is at most a day."""
    delay = dict(value).get("delay")
    return delay is None or 0 <= _real(delay) <= _DAY_S


def _is_on(value: Any) -> bool:
    """Whether a value that `_switched` accepts switches something on, as Scrapy's `getbool` has it.

    >>> [_is_on(value) for value in (True, "true", "1", 2, "False", "0", False)]
    [True, True, True, True, False, False, False]
    """
    return str(value) not in {"False", "false"} and (
        str(value) in {"True", "true"} or bool(int(value))
    )


def _networks(value: Any) -> AddressPolicy:
    return AddressPolicy.parse("seeds", str(value or "").replace(",", " ").split())


def is_path(value: object) -> bool:
    """Whether a value looks like the path of a class.

    >>> is_path("own.pipelines.Drop"), is_path("utf-8"), is_path("a feed.json"), is_path(7)
    (True, False, False, False)
    """
    return isinstance(value, str) and all(map(str.isidentifier, value.split("."))) and "." in value


def _fields(value: Any) -> bool:
    """Whether a value names fields."""
    return value is None or isinstance(value, str) or all(isinstance(v, str) for v in value)


FLAG = Kind(
    "1 or 0 (or yes, no, true, false, on, off)",
    lambda v: (
        str(v).strip().lower() in {"1", "true", "yes", "on", "", "0", "false", "no", "off", "none"}
    ),
)
SWITCH = Kind("1 or 0 (or True, False)", _switched)
TEXT = Kind("a text of one line", lambda v: v is None or str(v).isprintable())
NAME = text_like(r"[\w.:-]*", "a name of letters, digits and _ . : -")
PORT = optional(whole_number(0, 65_535))
LEVEL = Kind(
    f"a level of the log: {', '.join(logging.getLevelNamesMapping())}, or its number, as no text",
    lambda v: v in logging.getLevelNamesMapping() or isinstance(v, int),
)
CHARSET = Kind("the name of a charset, for instance utf-8", lambda v: codecs.lookup(v) is not None)
ANY = Kind("any", lambda _: True)
PATH = Kind("a text", lambda v: v is None or isinstance(v, str | bytes | os.PathLike))
CLASS = Kind("a class or its path, as own.module.Name", lambda v: callable(v) or is_path(v))
TABLE_OF_ANY = or_none(table_of(ANY))
#: What is put in order by numbers; None leaves a part out.
ORDERED = or_none(
    table_of(Kind("a number or None", lambda v: v is None or math.isfinite(_real(v))))
)
#: Settings of the library.
LIBRARY: Mapping[str, Kind] = {
    "FRONTIER_PARTITIONS": whole_number(1, MOST_PARTITIONS),
    "SEINE_AUTOTHROTTLE": FLAG,
    "SEINE_AUTOTHROTTLE_CONCURRENCY": number(0.01),
    "SEINE_AUTOTHROTTLE_LEAST_MS": number(),
    "SEINE_AUTOTHROTTLE_MOST_MS": number(),
    "SEINE_BLOCK_LIMIT_SECONDS": number(),
    "SEINE_BLOCK_SECONDS": number(),
    "SEINE_BROWSER": FLAG,
    "SEINE_CLIENT": one_of("seine", "scrapy"),
    "SEINE_FASTPATH": FLAG,
    "SEINE_CRAWL": optional(NAME),
    "SEINE_CRAWL_DELAY_LIMIT_SECONDS": number(),
    "SEINE_DATA_DIR": TEXT,
    "SEINE_DOMAIN_CONCURRENCY": whole_number(1),
    "SEINE_DOMAIN_DELAY_MS": number(0, 1000 * _DAY_S),
    "SEINE_DOMAIN_PAGES": whole_number(),
    "SEINE_DRAIN_SECONDS": number(),
    "SEINE_EMBEDDED": FLAG,
    "SEINE_EMBEDDED_BINARIES": one_of("auto", "wheel", "system"),
    "SEINE_INTAKE": FLAG,
    "SEINE_ITEMS_KEY": Kind("a field of the items, or several with commas", _fields),
    "SEINE_ITEMS_TABLE": optional(text_like(r"[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?", "a table")),
    "SEINE_JOB_PAGES": whole_number(),
    "SEINE_KEEP_ALIVE": FLAG,
    "SEINE_LANES": table_of(TEXT),
    "SEINE_LEASE_SECONDS": number(1),
    "SEINE_LOG_FORMAT": optional(one_of("text", "json", ignore_case=True)),
    "SEINE_MAX_DELIVERIES": whole_number(1),
    "SEINE_METRICS_HOST": TEXT,
    "SEINE_METRICS_PORT": PORT,
    "SEINE_MOST_PENDING": whole_number(),
    "SEINE_OUTAGE_LIMIT": number(),
    "SEINE_PAGE_OUTPUTS": whole_number(),
    "SEINE_PRIVATE_ADDRESSES": optional(one_of("seeds", "allow", "deny", ignore_case=True)),
    "SEINE_PUBLIC_NETWORKS": Kind("networks such as 10.20.0.0/16, by blanks or commas", _networks),
    "SEINE_READ_AHEAD": whole_number(1),
    "SEINE_READ_SECONDS": number(),
    "SEINE_REPLAY": place("read", TEXT),
    "SEINE_ROBOTS_SECONDS": number(1),
    "SEINE_RUN": optional(NAME),
    "SEINE_SECRET": secret(LEAST_SECRET),
    "SEINE_SECRET_PREVIOUS": secret(LEAST_SECRET, UNSIGNED),
    "SEINE_SEEN": one_of("exact", "bloom"),
    "SEINE_SEEN_CAPACITY": whole_number(1000),
    "SEINE_SEEN_WINDOW_SECONDS": number(1),
    "SEINE_TALLY_SECONDS": number(0.1),
}
_FRACTIONS = {"DOWNLOAD_TIMEOUT", "DNS_TIMEOUT"}
_SCRAPY: Mapping[str, Kind] = {
    "ADDONS": ORDERED,
    "ASYNCIO_EVENT_LOOP": or_none(CLASS),
    # With 0, Scrapy would accept a page's outputs and never process them.
    "CONCURRENT_ITEMS": whole_number(1),
    "CONCURRENT_REQUESTS": whole_number(1),
    "CONCURRENT_REQUESTS_PER_IP": whole_number(0),  # no default shows its type
    "DEFAULT_DROPITEM_LOG_LEVEL": LEVEL,
    "DEPTH_PRIORITY": whole_number(-math.inf),
    "DOWNLOADER_CLIENTCONTEXTFACTORY": or_none(
        Kind(
            CLASS.text,
            lambda v: v == default_settings.DOWNLOADER_CLIENTCONTEXTFACTORY or CLASS.allows(v),
        )
    ),
    "DOWNLOADER_CLIENT_TLS_METHOD": one_of("TLS", "TLSv1.0", "TLSv1.1", "TLSv1.2"),
    "DOWNLOAD_BIND_ADDRESS": Kind(
        "an address, or a pair of address and port",
        lambda v: v is None or isinstance(v, str) or len(tuple(v)) == _PAIR,
    ),
    "DOWNLOAD_DELAY": number(0, _DAY_S),
    "DOWNLOAD_SLOTS": or_none(
        table_of(Kind(f"a table with a delay of at most {_DAY_S} s", _slot_options))
    ),
    "DOWNLOAD_TIMEOUT": number(0.001),
    "FEEDS": or_none(table_of(Kind("a table of a feed's options", _feed_options))),
    "FEED_EXPORT_ENCODING": optional(CHARSET),
    "FEED_EXPORT_INDENT": Kind("a whole number, or None", lambda v: v is None or int(v) >= 0),
    "FILES_STORE": place("written", TEXT),
    "HTTPERROR_ALLOWED_CODES": list_of(whole_number(100, 599)),
    "IMAGES_STORE": place("written", TEXT),
    "ITEM_PIPELINES": ORDERED,
    "JOBDIR": PATH,
    "LOG_ENCODING": optional(CHARSET),
    "LOG_FILE": PATH,
    "LOG_FORMAT": optional(
        Kind("a format of Python's logging, with %(message)s", lambda v: bool(logging.Formatter(v)))
    ),
    "LOG_LEVEL": LEVEL,
    "REDIRECT_PRIORITY_ADJUST": whole_number(-math.inf),
    # Words of the standard, or classes, one or several.
    "REFERRER_POLICY": PATH,
    "RETRY_GIVE_UP_LOG_LEVEL": LEVEL,
    "RETRY_HTTP_CODES": list_of(whole_number(100, 999)),
    "RETRY_PRIORITY_ADJUST": whole_number(-math.inf),
    "SCHEDULER": optional(CLASS),  # the add-on takes the place of an empty one
    "SPIDER_MODULES": list_of(PATH),
    "TELNETCONSOLE_ENABLED": SWITCH,
    "TWISTED_REACTOR": optional(CLASS),
    "USER_AGENT": TEXT,
}


def _of_scrapy() -> Iterator[tuple[str, Kind]]:
    """Yield the kind of each of Scrapy's settings, by the type of its default."""
    defaults = vars(default_settings)
    for name, default in defaults.items():
        if not name.isupper() or default is None:
            continue
        if isinstance(default, bool):
            yield name, SWITCH
        elif isinstance(default, float) or name in _FRACTIONS:
            yield name, number()
        elif isinstance(default, int):
            yield name, Kind(_span("whole number", 0, math.inf), lambda v: int(v) >= 0)
        elif isinstance(default, Mapping):
            yield name, _table_like({**default, **defaults.get(f"{name}_BASE", {})})
        elif isinstance(default, list):
            yield name, list_of(_entry_like(default))
        elif is_path(default):
            yield name, or_none(CLASS)  # Scrapy loads the class of an empty text, too, and fails
        else:
            yield name, PATH


def _entry_like(default: Sequence[Any]) -> Kind:
    """Return the kind of the entries of a list whose default is this one."""
    kinds = (kind for kind in (CLASS, PATH) if default and all(map(kind.allows, default)))
    return next(kinds, ANY)


def _table_like(default: Mapping[str, Any]) -> Kind:
    """Return the kind of a table whose default, Scrapy's own entries included, is this one."""
    if default and all(isinstance(value, int) for value in default.values()):
        return ORDERED
    names_classes = default and all(map(is_path, default.values()))
    return or_none(table_of(optional(CLASS))) if names_classes else TABLE_OF_ANY


#: Scrapy's settings, by the types that Scrapy can read, and the library's.
TABLE: Mapping[str, Kind] = {**dict(_of_scrapy()), **_SCRAPY, **LIBRARY}


def wrong_values(settings: SettingsLike, table: Mapping[str, Kind] = TABLE) -> Iterator[str]:
    """Yield a message for each setting with a wrong value: name, value, and allowed values."""
    with warnings.catch_warnings(action="ignore"):  # Scrapy warns of old settings that are read
        values = [(name, kind, settings.get(name, _UNSET)) for name, kind in sorted(table.items())]
    for name, kind, value in values:
        if value is not _UNSET and not kind.allows(value):
            shown = dict(value) if isinstance(value, BaseSettings) else value
            value_text = "***" if kind.secret else redact(repr(shown))[:_SHOWN]
            yield f"{name}={value_text} is not {kind.text}"


def faults(settings: SettingsLike, table: Mapping[str, Kind] = TABLE) -> Iterator[str]:
    """Yield a message for each setting with a wrong value, and for each unusable proxy variable."""
    yield from wrong_values(settings, table)
    uses_proxies = settings.get("HTTPPROXY_ENABLED", True)
    if SWITCH.allows(uses_proxies) and _is_on(uses_proxies):
        yield from _wrong_proxies(getproxies())


def _wrong_proxies(proxies: Mapping[str, str]) -> Iterator[str]:
    """Say which proxy of the environment nothing could be sent by; each request would fail.

    >>> list(_wrong_proxies({"http": "http://[::1", "https": "squid:3128", "no": "*"}))
    ["the variable http_proxy='http://[::1' is no address of a proxy, as http://proxy.example:3128"]
    """
    for scheme in ("http", "https"):
        url = proxies.get(scheme, "x")
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            is_right = bool(parts.hostname) and parts.port != 0 and not set(url) & _BLANKS
        except ValueError:
            is_right = False
        if not is_right:
            url_text = redact(repr(url))[:_SHOWN]
            example = "http://proxy.example:3128"
            yield f"the variable {scheme}_proxy={url_text} is no address of a proxy, as {example}"


def check(settings: SettingsLike, table: Mapping[str, Kind] = TABLE) -> None:
    """Raise if a setting has a wrong value.

    Raises:
        ConfigError: with all faults in one line.
    """
    if messages := list(faults(settings, table)):
        raise ConfigError("; ".join(messages))


def unknown_settings(settings: BaseSettings, table: Mapping[str, Kind] = TABLE) -> Iterator[str]:
    """Yield a message for each unknown setting with our prefix, with the likely name."""
    return unknown_names(map(str, settings), table)


def set_on_command_line(settings: BaseSettings) -> list[str]:
    """Return the names that -s or another option sets."""
    cmdline = SETTINGS_PRIORITIES["cmdline"]
    return [str(name) for name in settings if (settings.getpriority(str(name)) or 0) >= cmdline]


def known_settings(settings: BaseSettings) -> set[str]:
    """Return the names that the project's settings module, Scrapy and the library define.

    Names of the command line are excluded, so that a misspelt one is found.
    """
    modules = [vars(default_settings)]
    if module := os.environ.get("SCRAPY_SETTINGS_MODULE"):
        modules.append(vars(importlib.import_module(module)))
    names = {name for module_names in modules for name in module_names if name.isupper()}
    return names | {*TABLE} | ({*map(str, settings)} - {*set_on_command_line(settings)})


def refuse_unknown_options(settings: BaseSettings) -> None:
    """Refuse names of -s that look like a setting of Seine, but are none.

    Raises:
        ConfigError: with the likely names; a misspelt crawl would be another crawl.
    """
    names = set_on_command_line(settings)
    if messages := list(unknown_names(names, known_settings(settings))):
        raise ConfigError("; ".join(messages))


def unknown_names(names: Iterable[str], setting_names: Collection[str]) -> Iterator[str]:
    """Yield a message for each of *names* that looks like a setting of Seine, but is none."""
    for name in sorted(names):
        if name not in setting_names and (
            name.startswith(OURS) or _is_nearly_ours(name, setting_names)
        ):
            suggestion = did_you_mean(name.upper(), setting_names)
            yield f"{name} is no setting of Seine and changes nothing{suggestion}"


def _is_nearly_ours(name: str, setting_names: Collection[str]) -> bool:
    """Whether a name's prefix is misspelt, and the rest is like a setting: SIENE_RUN."""
    upper = name.upper()
    similar_prefix = nearest(upper.partition("_")[0], ["SEINE"], 0.8)
    return bool(similar_prefix and nearest(upper, setting_names, 0.85))
