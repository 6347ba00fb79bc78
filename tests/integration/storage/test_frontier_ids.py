"""I12: PostgreSQL remembers on which frontier a crawl ran."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from redis.asyncio import Redis

from crawler.catalogue.jobs.in_postgres import record
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.restoring import restore_jobs
from crawler.stores.frontier_ids import RecordedFrontier, note_frontier
from scrapy_seine.frontier.frontier import Frontier
from tests.helpers import execute

pytestmark = pytest.mark.postgres


def test_another_frontier_is_told_once_with_the_one_before(database: str) -> None:
    first = note_frontier(database, "catalog", "a")
    assert (first.before, first.was_at) == (None, 0)
    assert note_frontier(database, "catalog", "a") == RecordedFrontier(None, first.at, first.at)
    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda _: note_frontier(database, "catalog", "b"), range(8)))
    assert sorted((noted.before for noted in told), key=str) == [*[None] * 7, "a"]
    assert note_frontier(database, "other", "a").before is None
    assert note_frontier(database, "catalog", "c").before == "b"


@pytest.mark.redis
async def test_a_database_that_is_older_than_its_frontier_is_told_once(
    database: str, redis_client: Redis, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """I12: the pages of rows that it lacks are done, and nobody asks for them again."""
    frontier = Frontier(redis_client, namespace)
    await frontier.begin()
    jobs = Jobs(frontier)

    async def told() -> int:
        caplog.clear()
        await restore_jobs(jobs, database)
        return sum("state_rolled_back: PostgreSQL" in line for line in caplog.messages)

    assert [await told(), await told()] == [0, 0]
    execute(database, "UPDATE crawls SET since = since - interval '1 day'")
    assert [await told(), await told()] == [1, 0]
    execute(database, "DELETE FROM crawls")  # another database
    assert [await told(), await told()] == [1, 0]
    await redis_client.hset(frontier.keys.control, "stored", "x")  # type: ignore[misc]
    assert await told() == 0


@pytest.mark.redis
async def test_a_job_whose_list_was_deleted_is_listed_again(
    database: str, redis_client: Redis, namespace: str
) -> None:
    """It was in no list, so that nobody saw that it was complete, and it ran for ever."""
    jobs = Jobs(Frontier(redis_client, namespace))
    job = await jobs.begin("j", site_id="s", kind="full", urls=["http://a.example/"])
    record(database, namespace, [job])
    await redis_client.delete(jobs.frontier.keys.jobs)
    assert await jobs.running() == []
    await restore_jobs(jobs, database)
    assert [(one.id, one.started_at) for one in await jobs.running()] == [("j", job.started_at)]
