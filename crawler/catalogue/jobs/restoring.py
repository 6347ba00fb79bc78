"""Begin jobs whose state Redis lost anew, under another name (I12).

PostgreSQL stores the seeds of a job. A job that runs there and is missing in Redis has lost its
counters, and perhaps its requests, so its progress is unknown. Its record becomes `lost`, which no
later record changes, and a job with the next name starts from the same seeds. The other name gives
the new job its own scope, in which each URL is fetched again, and its own counters, which requests
of the lost job do not change.

Any number of processes may run this at once, and each step is idempotent: the new name follows from
the old one and the plan, and beginning a job twice makes one job.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from crawler.catalogue.jobs.in_postgres import Unended, mark_lost, record, recorded_state, unended
from crawler.catalogue.jobs.in_redis import Jobs, plan_of
from crawler.catalogue.jobs.model import ENDED_STATES, Job, next_name
from crawler.stores.frontier_ids import note_frontier
from scrapy_seine.lenient_parsing import moment_of, whole_number
from scrapy_seine.lenient_parsing import record as record_of

logger = logging.getLogger(__name__)


async def restore_jobs(jobs: Jobs, database_url: str) -> list[Job]:
    """Begin the jobs that Redis lost anew; return the new jobs.

    Raises:
        StoreUnreachable: the database does not answer.
        RedisError: Redis does not answer.
    """
    crawl = jobs.frontier.keys.crawl
    await _check_frontier(jobs, database_url)
    begun_jobs, ended_jobs = [], []
    recorded_jobs = await asyncio.to_thread(unended, database_url, crawl)
    for recorded in recorded_jobs:
        job = await jobs.get(recorded.id)
        if job is not None:
            if job.state in ENDED_STATES:  # the process that ended it did not record it
                ended_jobs.append(job)
            else:
                await jobs.keep_listed(job)
            continue
        name = await _next_free_name(jobs, recorded, {job.id for job in recorded_jobs})
        restored = await _begin_anew(jobs, database_url, recorded, name)
        if restored is not None:
            begun_jobs.append(restored)
    if ended_jobs:
        await asyncio.to_thread(record, database_url, crawl, ended_jobs)
    return begun_jobs


async def _check_frontier(jobs: Jobs, database_url: str) -> None:
    """Compare the crawl's frontier with the recorded one; log a lost or older state."""
    identities = [part.watch.known for part in jobs.frontier.parts]
    ids = [identity.id for identity in identities if identity is not None]
    if len(ids) < len(identities):  # this process did not join the crawl
        return
    keys, redis = jobs.frontier.keys, jobs.frontier.redis
    redis_at = whole_number(await redis.hget(keys.control, "stored"))
    recorded = await asyncio.to_thread(note_frontier, database_url, keys.crawl, "+".join(ids))
    await redis.hset(keys.control, "stored", str(recorded.at))
    if recorded.before is not None:
        logger.error(
            "state_lost: crawl %r ran on another frontier before; jobs that ran begin anew "
            "(docs/runbooks/state-lost.md)",
            keys.crawl,
        )
    elif redis_at > recorded.was_at:
        logger.error(
            "state_rolled_back: PostgreSQL has an older state of crawl %r than Redis, or is "
            "another database: it lacks what was stored since %s, and the pages of that are done; "
            "to ask for them again, `scrapy forget '*' --crawl %s` and crawl "
            "(docs/runbooks/state-lost.md)",
            keys.crawl,
            f"{moment_of(recorded.was_at / 1e6):%Y-%m-%d %H:%M:%S}" if recorded.was_at else "ever",
            keys.crawl,
        )


async def _next_free_name(jobs: Jobs, lost_job: Unended, names: Collection[str]) -> str:
    """Return the first next name that is no other job's: of *names*, those that have not ended.

    A job of the same plan is the lost one, which another process has begun anew.
    """
    plan, name = record_of(plan_of(lost_job.urls, lost_job.fields)), next_name(lost_job.id)
    while True:
        existing = await jobs.get(name)
        is_the_same = existing is not None and record_of(existing.plan) == plan
        if is_the_same or (existing is None and name not in names):
            return name
        name = next_name(name)


async def _begin_anew(jobs: Jobs, database_url: str, lost_job: Unended, name: str) -> Job | None:
    restored = None
    if lost_job.urls:
        restored = await jobs.begin(
            name,
            site_id=lost_job.site_id,
            kind=lost_job.kind,
            urls=lost_job.urls,
            fields=lost_job.fields,
        )
        if lost_job.paused:
            await jobs.pause(restored)
        await asyncio.to_thread(record, database_url, jobs.frontier.keys.crawl, [restored])
        logger.error("state_lost: job %s is lost; it begins anew as %s", lost_job.id, name)
        note = f"Redis lost its state; it was begun anew as {name}"
    else:  # a re-crawl, which has no seeds, or a job of an older version
        logger.error(
            "state_lost: job %s is lost; the products that it was to fetch are due again",
            lost_job.id,
        )
        note = "Redis lost its state"
    await asyncio.to_thread(mark_lost, database_url, lost_job.id, note)
    await jobs.note_lost(lost_job.id)
    return restored


async def free_name(database_url: str, name: str) -> str:
    """Return the first name from *name* on that is not that of a lost job."""
    while await asyncio.to_thread(recorded_state, database_url, name) == "lost":
        name = next_name(name)
    return name
