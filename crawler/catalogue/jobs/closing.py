"""The end of jobs: the first worker or coordinator that sees one complete ends it.

A full crawl saw what its links led to. What it did not see is asked for by its own address before
the job ends, as a task of the kind `check`: so a listing that is a dead letter costs no product its
life, and what is gone says so itself. A job is asked for that once, so that it comes to an end.

Any number of processes may do this at once, and each step twice: checks enter once, by their
fingerprints, before the job is noted as checked. Who reads of a job that it is checked and has
nothing left therefore knows that its checks are over. `finish_site` does its work once a job.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby

import attrs
import psycopg2

from crawler.catalogue.jobs.in_postgres import note_on, record
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import ENDED, Job
from crawler.extract.sites_without_products import HELP
from crawler.http_validators import KEY, Validators
from crawler.stores.gone_products import Finished, Unseen, find_unseen, finish_site
from scrapy_seine import meta as m
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)
_DAY_S = 86_400.0
#: Products that are looked up and asked for at a time.
BATCH = 5_000


async def end_jobs(jobs: Jobs, database_url: str, at: datetime | None = None) -> list[Job]:
    """End each job that is complete, and record it; returns those that ended.

    A full crawl with products that it did not see gets checks instead, and ends after these.

    Raises:
        StoreUnreachable: the database does not answer.
        psycopg2.Error: it refuses; the other jobs are ended by then.
        RedisError: Redis does not answer.
    """
    running = await jobs.running()
    idle = bool(running) and await jobs.frontier.idle()
    at, ended, errors = at or datetime.now(UTC), [], []
    for job in running:
        if not is_over(job, at, idle=idle):
            continue
        try:
            done = await _end(jobs, database_url, job, at)
        except (StoreUnreachable, psycopg2.Error) as error:  # those of other sites end all the same
            errors.append(error)
            continue
        if done is not None:
            told = ", ".join(f"{getattr(job, name)} {name}" for name in ENDED)
            logger.info("job %s is finished: %s", job.id, told)
            ended.append(done)
    if errors:
        raise errors[0]
    return ended


def is_over(job: Job, at: datetime, *, idle: bool) -> bool:
    """Whether a job has nothing left to do; a day's re-crawl is over with its day.

    *idle*: the whole crawl has nothing left, whatever the job's own counters say.
    """
    if job.kind == "recrawl" and (at - job.started).total_seconds() < _DAY_S:
        return False
    return job.complete or (idle and job.state == "running" and job.planned)


async def _end(jobs: Jobs, database_url: str, job: Job, at: datetime) -> Job | None:
    note = ""
    if job.kind == "full" and job.done:
        if not job.checked:
            sent = await _check(jobs, database_url, job)
            await jobs.note_checked(job)
            if sent:
                logger.info("job %s: %d products that it had not seen are requested", job.id, sent)
            # Also where none entered: somebody else's may have, a moment before.
            found, idle = await jobs.get(job.id), await jobs.frontier.idle()
            if found is None or not is_over(found, at, idle=idle):
                return None
        made = await asyncio.to_thread(
            finish_site, database_url, job.site_id, job.started, job_id=job.id
        )
        note = fruitless(job, made)
    done = attrs.evolve(job, state="finished", finished_at=await jobs.now_s())
    # First: of a job that has ended nobody would write it any more.
    await asyncio.to_thread(record, database_url, jobs.frontier.keys.crawl, [done])
    if note:
        await asyncio.to_thread(note_on, database_url, job.id, note)
        logger.warning("job %s: %s", job.id, note)
    await jobs.finish(job)
    return done


def fruitless(job: Job, made: Finished | None) -> str:
    """Say of a job that read pages and saw no product, and what may help; else nothing."""
    if made is None or made.quality.products or not job.done:
        return ""
    rejected = made.quality.rejected
    why = f" ({rejected} were rejected: scrapy export rejected_items)" if rejected else ""
    return f"{job.done} pages were read, and none showed a product{why}; {HELP}"


async def _check(jobs: Jobs, database_url: str, job: Job) -> int:
    """Ask for what a full crawl did not see; returns how many checks entered."""
    sent, after = 0, ""
    while True:
        found = await asyncio.to_thread(
            find_unseen,
            database_url,
            job.site_id,
            job.started,
            job_id=job.id,
            after=after,
            limit=BATCH,
        )
        if not found:
            return sent
        after = found[-1].url
        asked = {url: list(rows) for url, rows in groupby(found, lambda row: row.url)}
        sent += await jobs.add(
            job.id,
            site_id=job.site_id,
            kind="check",
            urls=[url for url in asked if _can_be_asked(url)],
            marks=dict.fromkeys(asked, "@check"),
            metas={url: _meta(job, url, rows) for url, rows in asked.items()},
            priority=0,
        )


def _can_be_asked(url: str) -> bool:
    try:
        return bool(domain(url))
    except ValueError:
        return False


def _meta(job: Job, url: str, rows: Sequence[Unseen]) -> dict[str, object]:
    only = rows[0] if len(rows) == 1 else None
    # Where a redirect leads may have been seen by the crawl, or by another check: not in its own
    # scope, in which it is fetched again.
    made: dict[str, object] = {m.SCOPE: f"{job.id}@check {url}"}
    if only is None:
        return {**made, m.KNOWN: {}}
    return {
        **made,
        **conditions(only.etag, only.last_modified, only.parser),
        m.KNOWN: {"id": only.external_id, "name": only.name},
    }


def conditions(
    etag: str | None, last_modified: str | None, parser: str | None
) -> Mapping[str, object]:
    """What a request for a page whose state is known has in its meta."""
    validators = Validators(etag, last_modified)
    if not parser or not validators.headers():
        return {}
    return {KEY: validators.plain(parser)}
