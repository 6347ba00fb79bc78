"""Schedules that an operator sets while the fleet runs, beside those of the site files.

A stored schedule overrides that of the site's file until it is removed. Only times after its last
change count, so that neither creating, resuming nor removing a schedule starts the crawl of a past
time. For that the time of a removal stays stored, as an empty schedule, until the file's next time.
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
from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.lenient_parsing import items, real, record, word
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)
#: Most seeds of one schedule.
MAX_SEEDS = 1000
#: Most schedules of one crawl.
MAX_SCHEDULES = 10_000
_MAX_CRON_LENGTH = 200
#: Characters of a site's name, so that a job's name has room for its kind, time and number.
_MAX_SITE_LENGTH = 90


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Schedule(Value):
    """The schedule of a site's full crawls."""

    site_id: str
    cron: str = ""
    """A cron expression, UTC; empty: the one of the site's file."""
    seeds: tuple[str, ...] = ()
    """Absolute URLs; empty: those of the site's file."""
    paused: bool = False
    removed: bool = False
    """It stands for the site's file from *changed_at* on; only the coordinator reads it."""
    changed_at: float = 0.0
    """Unix time of the last change, s."""

    @property
    def since(self) -> datetime:
        """Times before this start no crawl."""
        return datetime.fromtimestamp(self.changed_at, UTC)


def checked(site_id: str, cron: str, seeds: Sequence[str], now_s: float) -> Schedule:
    """Check the values and return the schedule.

    Raises:
        ConfigError: the site's name, the cron expression or a URL is invalid; the message has it.
    """
    if not NAME.fullmatch(site_id) or len(site_id) > _MAX_SITE_LENGTH:
        text = f"letters, digits and _ . : - only, {_MAX_SITE_LENGTH} at most"
        raise ConfigError(f"site {site_id!r}: {text}")
    if len(cron) > _MAX_CRON_LENGTH:
        raise ConfigError(f"site {site_id}: a schedule has {_MAX_CRON_LENGTH} characters at most")
    if len(seeds) > MAX_SEEDS:
        raise ConfigError(f"site {site_id}: {len(seeds)} seeds are more than {MAX_SEEDS}")
    cron_times.check(cron, site_id)
    for url in seeds:
        try:
            domain(url)
        except ValueError as error:
            raise ConfigError(f"site {site_id}: {url}: {error}") from None
    return Schedule(site_id=site_id, cron=cron, seeds=tuple(seeds), changed_at=now_s)


def merged(plans: Sequence[Plan], stored_schedules: Sequence[Schedule]) -> list[Plan]:
    """Return the plans with the stored schedules applied; a site without a file gets a new plan."""
    by_site = {schedule.site_id: schedule for schedule in stored_schedules}
    changed = [_with_schedule(plan, by_site.pop(plan.site_id, None)) for plan in plans]
    return [
        *changed,
        *(_with_schedule(Plan(site_id=name), schedule) for name, schedule in by_site.items()),
    ]


def _with_schedule(plan: Plan, stored_schedule: Schedule | None) -> Plan:
    if stored_schedule is None:
        return plan
    cron = "" if stored_schedule.paused else stored_schedule.cron or plan.schedule
    return attrs.evolve(
        plan, schedule=cron, seeds=stored_schedule.seeds or plan.seeds, since=stored_schedule.since
    )


class Schedules:
    """The stored schedules of one crawl, in Redis."""

    def __init__(self, frontier: Frontier) -> None:
        self._redis: Any = frontier.redis
        self._key = frontier.keys.schedules

    async def all(self, *, removed: bool = False) -> list[Schedule]:
        """Return all schedules, by site; unreadable ones are skipped and logged (I8).

        *removed*: also those that stand for a removal.
        """
        fields: Mapping[bytes, bytes] = await self._redis.hgetall(self._key)
        found = [each for each in _read_all(fields) if removed or not each.removed]
        return sorted(found, key=lambda schedule: schedule.site_id)

    async def get(self, site_id: str) -> Schedule | None:
        """Return one site's stored schedule, or None."""
        raw = await self._redis.hget(self._key, site_id)
        found = next(_read_all({site_id.encode(): raw}), None) if raw else None
        return None if found is None or found.removed else found

    async def put(self, schedule: Schedule) -> None:
        """Store a schedule and replace the site's last one.

        Raises:
            ConfigError: there are too many schedules.
        """
        is_new = not await self._redis.hexists(self._key, schedule.site_id)
        if is_new and await self._redis.hlen(self._key) >= MAX_SCHEDULES:
            raise ConfigError(f"there are {MAX_SCHEDULES} schedules, which is the most")
        await self._write(schedule)

    async def _write(self, schedule: Schedule) -> None:
        values = attrs.asdict(schedule, filter=lambda field, _: field.name != "site_id")
        await self._redis.hset(self._key, schedule.site_id, orjson.dumps(values))

    async def pause(self, site_id: str, now_s: float, *, paused: bool) -> Schedule:
        """Pause or resume the scheduled full crawls of a site, also those of the site's file."""
        current = await self.get(site_id) or checked(site_id, "", (), now_s)
        changed = attrs.evolve(current, paused=paused, changed_at=now_s)
        await self.put(changed)
        return changed

    async def remove(self, site_id: str, now_s: float) -> bool:
        """Remove a site's schedule; return whether it had one."""
        if await self.get(site_id) is None:
            return False
        await self._write(Schedule(site_id=site_id, removed=True, changed_at=now_s))
        return True

    async def forget_removed(self, plans: Sequence[Plan], now: datetime) -> None:
        """Delete removed schedules that no past time of a site's file needs any longer."""
        files = {plan.site_id: plan.schedule for plan in plans if plan.schedule}
        for schedule in await self.all(removed=True):
            cron = files.get(schedule.site_id)
            if schedule.removed and (
                cron is None or cron_times.last_due(cron, now) >= schedule.since
            ):
                await self._redis.hdel(self._key, schedule.site_id)


def _read_all(fields: Mapping[bytes, bytes]) -> Iterator[Schedule]:
    for site, raw in fields.items():
        values = record(raw)
        try:
            schedule = checked(
                word(site), str(values.get("cron", "")), [str(s) for s in _seeds_of(values)], 0.0
            )
        except ConfigError as error:
            logger.warning("a stored schedule is left out: %s", error)
            continue
        yield attrs.evolve(
            schedule,
            paused=values.get("paused") is True,
            removed=values.get("removed") is True,
            changed_at=real(values.get("changed_at")),
        )


def _seeds_of(values: Mapping[str, Any]) -> list[Any]:
    """Return the seeds of a stored schedule; none if the value is no list."""
    seeds = values.get("seeds")
    return seeds if isinstance(seeds, list) else items(None)
