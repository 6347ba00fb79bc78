"""Jobs whose state Redis lost are begun anew, under another name (I12).

PostgreSQL keeps what a job was begun with. A job that runs there and is unknown in Redis has lost
its counters, and with a whole server its requests as well: nobody can say any more what of it is
done. Its record becomes `lost`, which no later record changes, and a job of the next name starts
from the same seeds. The other name gives it a scope of its own, in which each URL enters again
whatever Redis still remembers, and counters that no request of the lost job touches.

Any number of processes may do this at once, and each step twice: the new name follows from the old
one, and beginning a job twice makes one job.
"""

from __future__ import annotations

import asyncio
import logging

from crawler.catalogue.jobs.in_postgres import Unended, mark_lost, record, recorded_state, unended
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import ENDED_STATES, Job, next_name
from crawler.stores.frontier_ids import note_frontier
from scrapy_seine.lenient import moment_of, whole

logger = logging.getLogger(__name__)


async def restore_jobs(jobs: Jobs, database_url: str) -> list[Job]:
    """Begin jobs anew that Redis lost; returns the new ones.

    Raises:
        StoreUnreachable: the database does not answer.
        RedisError: Redis does not answer.
    """
    crawl = jobs.frontier.keys.crawl
    await _note(jobs, database_url)
    begun, ended = [], []
    for known in await asyncio.to_thread(unended, database_url, crawl):
        job = await jobs.get(known.id)
        if job is not None:
            if job.state in ENDED_STATES:  # whoever ended it did not record it
                ended.append(job)
            continue
        again = await _begin(jobs, database_url, known)
        if again is not None:
            begun.append(again)
    if ended:
        await asyncio.to_thread(record, database_url, crawl, ended)
    return begun


async def _note(jobs: Jobs, database_url: str) -> None:
    """Compare the crawl's frontier with the one that it was last known to run on."""
    known = [part.watch.known for part in jobs.frontier.parts]
    ids = [one.id for one in known if one is not None]
    if len(ids) < len(known):  # this process did not join the crawl
        return
    keys, redis = jobs.frontier.keys, jobs.frontier.redis
    told = whole(await redis.hget(keys.control, "stored"))
    noted = await asyncio.to_thread(note_frontier, database_url, keys.crawl, "+".join(ids))
    await redis.hset(keys.control, "stored", str(noted.at))
    if noted.before is not None:
        logger.error(
            "state_lost: crawl %r ran on another frontier before; jobs that ran begin anew "
            "(docs/runbooks/state-lost.md)",
            keys.crawl,
        )
    elif told > noted.was_at:
        logger.error(
            "state_rolled_back: PostgreSQL has an older state of crawl %r than Redis, or is "
            "another database: it lacks what was stored since %s, and the pages of that are done; "
            "to ask for them again, `scrapy forget '*' --crawl %s` and crawl "
            "(docs/runbooks/state-lost.md)",
            keys.crawl,
            f"{moment_of(noted.was_at / 1e6):%Y-%m-%d %H:%M:%S}" if noted.was_at else "ever",
            keys.crawl,
        )


async def _begin(jobs: Jobs, database_url: str, known: Unended) -> Job | None:
    name, again = next_name(known.id), None
    if known.urls:
        again = await jobs.begin(
            name, site_id=known.site_id, kind=known.kind, urls=known.urls, fields=known.fields
        )
        if known.paused:
            await jobs.pause(again)
        await asyncio.to_thread(record, database_url, jobs.frontier.keys.crawl, [again])
        logger.error("state_lost: job %s is lost; it begins anew as %s", known.id, name)
        note = f"Redis lost its state; it was begun anew as {name}"
    else:  # one that grows as products become due, or of an older version
        logger.error(
            "state_lost: job %s is lost; the products that it was to fetch are due again", known.id
        )
        note = "Redis lost its state"
    await asyncio.to_thread(mark_lost, database_url, known.id, note)
    await jobs.note_lost(known.id)
    return again


async def free_name(database_url: str, name: str) -> str:
    """Return the name under which a job of this name may be begun: that of no lost one."""
    while await asyncio.to_thread(recorded_state, database_url, name) == "lost":
        name = next_name(name)
    return name
