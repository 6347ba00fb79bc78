"""When full crawls begin: schedules that change, and crawls that last until the next one is due."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import attrs
import orjson
import pytest

from crawler.catalogue.jobs import cron_times
from crawler.catalogue.jobs.model import job_id
from crawler.catalogue.jobs.schedules import Schedules, checked
from scrapy_seine.engine.ending.shutdown import cancel
from scrapy_seine.errors import ConfigError
from tests.helpers import wait_until_async
from tests.integration.jobs.kit import NOW, PLAN, SEEDS, begin

pytestmark = [pytest.mark.redis, pytest.mark.postgres]


async def test_a_schedule_can_be_changed_where_there_are_as_many_as_there_may_be(
    driver, monkeypatch
):
    """Neither could it be paused: the check counted a changed schedule as a new one."""
    monkeypatch.setattr("crawler.catalogue.jobs.schedules.MAX_SCHEDULES", 1)
    schedules = Schedules(driver.f)
    await schedules.put(checked("shop", "0 4 * * *", SEEDS, 0))
    assert (await schedules.pause("shop", 1.0, paused=True)).paused
    with pytest.raises(ConfigError, match="which is the most"):
        await schedules.put(checked("other", "0 4 * * *", SEEDS, 0))


async def names_of(coordinator):
    return {job.id for job in await coordinator.jobs.newest()}


async def test_a_schedule_that_is_changed_right_after_its_time_starts_that_crawl(
    coordinator, driver
):
    """The changed schedule knows no time before its change, so that the crawl never began."""
    schedules, four = Schedules(driver.f), NOW.replace(hour=4)
    since = (four - timedelta(hours=1)).timestamp()
    await schedules.put(checked("shop", "0 4 * * *", SEEDS, since))
    await coordinator.step(four - timedelta(seconds=1))
    assert await names_of(coordinator) == set()
    await schedules.put(checked("shop", "0 5 * * *", SEEDS, four.timestamp() + 0.5))
    await coordinator.step(four + timedelta(seconds=1))
    await coordinator.step(four + timedelta(seconds=2))
    assert await names_of(coordinator) == {"shop-full-20261121T0400"}


async def test_a_schedule_that_is_paused_right_after_its_time_starts_nothing(coordinator, driver):
    schedules, four = Schedules(driver.f), NOW.replace(hour=4)
    await schedules.put(checked("shop", "0 4 * * *", SEEDS, four.timestamp() - 3600))
    await coordinator.step(four - timedelta(seconds=1))
    await schedules.pause("shop", four.timestamp() + 0.5, paused=True)
    await coordinator.step(four + timedelta(seconds=1))
    assert await names_of(coordinator) == set()


async def test_a_schedule_that_is_removed_starts_no_crawl_of_a_past_time(coordinator, driver):
    """The site's file has no time of change, so that its last time was due at once."""
    schedules = Schedules(driver.f)
    await schedules.put(checked("shop", "0 20 * * *", SEEDS, NOW.timestamp() - 86_400))
    assert await schedules.remove("shop", NOW.timestamp())
    assert not await schedules.remove("shop", NOW.timestamp()), "it is removed"
    assert (await schedules.all(), await schedules.get("shop")) == ([], None)
    for hours in (0, 1):
        await coordinator.step(NOW + timedelta(hours=hours))
        assert await names_of(coordinator) == set()
    at_four = NOW + timedelta(hours=16)
    await coordinator.step(at_four)
    assert await names_of(coordinator) == {job_id("shop", "full", at_four)}
    await coordinator.step(at_four + timedelta(minutes=2))
    assert not await schedules.all(removed=True), "nothing is kept of it"


@pytest.mark.parametrize("cron", ["", "0 20 * * *"])
async def test_what_is_kept_of_a_removed_schedule_ends_with_its_sites_file(driver, cron):
    schedules = Schedules(driver.f)
    await schedules.put(checked("gone", cron, SEEDS, 0))
    assert await schedules.remove("gone", 1.0)
    await schedules.forget_removed([PLAN], NOW)
    assert not await schedules.all(removed=True)


@pytest.mark.parametrize(
    ("running", "days", "waits"),
    [
        ((1.0, "running"), 2, True),
        ((0.0, "paused"), 2, True),
        ((0.0, "running"), 2, False),  # it stands still
        ((1.0, "running"), 9, False),  # of a site without end, or of a trap
        ((1.0, "cancelled"), 2, False),
    ],
)
async def test_a_full_crawl_waits_for_the_sites_running_one(
    coordinator, redis_client, running, days, waits
):
    """Both fetch the same pages: each day of a long crawl put one more job beside it."""
    (rate, state), jobs = running, coordinator.jobs
    job = await begin(jobs)
    now = job.started + timedelta(days=days)
    pace = orjson.dumps([now.timestamp(), 2, 0, rate, 0.0])
    await redis_client.hset(jobs._key(job.id), mapping={"pace": pace, "state": state})
    for _ in range(2):
        await coordinator.step(now)
    assert len(await names_of(coordinator)) == (1 if waits else 2)
    if waits:
        await redis_client.hset(jobs._key(job.id), "done", 2)
        await coordinator.step(now + timedelta(minutes=1))
        assert len(await names_of(coordinator)) == 2


async def test_a_full_crawl_waits_for_one_that_began_a_moment_before(coordinator, caplog):
    job = await begin(coordinator.jobs)
    plan = attrs.evolve(PLAN, schedule="* * * * *")
    for _ in range(2):
        await coordinator._plan_full_crawl(plan, job.started + timedelta(minutes=2))
    assert await names_of(coordinator) == {"shop-1"}
    assert caplog.text.count("begins later: job shop-1 crawls shop and has 2 requests left") == 1
    await coordinator._plan_full_crawl(plan, job.started + timedelta(minutes=9))
    assert len(await names_of(coordinator)) == 2


@pytest.mark.parametrize("hours", [-26, 26])
async def test_schedules_are_due_by_the_clock_of_redis(coordinator, monkeypatch, hours):
    """I6: a coordinator a day ahead began tomorrow's crawl, so that tomorrow had none."""

    class Elsewhere(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(hours=hours)

    for module in ("coordinator.leader", "jobs.in_redis"):
        monkeypatch.setattr(f"crawler.catalogue.{module}.datetime", Elsewhere)
    coordinator.round_s = 0.01
    leading = asyncio.ensure_future(coordinator.run())

    async def has_begun() -> bool:
        return bool(await names_of(coordinator))

    try:
        await wait_until_async(has_begun, 10, "the full crawl begins")
    finally:
        await cancel([leading])
    due_at = cron_times.last_due(PLAN.schedule, await coordinator.jobs.now())
    assert await names_of(coordinator) == {job_id("shop", "full", due_at)}
