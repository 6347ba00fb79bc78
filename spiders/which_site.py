"""Which site file is used for an address; a broken one costs a line in the log, not the others."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import cache

from crawler.catalogue.jobs.model import Plan
from crawler.extract.links.registered_domain import site_of
from crawler.extract.site import Site
from crawler.extract.site_check import mistakes
from scrapy_seine.broken_imports import attempt, broken_files, line_of, note
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import did_you_mean
from scrapy_seine.urls import domain

#: Each of its files declares one site.
_PACKAGE = "spiders.sites"
_DEFAULT = Site()


def _made(kind: type[Site]) -> Site | None:
    """Make a site of its class; None, and a note for each mistake, where it has any."""
    try:
        if not kind.domains:
            return None
        found = list(mistakes(kind))
        for attribute, reason in found:
            _note(kind, attribute, reason)
        return None if found else kind()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever it raises, the other sites go on
        _note(kind, "", f"{kind.__name__}(): {type(error).__name__}: {error}")
        return None


def _note(kind: type[Site], attribute: str, reason: str) -> None:
    path = sys.modules[kind.__module__].__file__ or kind.__module__
    note(path, line_of(path, kind.__name__, attribute), reason)


def _classes(module_name: str) -> list[type[Site]]:
    module = attempt(module_name)
    if module is None:
        return []
    return [
        found
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, Site) and found.__module__ == module_name
    ]


@cache
def load(package: str = _PACKAGE) -> dict[str, Site]:
    """Every site of a package by domain; files are read once per process.

    A file or class that cannot be used is noted in `scrapy_seine.broken_imports`, and its pages are
    read by the default parser. A host that two classes name is the first one's, by the files'
    names.
    """
    paths = importlib.import_module(package).__path__
    found: dict[str, Site] = {}
    for info in sorted(pkgutil.iter_modules(paths), key=lambda info: info.name):
        for kind in _classes(f"{package}.{info.name}"):
            site = _made(kind)
            if site is not None:
                _add(found, site)
    return found


def _add(found: dict[str, Site], site: Site) -> None:
    for host in map(str.lower, site.domains):
        first = found.setdefault(host, site)
        if first is not site:
            owner = type(first).__module__.rpartition(".")[2]
            _note(type(site), "domains", f"{host} is already a host of {owner}.py, which counts")


def find(url: str) -> Site:
    """The site whose domain the URL is in, the closest one; else the default, which fits any."""
    try:
        key = domain(url)
    except ValueError:
        return _DEFAULT
    return _find(key)


@cache
def _find(key: str) -> Site:
    sites = load()
    if key in sites:
        return sites[key]
    name = key.partition(":")[0]
    while name:
        if name in sites:
            return sites[name]
        name = name.partition(".")[2]
    return _DEFAULT


def named(name: str) -> Site | None:
    """The site of that short name, or None."""
    return next((site for site in load().values() if site.name == name), None)


def wanted(name: str) -> Site:
    """The site of the short name that a user gave.

    Raises:
        ConfigError: with what may be meant, or what is wrong with its file.
    """
    known = named(name)
    if known is not None:
        return known
    left_out = "".join(f"; left out: {file}" for file in broken_files()) or _own(name)
    names = sorted({site.name for site in load().values() if site.name})
    meant = did_you_mean(name, names) or f"; there is {', '.join(names) or 'none'}"
    raise ConfigError(f"-a site={name}: no site file has this name{left_out or meant}")


def _own(name: str) -> str:
    """What a file of that name says instead, because its name is not what a site is found by."""
    module = f"{_PACKAGE}.{name}"
    for kind in vars(sys.modules.get(module, object)).values():
        if isinstance(kind, type) and issubclass(kind, Site) and kind.__module__ == module:
            said = f"name = {kind.name!r}" if kind.domains else "no domains"
            return f"; the class {kind.__name__} of {name}.py has {said}"
    return ""


def plans() -> list[Plan]:
    """What each site file asks of the coordinator."""
    return [
        Plan(
            site_id=site.name,
            seeds=site.seeds,
            schedule=site.schedule,
            sitemaps=site.sitemaps,
            watch_s=site.watch_s,
            recrawl_s=site.recrawl_s,
            budget=site.budget,
            importance=site.importance,
        )
        for site in dict.fromkeys(load().values())
        if site.name and _can_be_planned(site)
    ]


def _can_be_planned(site: Site) -> bool:
    """Whether the site's schedule can be read; a wrong one is noted, and the site not planned."""
    if not site.schedule:
        return True
    from crawler.catalogue.jobs.cron_times import check  # a worker plans nothing

    try:
        check(site.schedule, site.name)
    except ConfigError as error:
        _note(type(site), "schedule", str(error))
        return False
    return True


def site_id(url: str) -> str:
    """A URL's site: its site file's short name, else the registered domain."""
    return find(url).name or site_of(url)
