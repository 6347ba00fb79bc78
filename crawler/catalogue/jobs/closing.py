"""End complete jobs: the first worker or coordinator that sees a complete job ends it.

A full crawl sees the products that its links lead to. Before the job ends, the other products of
the site are requested by their own URLs, as tasks of the kind `check`, because a listing may be a
dead letter: only a product's own page shows that the product is gone. A job sends its checks only
once, because it would never end otherwise.

Any number of processes may run this at once, and each step is idempotent: checks are pushed once,
by their fingerprints, before the job is marked as checked. So a job that is checked and has no
requests left has finished its checks. `finish_site` does its work once a job.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby

import attrs
import psycopg2

from crawler.access.proxies.doubtful_pages import jobs_with_doubtful_pages
from crawler.access.shared_state import USUAL_FLEET
from crawler.catalogue.jobs.in_postgres import note_on, record
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import ENDED, Job
from crawler.conditional_headers import KEY, Validators
from crawler.extract.sites_without_products import HELP
from crawler.stores.gone_products import Finished, Unseen, find_unseen, finish_site
from scrapy_seine import meta as m
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)
_DAY_S = 86_400.0
#: Products that are read and requested at a time.
BATCH = 5_000


async def end_jobs(
    jobs: Jobs, database_url: str, now: datetime | None = None, *, fleet: str = USUAL_FLEET
) -> list[Job]:
    """End and record each complete job; return the ended ones.

    A full crawl with unseen products gets checks first, and ends after these. A job whose pages are
    to be fetched again, because a proxy of the *fleet* answered them by itself, is not complete:
    workers with proxies request these pages, while any process may end jobs.

    Raises:
        StoreUnreachable: the database does not answer.
        psycopg2.Error: the database refuses a statement; the other jobs are ended before.
        RedisError: Redis does not answer.
    """
    running = await jobs.running()
    idle = bool(running) and await jobs.frontier.idle()
    now, ended_jobs, errors = now or datetime.now(UTC), [], []
    over = [job for job in running if is_over(job, now, idle=idle)]
    frontier = jobs.frontier
    unfinished = (
        await jobs_with_doubtful_pages(frontier.redis, fleet, frontier.keys.crawl) if over else ()
    )
    for job in over:
        if job.id in unfinished:
            continue
        try:
            ended_job = await _end(jobs, database_url, job, now)
        except (StoreUnreachable, psycopg2.Error) as error:  # must not stop jobs of other sites
            errors.append(error)
            continue
        if ended_job is not None:
            counters = ", ".join(f"{getattr(job, name)} {name}" for name in ENDED)
            logger.info("job %s is finished: %s", job.id, counters)
            ended_jobs.append(ended_job)
    if errors:
        raise errors[0]
    return ended_jobs


def is_over(job: Job, now: datetime, *, idle: bool) -> bool:
    """Whether a job has no requests left; a day's re-crawl is over only after its day.

    *idle*: the whole crawl has no requests left, whatever the job's own counters are.
    """
    if job.kind == "recrawl" and (now - job.started).total_seconds() < _DAY_S:
        return False
    return job.complete or (idle and job.state == "running" and job.planned)


async def _end(jobs: Jobs, database_url: str, job: Job, now: datetime) -> Job | None:
    note = ""
    if job.kind == "full" and job.done:
        if not job.checked:
            check_count = await _request_unseen(jobs, database_url, job)
            await jobs.note_checked(job)
            if check_count:
                logger.info(
                    "job %s: %d products that it had not seen are requested", job.id, check_count
                )
            # Also if no check was new, because another process may just have pushed them.
            current, idle = await jobs.get(job.id), await jobs.frontier.idle()
            if current is None or not is_over(current, now, idle=idle):
                return None
        result = await asyncio.to_thread(
            finish_site, database_url, job.site_id, job.started, job_id=job.id
        )
        note = note_without_products(job, result)
    ended_job = attrs.evolve(job, state="finished", finished_at=await jobs.now_s())
    # Recorded before Redis, because no process records a job that has ended there.
    await asyncio.to_thread(record, database_url, jobs.frontier.keys.crawl, [ended_job])
    if note:
        await asyncio.to_thread(note_on, database_url, job.id, note)
        logger.warning("job %s: %s", job.id, note)
    await jobs.finish(job)
    return ended_job


def note_without_products(job: Job, result: Finished | None) -> str:
    """Return a note for a job that read pages but saw no product, with help; else ""."""
    if result is None or result.quality.products or not job.done:
        return ""
    rejected = result.quality.rejected
    rejections = f" ({rejected} were rejected: scrapy export rejected_items)" if rejected else ""
    return f"{job.done} pages were read, and none showed a product{rejections}; {HELP}"


async def _request_unseen(jobs: Jobs, database_url: str, job: Job) -> int:
    """Request the products that a full crawl did not see; return how many checks were new."""
    check_count, after = 0, ""
    while True:
        products = await asyncio.to_thread(
            find_unseen,
            database_url,
            job.site_id,
            job.started,
            job_id=job.id,
            after=after,
            limit=BATCH,
        )
        if not products:
            return check_count
        after = products[-1].url
        by_url = {url: list(rows) for url, rows in groupby(products, lambda row: row.url)}
        check_count += await jobs.add(
            job.id,
            site_id=job.site_id,
            kind="check",
            urls=[url for url in by_url if has_domain(url)],
            marks=dict.fromkeys(by_url, "@check"),
            metas={url: _meta(job, url, rows) for url, rows in by_url.items()},
            priority=0,
        )


def has_domain(url: str) -> bool:
    """Whether a stored address can be requested at all."""
    try:
        return bool(domain(url))
    except ValueError:
        return False


def _meta(job: Job, url: str, rows: Sequence[Unseen]) -> dict[str, object]:
    product = rows[0] if len(rows) == 1 else None
    # A scope of its own, so that the target of a redirect is fetched even if the crawl or another
    # check has seen it.
    meta: dict[str, object] = {m.SCOPE: f"{job.id}@check {url}"}
    if product is None:
        return {**meta, m.KNOWN: {}}
    return {
        **meta,
        **conditions(product.etag, product.last_modified, product.parser),
        m.KNOWN: {"id": product.external_id, "name": product.name},
    }


def conditions(
    etag: str | None, last_modified: str | None, parser: str | None
) -> Mapping[str, object]:
    """Return the meta with which a request for a known page is conditional."""
    validators = Validators(etag, last_modified)
    if not parser or not validators.headers():
        return {}
    return {KEY: validators.plain(parser)}
