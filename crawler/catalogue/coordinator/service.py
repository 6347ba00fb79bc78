"""The coordinator's loop: one leader, small steps, each of which may be repeated."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic

import attrs
import psycopg2
from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import LockError, RedisError

from crawler.catalogue.coordinator import recrawl
from crawler.catalogue.coordinator.change_rate import Belief
from crawler.catalogue.coordinator.known_product import Known
from crawler.catalogue.jobs import cron_times
from crawler.catalogue.jobs.closing import conditions, end_jobs
from crawler.catalogue.jobs.in_postgres import record, recorded_state
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import Job, Plan, job_id
from crawler.catalogue.jobs.restoring import free_name, restore_jobs
from crawler.catalogue.jobs.schedules import Schedules, merged
from scrapy_seine import meta as m
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.lost_state import StateError, StateLost
from scrapy_seine.frontier.opening import frontier_of, reopen

logger = logging.getLogger(__name__)
#: A coordinator that says nothing for this long has lost its office, s.
TERM_S = 10.0
#: Between two rounds of steps, s.
ROUND_S = 1.0
#: Between two looks at the products, s.
RECRAWL_S = 60.0
#: And so many times as long as the last look took.
_REST = 20
#: Between two looks at how often the prices of a site's categories change, s.
EXPECT_S = 6 * 3600.0
#: Products sent again in one look, at most: the rest waits for the next one.
BATCH = 2000
_DAY_S = 86_400.0
#: A sitemap may name a change this much later than it was.
_LATE = timedelta(days=2)


@attrs.define(eq=False)
class Coordinator:
    """Plans the work of one crawl while it leads; waits for its turn otherwise."""

    redis: Redis
    crawl: str
    database_url: str
    plans: Sequence[Plan]
    partitions: int = 1
    secrets: Sequence[str] = attrs.field(default=(), repr=False)
    term_s: float = TERM_S
    round_s: float = ROUND_S
    frontier: Frontier = attrs.field(init=False)
    jobs: Jobs = attrs.field(init=False)
    leading: bool = False
    _joined: bool = False
    _known: set[str] = attrs.field(factory=set, init=False)
    """Names of jobs that Redis does not know and PostgreSQL does: nothing begins under these."""
    _lock: Lock = attrs.field(init=False)
    _looked: datetime | None = None
    _pause_s: float = RECRAWL_S
    _expected: dict[str, tuple[datetime, Mapping[str, Belief]]] = attrs.field(
        factory=dict, init=False
    )

    def __attrs_post_init__(self) -> None:
        frontier = frontier_of(self.redis, self.crawl, self.partitions)
        self.frontier = frontier.sealed(self.secrets)
        self.jobs = Jobs(self.frontier)
        self._lock = Lock(self.redis, self.frontier.keys.coordinator, timeout=self.term_s)

    async def run(self) -> None:
        """Lead or stand by until cancelled; an outage is waited out."""
        try:
            while not _is_cancelled():
                try:
                    if await self._lead():
                        await self.step(datetime.now(UTC))
                except StateError as error:
                    self._joined = self._joined and not isinstance(error, StateLost)
                    logger.error("%s", error)
                except (RedisError, OSError, StoreUnreachable, psycopg2.Error) as error:
                    logger.warning("the coordinator waits: %s", error)
                    await _unless_cancelled(2)
                await _unless_cancelled(self.round_s)
        finally:
            await self._resign()

    async def _lead(self) -> bool:
        was, self.leading = self.leading, await self._in_office()
        if self.leading != was:
            logger.info("this coordinator %s", "leads" if self.leading else "stands by")
        return self.leading

    async def _in_office(self) -> bool:
        if self.leading:
            try:
                return bool(await self._lock.reacquire())
            except LockError:
                return False
        return bool(await self._lock.acquire(blocking=False))

    async def _resign(self) -> None:
        if self.leading:
            try:
                await self._lock.release()
            except (LockError, RedisError, OSError) as error:
                logger.debug("the leader's lock expires by itself: %s", error)

    async def step(self, now: datetime) -> None:
        """Do all that is due at *now*.

        Raises:
            StateError: Redis has another state of the crawl than at the last step; nothing that
                the lost one had is called complete.
        """
        if not self._joined:
            await reopen(self.frontier)
            self._joined = True
        await restore_jobs(self.jobs, self.database_url)
        await self._take_over(now)
        plans = merged(self.plans, await Schedules(self.frontier).all())
        for plan in plans:
            await self._full(plan, now)
            await self._watch(plan, now)
        if self._looked is None or (now - self._looked).total_seconds() >= self._pause_s:
            self._looked, began = now, monotonic()
            for plan in self.plans:
                await self._recrawl(plan, now)
            # Large sites take a while to look through: the database has other work as well.
            self._pause_s = max(RECRAWL_S, _REST * (monotonic() - began))
        await self._close(now)

    async def _take_over(self, now: datetime) -> None:
        """Complete what somebody who is gone by now began to plan."""
        for job in await self.jobs.running():
            if job.planned or (now - job.started).total_seconds() <= self.term_s:
                continue
            if (await self.jobs.complete(job)).planned:
                logger.info("job %s was left half planned; it is complete now", job.id)

    async def _full(self, plan: Plan, now: datetime) -> None:
        if not plan.schedule or not plan.seeds:
            return
        due = cron_times.last_due(plan.schedule, now)
        if plan.since is not None and due < plan.since:
            return
        await self._once(plan, "full", due, plan.seeds)

    async def _watch(self, plan: Plan, now: datetime) -> None:
        if not plan.sitemaps or plan.watch_s <= 0 or await self._first_crawl_runs(plan):
            return
        at = cron_times.slot(now, plan.watch_s)
        await self._once(plan, "news", at, plan.sitemaps, self._look)

    async def _jobs_of(self, plan: Plan) -> list[Job]:
        """The site's jobs that count, newest first."""
        return [
            job
            for job in await self.jobs.newest(1000)
            if job.site_id == plan.site_id and job.state != "cancelled"
        ]

    async def _first_crawl_runs(self, plan: Plan) -> bool:
        """Whether all that the site has is news to us, and a full crawl is on its way to it."""
        states = {job.state for job in await self._jobs_of(plan) if job.kind == "full"}
        return bool(states) and "finished" not in states

    async def _look(self, plan: Plan) -> Mapping[str, object]:
        """How the sitemaps are read: what was changed before the looks so far is no news.

        *crawled* is a full crawl that is over. In the scope of one that runs, a page that the look
        fetches would count as seen, and the full crawl would never follow its links.
        """
        origin = plan.seeds[0] if plan.seeds else plan.sitemaps[0]
        before = await self._jobs_of(plan)
        known = {"origin": origin}
        full = next((job for job in before if job.kind == "full"), None)
        over = next((job for job in before if job.kind == "full" and job.state == "finished"), None)
        looks = [job.started - _LATE for job in before if job.kind == "news" and job.planned][:1]
        if over is not None:
            known["crawled"] = over.id
        if full is not None:
            looks.append(full.started)
        if looks:
            known["since"] = max(looks).isoformat()
        return {"callback": "parse_sitemap", "cb_kwargs": known}

    async def _once(
        self,
        plan: Plan,
        kind: str,
        at: datetime,
        urls: Sequence[str],
        describe: Callable[[Plan], Awaitable[Mapping[str, object]]] | None = None,
    ) -> None:
        name = job_id(plan.site_id, kind, at)
        known = await self.jobs.get(name)
        if known.planned if known is not None else await self._is_recorded(name):
            return
        fields = await describe(plan) if describe is not None else None
        job = await self.jobs.begin(name, site_id=plan.site_id, kind=kind, urls=urls, fields=fields)
        await asyncio.to_thread(record, self.database_url, self.crawl, [job])
        logger.info("job %s begins: %d seeds", job.id, len(urls))

    async def _is_recorded(self, name: str) -> bool:
        """Whether a job that Redis does not know was there: it ended, or begins anew by itself."""
        if name not in self._known:
            if await asyncio.to_thread(recorded_state, self.database_url, name) is None:
                return False
            self._known.add(name)
        return True

    async def _recrawl(self, plan: Plan, now: datetime) -> None:
        if plan.recrawl_s <= 0:
            return
        job = await self._running_recrawl(plan.site_id, now)
        began = cron_times.slot(job.started if job is not None else now, _DAY_S)
        if job is not None:
            name = job.id
        else:
            name = job_id(plan.site_id, "recrawl", began)
            name = await free_name(self.database_url, name)
            job = await self.jobs.get(name)
        most, spent = BATCH, job.total if job is not None else 0
        if plan.budget:
            # The next look may be the next day's: what this one leaves would be lost.
            elapsed_s = (now - began).total_seconds() + self._pause_s
            most = min(BATCH, recrawl.allowance(plan.budget, spent, elapsed_s))
        if most <= 0:
            return
        found = await asyncio.to_thread(self._due, plan, now, most, spent)
        if found:
            await self._send_again(plan, name, found)

    def _due(self, plan: Plan, now: datetime, most: int, spent: int) -> list[Known]:
        known = recrawl.candidates(self.database_url, plan, now)
        expected = self._expectations(plan, now) if known else None
        return recrawl.due(known, plan, now, most, expected, spent=spent)

    def _expectations(self, plan: Plan, now: datetime) -> Mapping[str, Belief]:
        """What is to be expected of the site's products; learned anew every few hours."""
        learned = self._expected.get(plan.site_id)
        if learned is None or (now - learned[0]).total_seconds() >= EXPECT_S:
            learned = now, recrawl.expectations(self.database_url, plan)
            self._expected[plan.site_id] = learned
        return learned[1]

    async def _running_recrawl(self, site: str, now: datetime) -> Job | None:
        """The site's re-crawl of an earlier day that has work left: what it was to fetch and did
        not is due again, and would be sent twice by another job."""
        today = cron_times.slot(now, _DAY_S)
        for job in await self.jobs.running():
            if (job.site_id, job.kind) == (site, "recrawl") and job.started < today and job.left:
                return job
        return None

    async def _send_again(self, plan: Plan, name: str, found: Sequence[Known]) -> None:
        site = plan.site_id
        await self.jobs.begin(name, site_id=site, kind="recrawl", urls=())
        # Marked with the time of the last look, so that a product is sent once until it was seen.
        marks = {k.url: f"@{k.scraped_at.timestamp():.0f}" for k in found}
        # The state that is known goes along, so that no worker must look it up.
        metas = {k.url: _meta(name, k) for k in found}
        sent = await self.jobs.add(
            name,
            site_id=site,
            kind="recrawl",
            urls=list(marks),
            marks=marks,
            metas=metas,
            priority=0,
        )
        if sent:
            logger.info("job %s: %d products are due again", name, sent)

    async def _close(self, now: datetime) -> None:
        running = await self.jobs.running()
        await self.jobs.note_pace(running, now.timestamp())
        await end_jobs(self.jobs, self.database_url, now)
        if running:
            written = [await self.jobs.get(job.id) or job for job in running]
            await asyncio.to_thread(record, self.database_url, self.crawl, written)


def _is_cancelled() -> bool:
    """Whether this task was cancelled, even if a client that it waited for took that for itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _unless_cancelled(seconds: float) -> None:
    if not _is_cancelled():
        await asyncio.sleep(seconds)


def _meta(job: str, known: Known) -> dict[str, object]:
    """What a request for a known page has in its meta."""
    # Where a redirect leads is fetched for each product that leads there.
    return {
        **conditions(known.etag, known.last_modified, known.parser),
        m.KNOWN: {"id": known.external_id, "name": known.name},
        m.SCOPE: f"{job} {known.url}",
    }
