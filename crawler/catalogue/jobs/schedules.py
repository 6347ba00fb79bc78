"""Schedules that an operator makes while the fleet runs, beside those of the site files.

A stored schedule of a site wins over its file's, and is gone with `remove`: the file's holds again.
Only times after its last change count, so that neither making nor resuming one starts the crawl of
a time that is over.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson

from crawler.catalogue.jobs import cron_times
from crawler.catalogue.jobs.model import NAME, Plan
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.lenient import items, real, record, word
from scrapy_seine.records import Value
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)
#: Seeds of one schedule, at most.
MOST_SEEDS = 1000
#: Schedules of one crawl, at most.
MOST = 10_000
_LONGEST_CRON = 200


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Schedule(Value):
    """When a site's full crawl starts."""

    site_id: str
    cron: str = ""
    """A cron expression, UTC; empty: that of the site's file."""
    seeds: tuple[str, ...] = ()
    """Absolute URLs; empty: those of the site's file."""
    paused: bool = False
    changed_at: float = 0.0
    """Unix time of the last change, s."""

    @property
    def since(self) -> datetime:
        """Times before this start nothing."""
        return datetime.fromtimestamp(self.changed_at, UTC)


def checked(site_id: str, cron: str, seeds: Sequence[str], now_s: float) -> Schedule:
    """Make a schedule.

    Raises:
        ConfigError: the site's name, the cron expression or a URL cannot be used; says which.
    """
    if not NAME.fullmatch(site_id):
        raise ConfigError(f"site {site_id!r}: letters, digits and _ . : - only, 120 at most")
    if len(cron) > _LONGEST_CRON:
        raise ConfigError(f"site {site_id}: a schedule has {_LONGEST_CRON} characters at most")
    if len(seeds) > MOST_SEEDS:
        raise ConfigError(f"site {site_id}: {len(seeds)} seeds are more than {MOST_SEEDS}")
    cron_times.check(cron, site_id)
    if cron and not _fires(cron, now_s):
        raise ConfigError(f"site {site_id}: schedule={cron!r} never fires")
    for url in seeds:
        try:
            domain(url)
        except ValueError as error:
            raise ConfigError(f"site {site_id}: {url}: {error}") from None
    return Schedule(site_id=site_id, cron=cron, seeds=tuple(seeds), changed_at=now_s)


def _fires(cron: str, now_s: float) -> bool:
    """Whether a time fits, for instance no 31st of February."""
    try:
        cron_times.last_due(cron, datetime.fromtimestamp(now_s, UTC))
    except (ValueError, ArithmeticError):
        return False
    return True


def merged(plans: Sequence[Plan], stored: Sequence[Schedule]) -> list[Plan]:
    """Return the plans as the stored schedules change them; a site without a file gets its own."""
    by_site = {one.site_id: one for one in stored}
    changed = [_changed(plan, by_site.pop(plan.site_id, None)) for plan in plans]
    return [*changed, *(_changed(Plan(site_id=name), one) for name, one in by_site.items())]


def _changed(plan: Plan, stored: Schedule | None) -> Plan:
    if stored is None:
        return plan
    cron = "" if stored.paused else stored.cron or plan.schedule
    return attrs.evolve(plan, schedule=cron, seeds=stored.seeds or plan.seeds, since=stored.since)


class Schedules:
    """The stored schedules of one crawl, in Redis."""

    def __init__(self, frontier: Frontier) -> None:
        self._redis: Any = frontier.redis
        self._key = frontier.keys.schedules

    async def all(self) -> list[Schedule]:
        """Every schedule, by site; what cannot be read is left out with a line (I8)."""
        found: Mapping[bytes, bytes] = await self._redis.hgetall(self._key)
        return sorted(_read_all(found), key=lambda one: one.site_id)

    async def get(self, site_id: str) -> Schedule | None:
        """One site's schedule, None where none is stored."""
        raw = await self._redis.hget(self._key, site_id)
        return next(_read_all({site_id.encode(): raw}), None) if raw else None

    async def put(self, one: Schedule) -> None:
        """Store a schedule instead of the site's last one.

        Raises:
            ConfigError: there are too many.
        """
        if await self._redis.hlen(self._key) >= MOST:
            raise ConfigError(f"there are {MOST} schedules, which is the most")
        stored = attrs.asdict(one, filter=lambda field, _: field.name != "site_id")
        await self._redis.hset(self._key, one.site_id, orjson.dumps(stored))

    async def pause(self, site_id: str, now_s: float, *, paused: bool) -> Schedule:
        """Start no full crawl of a site by schedule, or start them again; also of a site's file."""
        known = await self.get(site_id) or checked(site_id, "", (), now_s)
        one = attrs.evolve(known, paused=paused, changed_at=now_s)
        await self.put(one)
        return one

    async def remove(self, site_id: str) -> bool:
        """Forget a site's schedule; whether there was one."""
        return bool(await self._redis.hdel(self._key, site_id))


def _read_all(found: Mapping[bytes, bytes]) -> Iterator[Schedule]:
    for site, raw in found.items():
        told = record(raw)
        try:
            one = checked(
                word(site), str(told.get("cron", "")), [str(s) for s in items_of(told)], 0.0
            )
        except ConfigError as error:
            logger.warning("a stored schedule is left out: %s", error)
            continue
        yield attrs.evolve(
            one, paused=told.get("paused") is True, changed_at=real(told.get("changed_at"))
        )


def items_of(told: Mapping[str, Any]) -> list[Any]:
    """Seeds of a stored schedule; none where they are no list."""
    seeds = told.get("seeds")
    return seeds if isinstance(seeds, list) else items(None)
