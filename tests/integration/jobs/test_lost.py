"""I12: jobs whose state Redis lost begin anew by their record in PostgreSQL, and none is lost."""

from __future__ import annotations

from datetime import timedelta

import orjson
import pytest

from crawler.catalogue.jobs.in_postgres import record
from crawler.catalogue.jobs.model import Plan
from crawler.catalogue.jobs.restoring import restore_jobs
from scrapy_seine.frontier.lost_state import StateLost
from scrapy_seine.sinks.postgres.database import connect
from tests.integration.jobs.kit import NOW, add_products

pytestmark = [pytest.mark.redis, pytest.mark.postgres]


async def lost_rows(database):
    with connect(database) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT job_id, state, total, done FROM jobs ORDER BY job_id")
        return cursor.fetchall()


@pytest.mark.parametrize("how", ["its own key", "the whole crawl"])
async def test_a_job_whose_state_is_lost_begins_anew_and_is_not_finished(
    coordinator, driver, database, redis_client, how
):
    """I12: by its next name, in whose scope each URL enters, whatever Redis still remembers."""
    name = "shop-full-20261121T0400"
    await coordinator.step(NOW)
    await driver.ack(*await driver.take(1))
    if how == "its own key":
        await redis_client.delete(coordinator.jobs._key(name))
    else:
        await driver.f.erase()
        with pytest.raises(StateLost):
            await coordinator.jobs.frontier.idle()
        coordinator._has_joined = False
    for _ in range(3):
        await coordinator.step(NOW)
    assert await lost_rows(database) == [
        (name, "lost", 2, 0),
        (f"{name}:2", "running", 2, 0),
    ]
    assert [job.id for job in await coordinator.jobs.running()] == [f"{name}:2"]
    leases = await driver.take(9)
    assert sum(lease.job == f"{name}:2" for lease in leases) == 2
    await driver.ack(*leases)
    await coordinator.step(NOW + timedelta(hours=1))
    assert await lost_rows(database) == [(name, "lost", 2, 0), (f"{name}:2", "finished", 2, 2)]


async def test_of_two_lost_jobs_of_one_minute_each_begins_anew_with_its_own_seeds(
    driver, jobs, database
):
    """The first one's next name is the second one's."""
    seeds = {"one": ["http://shop.example/one"], "two": ["http://shop.example/two"]}
    lost = [await jobs.start("shop", urls, NOW) for urls in seeds.values()]
    crawl = driver.f.keys.crawl
    record(database, crawl, lost)
    await driver.f.erase()
    for _ in range(2):  # another process does the same
        await restore_jobs(jobs, database)
    states = {row[0]: row[1] for row in await lost_rows(database)}
    name = lost[0].id
    assert states == {
        name: "lost",
        f"{name}:2": "lost",
        f"{name}:3": "running",
        f"{name}:4": "running",
    }
    restored = [orjson.loads(job.plan)["urls"] for job in await jobs.running()]
    assert sorted(restored) == sorted(seeds.values())
    assert len(await driver.take(9)) == 2


async def test_an_ended_job_that_redis_lost_does_not_begin_again(coordinator, driver, database):
    await coordinator.step(NOW)
    await driver.ack(*await driver.take(9))
    await coordinator.step(NOW)
    await driver.f.erase()
    coordinator._has_joined = False
    await coordinator.step(NOW)
    assert [state for _, state, _, _ in await lost_rows(database)] == ["finished"]
    assert not await driver.take(9)


async def test_the_coordinator_calls_nothing_finished_on_another_state(coordinator, driver):
    """I12: an empty frontier looks like a finished one."""
    await coordinator.step(NOW)
    (job,) = await coordinator.jobs.running()
    await driver.f.erase()
    with pytest.raises(StateLost):
        await coordinator.jobs.frontier.idle()
    assert job.left == 2


async def test_a_lost_recrawl_is_begun_by_its_next_name(coordinator, database, driver):
    add_products(database, days_ago=[40])
    coordinator.plans = [Plan(site_id="shop", recrawl_s=86_400)]
    await coordinator.step(NOW)
    name = (await coordinator.jobs.running())[0].id
    await driver.f.erase()
    coordinator._has_joined, coordinator._recrawled_at = False, None
    await coordinator.step(NOW)
    assert [job.id for job in await coordinator.jobs.running()] == [f"{name}:2"]
    assert len(await driver.take(9)) == 1
