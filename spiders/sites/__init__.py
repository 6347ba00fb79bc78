"""One file a site, found by host name; a broken one costs a line in the log, not the others."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from functools import cache

from crawler.extract.site import Site
from crawler.extract.sites import site_of
from crawler.jobs.model import Plan
from crawler.urls import domain

_log = logging.getLogger(__name__)
_DEFAULT = Site()


def _classes(module_name: str) -> list[type[Site]]:
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever it raises, the other sites go on
        _log.error("site file %s is left out: %s: %s", module_name, type(error).__name__, error)
        return []
    return [
        found
        for found in vars(module).values()
        if isinstance(found, type)
        and issubclass(found, Site)
        and found.domains
        and found.__module__ == module.__name__
    ]


@cache
def load(package: str = __name__) -> dict[str, Site]:
    """Every site of a package by domain; files are read once per process."""
    paths = importlib.import_module(package).__path__
    found: dict[str, Site] = {}
    for info in sorted(pkgutil.iter_modules(paths), key=lambda info: info.name):
        for kind in _classes(f"{package}.{info.name}"):
            site = kind()
            for name in kind.domains:
                found[name.lower()] = site
    return found


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
        )
        for site in dict.fromkeys(load().values())
        if site.name
    ]


def site_id(url: str) -> str:
    """A URL's site: its site file's short name, else the registered domain."""
    return find(url).name or site_of(url)
