"""Checks of a worker's start and of `scrapy doctor`, for mistakes that stop nothing at once. Pure.

Without these checks, users would notice an empty list of proxies, a pool or lane without a member,
an example USER_AGENT or a file that cannot be imported only after hours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from crawler.access.proxies.list_format import POOLS
from crawler.access.proxies.operator_list import ProxyList
from crawler.catalogue.jobs.model import Job
from crawler.reads.doctor.finding import Finding
from scrapy_seine.attrs_bases import Value
from scrapy_seine.broken_imports import BrokenFile
from scrapy_seine.config import SettingsLike, flag
from scrapy_seine.errors import ConfigError

#: Parts of addresses that occur in examples only.
_PLACEHOLDERS = ("example.com", "example.org", "example.net", "yourdomain")
_LIST_ADVICE = (
    "write one proxy a line (a file's path begins with / or ./), or unset PROXY_LIST to crawl "
    "without proxies"
)
_MAX_NAMES = 3


@attrs.frozen(eq=False, repr=False)
class FetchOptions(Value):
    """The fetch options of a site file."""

    site: str
    lane: str | None = None
    proxy_pool: str | None = None


def start_findings(
    settings: SettingsLike, site_options: Sequence[FetchOptions], broken: Iterable[BrokenFile]
) -> list[Finding]:
    """Judge the files, the settings and the list of proxies, without a store."""
    return [
        *_broken_files(broken),
        *_shared_names(site_options),
        *_user_agent(settings),
        *_proxies(settings, site_options),
        *_lanes(settings, site_options),
    ]


def _broken_files(files: Iterable[BrokenFile]) -> Iterator[Finding]:
    for file in files:
        advice = "correct the file; until then its site is read by the default parser"
        yield Finding("fail", "files", f"{file}; it is left out", advice)


def _shared_names(site_options: Sequence[FetchOptions]) -> Iterator[Finding]:
    for name, files in Counter(options.site for options in site_options).items():
        if files > 1:
            text = f"{files} site files have the name {name!r}: their products are one site's"
            yield Finding("warn", "files", text, "give each a name of its own")


def _user_agent(settings: SettingsLike) -> Iterator[Finding]:
    agent = str(settings.get("USER_AGENT") or "")
    is_bot_identity = str(settings.get("SEINE_IDENTITY") or "bot") == "bot"
    if is_bot_identity and (not agent.strip() or any(part in agent for part in _PLACEHOLDERS)):
        state = f"{agent!r}, an example" if agent.strip() else "empty"
        text = f"USER_AGENT is {state}: a site cannot see whom to write to"
        yield Finding("warn", "identity", text, "set USER_AGENT to a name with your own address")


def _proxies(settings: SettingsLike, site_options: Sequence[FetchOptions]) -> Iterator[Finding]:
    """Judge the list, and the pools that sites and settings name."""
    proxy_list = ProxyList.from_settings(settings)
    user_by_pool = _pools(settings, site_options)
    if not proxy_list:
        for pool, user in user_by_pool.items():
            text = f"{user} asks for the pool {pool!r}, but no list of proxies is given"
            yield Finding("fail", "proxies", text, "set PROXY_LIST, or name no pool")
        return
    place = ", ".join(map(str, proxy_list.paths)) or "SEINE_PROXIES"
    try:
        proxies, bad_lines = proxy_list.read() or ([], [])
    except ConfigError as error:
        yield Finding("fail", "proxies", str(error), "mount the file, or unset PROXY_LIST")
        return
    if bad_lines:
        bad_line = bad_lines[0]
        text = (
            f"{len(bad_lines)} lines of {place} are no proxies; "
            f"line {bad_line.number}: {bad_line.reason}"
        )
        yield Finding("warn", "proxies", text, "correct the lines; they are left out")
    if not proxies:
        yield Finding("fail", "proxies", f"{place} holds no proxy", _LIST_ADVICE)
        return
    proxies_by_pool = Counter(proxy.pool for proxy in proxies)
    for pool, user in user_by_pool.items():
        if not proxies_by_pool[pool]:
            text = f"{user} asks for the pool {pool!r}, of which {place} has no proxy"
            advice = f"list one with pool={pool}, or name another pool"
            yield Finding("fail", "proxies", text, advice)
    text = ", ".join(f"{proxies_by_pool[pool]} {pool}" for pool in POOLS if proxies_by_pool[pool])
    yield Finding("ok", "proxies", f"{place}: {text}")


def _pools(settings: SettingsLike, site_options: Sequence[FetchOptions]) -> dict[str, str]:
    """Return the pools that sites and settings name, with the name of the site or setting."""
    user_by_pool = {}
    for options in site_options:
        if options.proxy_pool not in {None, "any", "none"}:
            user_by_pool[str(options.proxy_pool)] = f"site {options.site}"
    pool = str(settings.get("SEINE_PROXY_POOL") or "any")
    if pool in POOLS:  # the settings' check reports any other value
        user_by_pool[pool] = "SEINE_PROXY_POOL"
    return user_by_pool


def _lanes(settings: SettingsLike, site_options: Sequence[FetchOptions]) -> Iterator[Finding]:
    try:
        has_browser = flag(settings, "SEINE_BROWSER")
    except ConfigError:  # the settings' check reports it
        return
    sites = sorted(options.site for options in site_options if options.lane == "browser")
    if sites and not has_browser:
        names = ", ".join(sites[:_MAX_NAMES]) + (", …" if len(sites) > _MAX_NAMES else "")
        text = f"{names} must be fetched by a browser, which this worker does not have"
        yield Finding("warn", "lanes", text, "start a worker with SEINE_BROWSER=1 as well")


def job_findings(running: Sequence[Job], *, idle: bool, workers: int) -> list[Finding]:
    """Judge the running jobs; *idle*: the frontier has no request left."""
    findings = []
    for job in running:
        if job.left and idle:
            text = f"job {job.id} lacks {job.left} pages, which the frontier does not have"
            advice = f"`scrapy jobs cancel {job.id}` and start it again: its state was lost"
            findings.append(Finding("fail", "jobs", text, advice))
        elif job.left and not workers:
            text = f"job {job.id} has {job.left} pages left, and no worker is alive"
            findings.append(Finding("warn", "jobs", text, "start one: scrapy crawl catalog"))
        elif not job.planned and not workers:
            text = f"job {job.id} was left half planned"
            advice = "run `scrapy coordinate`, which completes it"
            findings.append(Finding("warn", "jobs", text, advice))
    return findings
