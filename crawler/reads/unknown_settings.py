"""Unknown names of settings: an error on the command line, else a warning (SEINE_STRICT). Pure.

A misspelt setting has no effect, which users notice only after hours. An unknown variable of the
environment is only a warning, because other programs may have variables of such names. Variables
that Kubernetes sets for each Service of a namespace (`…_SERVICE_HOST`, `…_PORT_8800_TCP`) are
ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from crawler.reads.doctor.finding import Finding, Level
from crawler.reads.doctor.setting_sources import SECRET, VARIABLES
from scrapy_seine.config import flag
from scrapy_seine.engine.settings_check import OURS, set_on_command_line, unknown_names
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import nearest

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Variables that the kubelet sets for Services; a port's value is a URL, `tcp://10.0.0.1:80`.
_SERVICE = re.compile(r"_SERVICE_(HOST|PORT)|_PORT_\d+_")
_SERVICE_URL = re.compile(r"(tcp|udp|sctp)://")
#: Variables of this project without its prefix.
_STORE_VARIABLES = {"REDIS_URL", "DATABASE_URL", "PROXY_LIST"}
#: Smallest similarity, 0 to 1, at which a name counts as a misspelling of another name.
_MIN_SIMILARITY = 0.85


def seine_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Return the variables with our prefix, without Kubernetes' own."""
    for name, value in environ.items():
        if _SERVICE.search(name) or (name.endswith("_PORT") and _SERVICE_URL.match(value)):
            continue
        if name.startswith(OURS):
            yield name


def unknown_variables(environ: Mapping[str, str], known_names: Collection[str]) -> list[str]:
    """Report each variable with our prefix that is no setting, and suggest a similar name."""
    variables = {
        *known_names,
        *(f"{name}_FILE" for name in known_names if SECRET.search(name)),
        *(variable for names in VARIABLES.values() for variable in names),
    }
    return list(unknown_names(list(seine_variables(environ)), variables))


def misspelt(
    settings: BaseSettings, environ: Mapping[str, str], known_names: Collection[str]
) -> list[str]:
    """Suggest names for misspelt ones without our prefix: REDIS_ULR, CONCURENT_REQUESTS.

    This is no error, because a spider or another program may use any such name.
    """
    seine_names = {name for name in known_names if name.startswith(OURS)} | _STORE_VARIABLES
    seine_names |= {f"{name}_FILE" for name in _STORE_VARIABLES}
    suggestions = {
        **{name: _similar_name(name, seine_names) for name in environ if name not in known_names},
        **{
            name: _similar_name(name, known_names)
            for name in set_on_command_line(settings)
            if name not in known_names
        },
    }
    return [
        f"{name} is no setting of Seine or Scrapy; did you mean {suggestion}?"
        for name, suggestion in sorted(suggestions.items())
        if suggestion and not name.startswith(OURS)
    ]


def _similar_name(name: str, known_names: Collection[str]) -> str:
    """Return the known name that is similar but not equal to *name*; "" if there is none."""
    candidate = nearest(name, known_names, _MIN_SIMILARITY)
    return candidate if candidate != name else ""


def unknown_options(settings: BaseSettings, known_names: Collection[str]) -> list[str]:
    """Report each unknown name of -s, and suggest a similar name."""
    return list(unknown_names(set_on_command_line(settings), known_names))


def refuse_unknown_names(
    settings: BaseSettings, environ: Mapping[str, str], known_names: Collection[str]
) -> list[str]:
    """Refuse unknown names; return the warnings about the other names.

    Raises:
        ConfigError: -s, or with SEINE_STRICT a variable, names no setting.
    """
    refusals = unknown_options(settings, known_names)
    warnings = unknown_variables(environ, known_names)
    if flag(settings, "SEINE_STRICT"):
        refusals, warnings = [*refusals, *warnings], []
    if refusals:
        raise ConfigError("; ".join(refusals))
    return [*warnings, *misspelt(settings, environ, known_names)]


def name_findings(
    settings: BaseSettings, environ: Mapping[str, str], known_names: Collection[str]
) -> list[Finding]:
    """Report unknown names as findings of `scrapy doctor`."""
    advice = "correct the name, or remove it"
    level: Level = "fail" if _strict(settings) else "warn"
    return [
        *(Finding("fail", "settings", t, advice) for t in unknown_options(settings, known_names)),
        *(Finding(level, "settings", t, advice) for t in unknown_variables(environ, known_names)),
        *(Finding("warn", "settings", t, advice) for t in misspelt(settings, environ, known_names)),
    ]


def _strict(settings: BaseSettings) -> bool:
    try:
        return flag(settings, "SEINE_STRICT")
    except ConfigError:
        return True
