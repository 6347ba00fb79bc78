"""Finds the site file for a URL; a broken file is logged, and the others stay in use."""

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

#: Package of the site files, one site each.
_PACKAGE = "spiders.sites"
_DEFAULT = Site()


def _make_site(kind: type[Site]) -> Site | None:
    """Make a site of its class; None, and a note for each mistake, if the class has any."""
    try:
        faults = list(mistakes(kind))
        if not kind.domains and not faults:
            if not kind.name:
                return None  # what several sites share
            faults = [("name", "a site with a name needs domains")]
        for attribute, reason in faults:
            _note(kind, attribute, reason)
        return None if faults else kind()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the other sites must load whatever this one raises
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
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Site) and value.__module__ == module_name
    ]


@cache
def load(package: str = _PACKAGE) -> dict[str, Site]:
    """Every site of a package by domain; files are read once per process.

    A file or class that cannot be used is noted in `scrapy_seine.broken_imports`, and its pages are
    read by the default parser. A host in two files belongs to the first one, by the files' names.
    """
    paths = importlib.import_module(package).__path__
    sites: dict[str, Site] = {}
    for info in sorted(pkgutil.iter_modules(paths), key=lambda info: info.name):
        for kind in _classes(f"{package}.{info.name}"):
            site = _make_site(kind)
            if site is not None:
                _add(sites, site)
    return sites


def _add(sites: dict[str, Site], site: Site) -> None:
    for host in map(str.lower, site.domains):
        first = sites.setdefault(host, site)
        if first is not site:
            owner = type(first).__module__.rpartition(".")[2]
            _note(type(site), "domains", f"{host} is already a host of {owner}.py, which counts")


def find(url: str) -> Site:
    """The site with the longest domain that the URL is in, else the default site."""
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


def site_named(name: str) -> Site | None:
    """The site of that short name, or None."""
    return next((site for site in load().values() if site.name == name), None)


def require(name: str) -> Site:
    """The site of the short name that a user gave.

    Raises:
        ConfigError: there is none; the message suggests a name, or gives the file's error.
    """
    match = site_named(name)
    if match is not None:
        return match
    left_out = "".join(f"; left out: {file}" for file in broken_files()) or _missing_site_reason(
        name
    )
    names = sorted({site.name for site in load().values() if site.name})
    hint = did_you_mean(name, names) or f"; there is {', '.join(names) or 'none'}"
    raise ConfigError(f"-a site={name}: no site file has this name{left_out or hint}")


def _missing_site_reason(name: str) -> str:
    """The reason why a file of that name has no such site: its class has another name."""
    module = f"{_PACKAGE}.{name}"
    for kind in vars(sys.modules.get(module, object)).values():
        if isinstance(kind, type) and issubclass(kind, Site) and kind.__module__ == module:
            return f"; the class {kind.__name__} of {name}.py has name = {kind.name!r}"
    return f"; {name}.py has no class of Site" if module in sys.modules else ""


def plans() -> list[Plan]:
    """The plan of each site file for the coordinator."""
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
    """Whether the site's schedule is valid; a bad one is noted, and the site not planned."""
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
