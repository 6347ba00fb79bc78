"""What is said when a worker starts, and by `scrapy doctor`: what will be missed later. Pure.

A list of proxies that holds none, a pool or a lane that nobody has, a name that says nothing and a
file that is left out stop nothing at once; they are found after hours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from crawler.access.proxies.line import POOLS
from crawler.access.proxies.operator_list import ProxyList
from crawler.catalogue.jobs.model import Job
from crawler.reads.doctor.finding import Finding
from scrapy_seine.broken_imports import BrokenFile
from scrapy_seine.config import SettingsLike, flag
from scrapy_seine.errors import ConfigError
from scrapy_seine.records import Value

#: Parts of the addresses that examples carry.
_PLACEHOLDERS = ("example.com", "example.org", "example.net", "yourdomain")
_LIST_ADVICE = (
    "write one proxy a line (a file's path begins with / or ./), or unset PROXY_LIST to crawl "
    "without proxies"
)
_NAMED = 3


@attrs.frozen(eq=False, repr=False)
class FetchOptions(Value):
    """How a site file wants its site to be fetched."""

    site: str
    lane: str | None = None
    proxy_pool: str | None = None


def start_findings(
    settings: SettingsLike, site_options: Sequence[FetchOptions], broken: Iterable[BrokenFile]
) -> list[Finding]:
    """Judge what a worker can know by itself: files, settings and the list of proxies."""
    return [
        *_broken(broken),
        *_name(settings),
        *_proxies(settings, site_options),
        *_lanes(settings, site_options),
    ]


def _broken(files: Iterable[BrokenFile]) -> Iterator[Finding]:
    for file in files:
        advice = "correct the file; until then its site is read by the default parser"
        yield Finding("fail", "files", f"{file}; it is left out", advice)


def _name(settings: SettingsLike) -> Iterator[Finding]:
    agent = str(settings.get("USER_AGENT") or "")
    as_itself = str(settings.get("SEINE_IDENTITY") or "bot") == "bot"
    if as_itself and (not agent.strip() or any(part in agent for part in _PLACEHOLDERS)):
        what = f"{agent!r}, an example" if agent.strip() else "empty"
        text = f"USER_AGENT is {what}: a site cannot see whom to write to"
        yield Finding("warn", "identity", text, "set USER_AGENT to a name with your own address")


def _proxies(settings: SettingsLike, site_options: Sequence[FetchOptions]) -> Iterator[Finding]:
    """Judge the list, and the pools that somebody asks for."""
    proxy_list = ProxyList.from_settings(settings)
    asked = _pools(settings, site_options)
    if not proxy_list:
        for pool, who in asked.items():
            text = f"{who} asks for the pool {pool!r}, but no list of proxies is given"
            yield Finding("fail", "proxies", text, "set PROXY_LIST, or name no pool")
        return
    where = ", ".join(map(str, proxy_list.paths)) or "SEINE_PROXIES"
    try:
        found, bad = proxy_list.read() or ([], [])
    except ConfigError as error:
        yield Finding("fail", "proxies", str(error), "mount the file, or unset PROXY_LIST")
        return
    if bad:
        text = f"{len(bad)} lines of {where} are no proxies; line {bad[0].number}: {bad[0].reason}"
        yield Finding("warn", "proxies", text, "correct the lines; they are left out")
    if not found:
        yield Finding("fail", "proxies", f"{where} holds no proxy", _LIST_ADVICE)
        return
    counted = Counter(proxy.pool for proxy in found)
    for pool, who in asked.items():
        if not counted[pool]:
            text = f"{who} asks for the pool {pool!r}, of which {where} has no proxy"
            advice = f"list one with pool={pool}, or name another pool"
            yield Finding("fail", "proxies", text, advice)
    text = ", ".join(f"{counted[pool]} {pool}" for pool in POOLS if counted[pool])
    yield Finding("ok", "proxies", f"{where}: {text}")


def _pools(settings: SettingsLike, site_options: Sequence[FetchOptions]) -> dict[str, str]:
    """Return the pools that are asked for, and by whom."""
    asked = {}
    for options in site_options:
        if options.proxy_pool not in {None, "any", "none"}:
            asked[str(options.proxy_pool)] = f"site {options.site}"
    pool = str(settings.get("SEINE_PROXY_POOL") or "any")
    if pool in POOLS:  # another is no pool at all, which the check of the settings says
        asked[pool] = "SEINE_PROXY_POOL"
    return asked


def _lanes(settings: SettingsLike, site_options: Sequence[FetchOptions]) -> Iterator[Finding]:
    try:
        has_browser = flag(settings, "SEINE_BROWSER")
    except ConfigError:  # the worker says so by itself
        return
    sites = sorted(options.site for options in site_options if options.lane == "browser")
    if sites and not has_browser:
        names = ", ".join(sites[:_NAMED]) + (", …" if len(sites) > _NAMED else "")
        text = f"{names} must be fetched by a browser, which this worker does not have"
        yield Finding("warn", "lanes", text, "start a worker with SEINE_BROWSER=1 as well")


def job_findings(running: Sequence[Job], *, idle: bool, workers: int) -> list[Finding]:
    """Judge the jobs that run: *idle* says that the frontier has nothing left to do."""
    found = []
    for job in running:
        if job.left and idle:
            text = f"job {job.id} lacks {job.left} pages, which the frontier does not have"
            advice = f"`scrapy jobs cancel {job.id}` and start it again: its state was lost"
            found.append(Finding("fail", "jobs", text, advice))
        elif job.left and not workers:
            text = f"job {job.id} has {job.left} pages left, and no worker is alive"
            found.append(Finding("warn", "jobs", text, "start one: scrapy crawl catalog"))
        elif not job.planned and not workers:
            text = f"job {job.id} was left half planned"
            advice = "run `scrapy coordinate`, which completes it"
            found.append(Finding("warn", "jobs", text, advice))
    return found
