"""Where each setting's value comes from, and names that are no setting. Pure.

A misspelt setting changes nothing, and is missed after hours: on the command line it ends the
start, in the environment it warns, because other programs may have variables of such names. What
Kubernetes sets for each Service of a namespace (`…_SERVICE_HOST`, `…_PORT_8800_TCP`) is nobody's
mistake.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

from crawler.reads.doctor.finding import Finding, Level
from scrapy_seine.config import flag
from scrapy_seine.engine.settings_check import OURS, strays
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import nearest
from scrapy_seine.printable import redact
from scrapy_seine.records import Value

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: SETTINGS_PRIORITIES of Scrapy: what a spider sets, and what -s sets.
SPIDER, COMMAND_LINE = 30, 40

#: Settings whose variable has another name, as settings.environment reads them.
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "LOG_LEVEL": ("SEINE_LOG_LEVEL",),
    "SEINE_PROXIES": ("SEINE_PROXIES", "PROXY_LIST", "PROXY_LIST_FILE"),
    "SEINE_PROXIES_PATH": ("SEINE_PROXIES_PATH", "PROXY_LIST", "PROXY_LIST_FILE"),
}
#: Settings whose values are never shown.
SECRET = re.compile(r"SECRET|TOKEN|PASSWORD|PROXIES$|PROXY_LIST$")
#: Service variables as the kubelet makes them; a port's own value is a URL, `tcp://10.0.0.1:80`.
_SERVICE = re.compile(r"_SERVICE_(HOST|PORT)|_PORT_\d+_")
_SERVICE_URL = re.compile(r"(tcp|udp|sctp)://")
_SHOWN = 60
#: Variables of ours that begin as those of other programs do.
_STORES = {"REDIS_URL", "DATABASE_URL", "PROXY_LIST"}
#: How alike two names must be, of 1, to take one for the other misspelt.
_ALIKE = 0.85


@attrs.frozen(eq=False, repr=False)
class Source(Value):
    """One setting that is not as its file has it."""

    name: str
    value: str
    """As it may be shown."""
    origin: str
    """`command line`, `environment NAME`, `file PATH`, `spider`, or the settings module."""


def sources(
    settings: BaseSettings, environ: Mapping[str, str], known: Collection[str]
) -> list[Source]:
    """Return the settings of *known* that somebody gave for this start, and who did."""
    origins = {name: _origin(settings, environ, name) for name in sorted(known)}
    return [
        Source(name, shown(name, settings.get(name)), origin)
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


def shown(name: str, value: object) -> str:
    """Return a value for people: no secret, no credentials of a URL, and not too long.

    >>> shown("SEINE_SECRET", "abc"), shown("REDIS_URL", "redis://me:pw@host/0"), shown("N", 5)
    ('***', 'redis://***@host/0', '5')
    """
    if SECRET.search(name) and value:
        return "***"
    text = redact(str(value))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def given(environ: Mapping[str, str]) -> Iterator[str]:
    """Return the variables that may be meant for Seine, without Kubernetes' own."""
    for name, value in environ.items():
        if _SERVICE.search(name) or (name.endswith("_PORT") and _SERVICE_URL.match(value)):
            continue
        if name.startswith(OURS):
            yield name


def environment_strays(environ: Mapping[str, str], known: Collection[str]) -> list[str]:
    """Say of each variable that begins as ours do, and sets nothing, which one may be meant."""
    variables = {
        *known,
        *(f"{name}_FILE" for name in known if SECRET.search(name)),
        *(variable for names in VARIABLES.values() for variable in names),
    }
    return list(strays(list(given(environ)), variables))


def misspelt(
    settings: BaseSettings, environ: Mapping[str, str], known: Collection[str]
) -> list[str]:
    """Say of names that begin as others' do which one may be meant: REDIS_ULR, CONCURENT_REQUESTS.

    A spider may have a setting of any name, and a program a variable, so that this is no error.
    """
    ours = {name for name in known if name.startswith(OURS)} | _STORES
    ours |= {f"{name}_FILE" for name in _STORES}
    alike = {
        **{name: _alike(name, ours) for name in environ if name not in known},
        **{name: _alike(name, known) for name in _on_command_line(settings) if name not in known},
    }
    return [
        f"{name} is no setting of Seine or Scrapy; did you mean {meant}?"
        for name, meant in sorted(alike.items())
        if meant and not name.startswith(OURS)
    ]


def _alike(name: str, known: Collection[str]) -> str:
    """The known name that another one is nearly, but not quite."""
    found = nearest(name, known, _ALIKE)
    return found if found != name else ""


def _unread_level(settings: BaseSettings, environ: Mapping[str, str]) -> Iterator[str]:
    """Say that LOG_LEVEL is not ours, where it says something else than the setting."""
    level = environ.get("LOG_LEVEL", "")
    if level and "SEINE_LOG_LEVEL" not in environ and level != str(settings.get("LOG_LEVEL")):
        yield f"LOG_LEVEL={shown('', level)} is not read; the variable is SEINE_LOG_LEVEL"


def emptied(
    settings: BaseSettings, environ: Mapping[str, str], known: Collection[str]
) -> Iterator[str]:
    """Say of each variable that is set to nothing which value holds instead."""
    for name in sorted(known):
        blank = [one for one in VARIABLES.get(name, (name,)) if one in environ]
        if not blank or _origin(settings, environ, name):
            continue
        value = settings.get(name)
        if value and str(value).strip():
            yield f"{blank[0]} is empty in the environment, so that it stays {shown(name, value)!r}"


def command_line_strays(settings: BaseSettings, known: Collection[str]) -> list[str]:
    """Say of each name that -s was given, and that is none, which one may be meant."""
    return list(strays(_on_command_line(settings), known))


def _on_command_line(settings: BaseSettings) -> list[str]:
    return [str(n) for n in settings if (settings.getpriority(str(n)) or 0) >= COMMAND_LINE]


def refuse_strays(
    settings: BaseSettings, environ: Mapping[str, str], known: Collection[str]
) -> list[str]:
    """End the start where a name is none; return what is only worth a warning.

    Raises:
        ConfigError: -s names no setting, or with SEINE_STRICT a variable does not.
    """
    wrong = command_line_strays(settings, known)
    astray = environment_strays(environ, known)
    if flag(settings, "SEINE_STRICT"):
        wrong, astray = [*wrong, *astray], []
    if wrong:
        raise ConfigError("; ".join(wrong))
    return [*astray, *misspelt(settings, environ, known)]


def source_findings(
    settings: BaseSettings, environ: Mapping[str, str], known: Collection[str]
) -> list[Finding]:
    """Judge the names, and say where the values come from, for `scrapy doctor`."""
    advice = "correct the name, or remove it"
    level: Level = "fail" if _strict(settings) else "warn"
    wrong = command_line_strays(settings, known)
    guesses = [*misspelt(settings, environ, known), *_unread_level(settings, environ)]
    fill = "give it a value, or remove the variable"
    return [
        *(Finding("warn", "settings", one, fill) for one in emptied(settings, environ, known)),
        *(Finding("fail", "settings", text, advice) for text in wrong),
        *(Finding(level, "settings", text, advice) for text in environment_strays(environ, known)),
        *(Finding("warn", "settings", text, advice) for text in guesses),
        *(
            Finding("ok", "from", f"{one.name} = {one.value} ({one.origin})")
            for one in sources(settings, environ, known)
        ),
    ]


def _strict(settings: BaseSettings) -> bool:
    try:
        return flag(settings, "SEINE_STRICT")
    except ConfigError:
        return True
