"""Names that are no setting: some end the start, others are warned of (SEINE_STRICT). Pure.

A misspelt setting changes nothing, and is missed after hours: on the command line it ends the
start, in the environment it warns, because other programs may have variables of such names. What
Kubernetes sets for each Service of a namespace (`…_SERVICE_HOST`, `…_PORT_8800_TCP`) is nobody's
mistake.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from crawler.reads.doctor.finding import Finding, Level
from crawler.reads.doctor.setting_sources import COMMAND_LINE, SECRET, VARIABLES
from scrapy_seine.config import flag
from scrapy_seine.engine.settings_check import OURS, strays
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import nearest

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Service variables as the kubelet makes them; a port's own value is a URL, `tcp://10.0.0.1:80`.
_SERVICE = re.compile(r"_SERVICE_(HOST|PORT)|_PORT_\d+_")
_SERVICE_URL = re.compile(r"(tcp|udp|sctp)://")
#: Variables of ours that begin as those of other programs do.
_STORES = {"REDIS_URL", "DATABASE_URL", "PROXY_LIST"}
#: How alike two names must be, of 1, to take one for the other misspelt.
_ALIKE = 0.85


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


def name_findings(
    settings: BaseSettings, environ: Mapping[str, str], known: Collection[str]
) -> list[Finding]:
    """Judge the names, for `scrapy doctor`."""
    advice = "correct the name, or remove it"
    level: Level = "fail" if _strict(settings) else "warn"
    return [
        *(Finding("fail", "settings", t, advice) for t in command_line_strays(settings, known)),
        *(Finding(level, "settings", t, advice) for t in environment_strays(environ, known)),
        *(Finding("warn", "settings", t, advice) for t in misspelt(settings, environ, known)),
    ]


def _strict(settings: BaseSettings) -> bool:
    try:
        return flag(settings, "SEINE_STRICT")
    except ConfigError:
        return True
