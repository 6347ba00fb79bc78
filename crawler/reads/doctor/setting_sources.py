"""Where each setting's value comes from: command line, environment, file or spider. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

from crawler.reads.doctor.finding import Finding
from scrapy_seine.attrs_bases import Value
from scrapy_seine.printable import redact

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Scrapy's SETTINGS_PRIORITIES of a spider's settings and of -s.
SPIDER, COMMAND_LINE = 30, 40

#: Settings whose environment variable has another name (see settings/environment.py).
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "LOG_LEVEL": ("SEINE_LOG_LEVEL",),
    "SEINE_PROXIES": ("SEINE_PROXIES", "PROXY_LIST", "PROXY_LIST_FILE"),
    "SEINE_PROXIES_PATH": ("SEINE_PROXIES_PATH", "PROXY_LIST", "PROXY_LIST_FILE"),
}
#: Settings whose values are never shown.
SECRET = re.compile(r"SECRET|TOKEN|PASSWORD|PROXIES$|PROXY_LIST$")
_MAX_LENGTH = 60


@attrs.frozen(eq=False, repr=False)
class Source(Value):
    """One setting whose value is not from the settings module."""

    name: str
    value: str
    """Redacted for display."""
    origin: str
    """`command line`, `environment NAME`, `file PATH`, `spider`, or the settings module."""


def sources(
    settings: BaseSettings, environ: Mapping[str, str], known_names: Collection[str]
) -> list[Source]:
    """Return the settings in *known_names* that this start overrides, with their origins."""
    origins = {name: _origin(settings, environ, name) for name in sorted(known_names)}
    return [
        Source(name, display_value(name, settings.get(name)), origin)
        for name, origin in origins.items()
        if origin
    ]


def _origin(settings: BaseSettings, environ: Mapping[str, str], name: str) -> str:
    priority = settings.getpriority(name) or 0
    if priority >= COMMAND_LINE:
        return "command line"
    if priority >= SPIDER:
        return "spider"
    for variable in VARIABLES.get(name, (name,)):
        if environ.get(variable, "").strip():
            return f"environment {variable}"
    path = environ.get(f"{name}_FILE", "")
    return f"file {path}" if path else ""


def display_value(name: str, value: object) -> str:
    """Return a value for display: no secret, no credentials of a URL, and shortened.

    >>> display_value("SEINE_SECRET", "abc"), display_value("REDIS_URL", "redis://me:pw@host/0")
    ('***', 'redis://***@host/0')
    >>> display_value("N", 5)
    '5'
    """
    if SECRET.search(name) and value:
        return "***"
    text = redact(str(value))
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def _unused_log_level(settings: BaseSettings, environ: Mapping[str, str]) -> Iterator[str]:
    """Warn that the variable LOG_LEVEL is not read, where it differs from the setting."""
    level = environ.get("LOG_LEVEL", "")
    if level and "SEINE_LOG_LEVEL" not in environ and level != str(settings.get("LOG_LEVEL")):
        yield f"LOG_LEVEL={display_value('', level)} is not read; the variable is SEINE_LOG_LEVEL"


def empty_variables(
    settings: BaseSettings, environ: Mapping[str, str], known_names: Collection[str]
) -> Iterator[str]:
    """Report the value in effect for each variable that is set but empty."""
    for name in sorted(known_names):
        variables = [variable for variable in VARIABLES.get(name, (name,)) if variable in environ]
        if not variables or _origin(settings, environ, name):
            continue
        value = settings.get(name)
        if value and str(value).strip():
            yield (
                f"{variables[0]} is empty in the environment, so that it stays"
                f" {display_value(name, value)!r}"
            )


def source_findings(
    settings: BaseSettings, environ: Mapping[str, str], known_names: Collection[str]
) -> list[Finding]:
    """Report the origin of each overridden value, and variables without effect."""
    advice = "give it a value, or remove the variable"
    unused_texts = _unused_log_level(settings, environ)
    return [
        *(
            Finding("warn", "settings", text, advice)
            for text in empty_variables(settings, environ, known_names)
        ),
        *(
            Finding("warn", "settings", text, "correct the name, or remove it")
            for text in unused_texts
        ),
        *(
            Finding("ok", "from", f"{source.name} = {source.value} ({source.origin})")
            for source in sources(settings, environ, known_names)
        ),
    ]
