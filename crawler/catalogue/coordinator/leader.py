"""The coordinator's loop: one leader, small idempotent steps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic

import attrs
import psycopg2
from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import LockError, RedisError

from crawler.access.shared_state import USUAL_FLEET
from crawler.catalogue.coordinator import recrawl
from crawler.catalogue.coordinator.change_rate import Belief
from crawler.catalogue.coordinator.known_product import KnownProduct
from crawler.catalogue.jobs import cron_times
from crawler.catalogue.jobs.closing import conditions, end_jobs, has_domain
from crawler.catalogue.jobs.in_postgres import record, recorded_state
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import Job, Plan, job_id
from crawler.catalogue.jobs.restoring import free_name, restore_jobs
from crawler.catalogue.jobs.schedules import Schedules, merged
from scrapy_seine import meta as m
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.lost_state import StateError, StateLost
from scrapy_seine.frontier.opening import frontier_of, reopen
from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.printable import printable
from scrapy_seine.sinks.postgres.database import line_of

logger = logging.getLogger(__name__)
#: A leader that does not renew its lock for this long loses the leadership, s.
TERM_S = 10.0
#: Pause between two rounds of steps, s.
ROUND_S = 1.0
#: Shortest pause between two re-crawl steps, s.
RECRAWL_S = 60.0
#: Shortest pause as a multiple of the duration of the last re-crawl step.
_PAUSE_FACTOR = 20
#: Periods of a schedule for which a running crawl delays the site's next one, at most.
_MAX_DELAY = 7
#: Interval after which the change rates of a site's categories are read again, s.
PRIORS_S = 6 * 3600.0
#: Most products that one re-crawl step sends; the others wait for the next step.
BATCH = 2000
_DAY_S = 86_400.0
#: Largest delay between a change and the sitemap that announces it.
_MAX_ANNOUNCEMENT_DELAY = timedelta(days=2)


@attrs.define(eq=False)
class Coordinator:
    """Plans the work of one crawl while it leads; otherwise stands by."""

    redis: Redis
    crawl: str
    database_url: str
    plans: Sequence[Plan]
    partitions: int = 1
    secrets: Sequence[str] = attrs.field(default=(), repr=False)
    fleet: str = USUAL_FLEET
    term_s: float = TERM_S
    round_s: float = ROUND_S
    frontier: Frontier = attrs.field(init=False)
    jobs: Jobs = attrs.field(init=False)
    leading: bool = False
    _has_joined: bool = False
    _recorded_jobs: set[str] = attrs.field(factory=set, init=False)
    """Names of jobs that only PostgreSQL has; no job begins under such a name."""
    _delayed_jobs: set[str] = attrs.field(factory=set, init=False)
    """Names of jobs that wait for the site's running one."""
    _plans: Mapping[str, Plan] = attrs.field(factory=dict, init=False)
    """The plans of the last step, by site."""
    _stepped_at: datetime | None = None
    _lock: Lock = attrs.field(init=False)
    _recrawled_at: datetime | None = None
    _pause_s: float = RECRAWL_S
    _priors: dict[str, tuple[datetime, Mapping[str, Belief]]] = attrs.field(
        factory=dict, init=False
    )
    _sent: dict[str, tuple[str, set[tuple[str, datetime]]]] = attrs.field(factory=dict, init=False)
    """By site: the re-crawl, and the products that it has sent, each with its last look.

    A product whose page cannot be read stays due, and another request for it would be a duplicate.
    """
    _logged: OnceAMinute = attrs.field(factory=OnceAMinute, init=False)

    def __attrs_post_init__(self) -> None:
        frontier = frontier_of(self.redis, self.crawl, self.partitions)
        self.frontier = frontier.sealed(self.secrets)
        self.jobs = Jobs(self.frontier)
        self._lock = Lock(self.redis, self.frontier.keys.coordinator, timeout=self.term_s)

    async def run(self) -> None:
        """Lead or stand by until cancelled; wait while a store is unreachable."""
        try:
            while not _is_cancelled():
                try:
                    if await self._update_leadership():
                        await self.step(await self.jobs.now())
                except StateError as error:
                    self._has_joined = self._has_joined and not isinstance(error, StateLost)
                    self._sent.clear()
                    logger.error("%s", error)
                except (RedisError, OSError, StoreUnreachable, psycopg2.Error) as error:
                    if self._logged.is_due(line := line_of(error)):
                        logger.warning("the coordinator waits: %s", line)
                    await _sleep_unless_cancelled(2)
                await _sleep_unless_cancelled(self.round_s)
        finally:
            await self._resign()

    async def _update_leadership(self) -> bool:
        was_leading, self.leading = self.leading, await self._holds_lock()
        if self.leading != was_leading:
            logger.info("this coordinator %s", "leads" if self.leading else "stands by")
        return self.leading

    async def _holds_lock(self) -> bool:
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
        """Run all steps that are due at *now*.

        Raises:
            StateError: Redis has another state of the crawl than at the last step; no job of the
                lost state is finished.
        """
        if not self._has_joined:
            await reopen(self.frontier)
            self._has_joined = True
        await restore_jobs(self.jobs, self.database_url)
        await self._take_over(now)
        plans = merged(self.plans, await Schedules(self.frontier).all(removed=True))
        for former, changed_at in self._changed(plans, now):
            with self._errors_logged(former.site_id):
                await self._plan_full_crawl(former, changed_at)
        for plan in plans:
            with self._errors_logged(plan.site_id):
                await self._plan_full_crawl(plan, now)
                await self._plan_sitemap_look(plan, now)
        if _is_over(self._recrawled_at, self._pause_s, now):
            self._recrawled_at, started_s = now, monotonic()
            await self.jobs.unlist_ended()
            await Schedules(self.frontier).forget_removed(self.plans, now)
            for plan in self.plans:
                with self._errors_logged(plan.site_id):
                    await self._recrawl(plan, now)
            # The query is slow for large sites, and must leave the database time for other queries.
            self._pause_s = max(RECRAWL_S, _PAUSE_FACTOR * (monotonic() - started_s))
        await self._close(now)
        self._plans, self._stepped_at = {plan.site_id: plan for plan in plans}, now

    def _changed(self, plans: Sequence[Plan], now: datetime) -> Iterator[tuple[Plan, datetime]]:
        """Return former plans with a time that fell due between the last step and their change.

        The new plan does not know that time, so that this crawl would never begin.
        """
        for plan in plans:
            former = self._plans.get(plan.site_id)
            if self._stepped_at is None or former is None or former.since == plan.since:
                continue
            changed_at = min(plan.since or now, now)
            was_on = former.schedule and plan.schedule  # a pause is meant for that crawl, too
            if was_on and cron_times.last_due(former.schedule, changed_at) > self._stepped_at:
                yield former, changed_at

    @contextmanager
    def _errors_logged(self, site_id: str) -> Iterator[None]:
        """Log what is wrong with a site's plan, because the other sites have theirs."""
        try:
            yield
        except (ConfigError, ValueError) as error:
            if self._logged.is_due((site_id, str(error))):
                logger.error("site %s: %s", site_id, printable(str(error)))

    async def _take_over(self, now: datetime) -> None:
        """Complete the jobs that a former leader began to plan."""
        for job in await self.jobs.running():
            if job.planned or (now - job.started).total_seconds() <= self.term_s:
                continue
            with self._errors_logged(job.site_id):
                if (await self.jobs.complete(job)).planned:
                    logger.info("job %s was left half planned; it is complete now", job.id)

    async def _plan_full_crawl(self, plan: Plan, now: datetime) -> None:
        if not plan.schedule or not plan.seeds:
            return
        due_at = cron_times.last_due(plan.schedule, now)
        if plan.since is not None and due_at < plan.since:
            return
        name = job_id(plan.site_id, "full", due_at)
        if not (await self._is_planned(name) or await self._is_delayed(name, plan, due_at, now)):
            await self._begin(name, plan, "full", plan.seeds)

    async def _is_delayed(self, name: str, plan: Plan, due_at: datetime, now: datetime) -> bool:
        """Whether a full crawl waits for the site's running one, which fetches the same pages.

        It does not wait for a job that stands still, or that has run for _MAX_DELAY periods, as one
        of a site without end does.
        """
        if await self.jobs.get(name) is not None:
            return False  # begun, and left half planned
        for job in await self.jobs.crawling(plan.site_id, plan.seeds):
            period = due_at - cron_times.last_due(plan.schedule, due_at - timedelta(seconds=1))
            is_old = due_at - job.started >= _MAX_DELAY * period
            if is_old or not job.moves(now.timestamp()):
                continue
            if name not in self._delayed_jobs:
                self._delayed_jobs.add(name)
                text = "job %s begins later: job %s crawls %s and has %d requests left"
                logger.warning(text, name, job.id, plan.site_id, job.left)
            return True
        self._delayed_jobs.discard(name)
        return False

    async def _plan_sitemap_look(self, plan: Plan, now: datetime) -> None:
        if not plan.sitemaps or plan.watch_s <= 0:
            return
        name = job_id(plan.site_id, "news", cron_times.slot(now, plan.watch_s))
        if not (await self._is_planned(name) or await self._first_crawl_runs(plan)):
            fields = await self._look_at_sitemaps(plan)
            await self._begin(name, plan, "news", plan.sitemaps, fields)

    async def _jobs_of(self, plan: Plan) -> list[Job]:
        """Return the site's jobs without the cancelled ones, newest first."""
        return [job for job in await self.jobs.of_site(plan.site_id) if job.state != "cancelled"]

    async def _first_crawl_runs(self, plan: Plan) -> bool:
        """Whether the site's first full crawl is running."""
        states = {job.state for job in await self._jobs_of(plan) if job.kind == "full"}
        return bool(states) and "finished" not in states

    async def _look_at_sitemaps(self, plan: Plan) -> Mapping[str, object]:
        """Return the fields of the sitemap requests; only later changes than *since* are fetched.

        *crawled* is a finished full crawl. In the scope of a running one, a page that this job
        fetches would count as seen, and the full crawl would never follow its links.
        """
        origin = plan.seeds[0] if plan.seeds else plan.sitemaps[0]
        site_jobs = await self._jobs_of(plan)
        cb_kwargs = {"origin": origin}
        newest_full = next(
            (job for job in site_jobs if job.kind == "full" and (job.done or job.left)), None
        )
        finished_full = next(
            (job for job in site_jobs if job.kind == "full" and job.state == "finished"), None
        )
        times = [
            job.started - _MAX_ANNOUNCEMENT_DELAY
            for job in site_jobs
            # Only a job that has read them, as above: the others' changes are still to be seen.
            if job.kind == "news" and job.done and not job.failed
        ][:1]
        if finished_full is not None:
            cb_kwargs["crawled"] = finished_full.id
        if newest_full is not None:
            times.append(newest_full.started)
        if times:
            cb_kwargs["since"] = max(times).isoformat()
        return {"callback": "parse_sitemap", "cb_kwargs": cb_kwargs}

    async def _is_planned(self, name: str) -> bool:
        job = await self.jobs.get(name)
        return job.planned if job is not None else await self._is_recorded(name)

    async def _begin(
        self,
        name: str,
        plan: Plan,
        kind: str,
        urls: Sequence[str],
        fields: Mapping[str, object] | None = None,
    ) -> None:
        job = await self.jobs.begin(name, site_id=plan.site_id, kind=kind, urls=urls, fields=fields)
        await asyncio.to_thread(record, self.database_url, self.crawl, [job])
        logger.info("job %s begins: %d seeds", job.id, len(urls))

    async def _is_recorded(self, name: str) -> bool:
        """Whether PostgreSQL has a job that Redis lacks, because it ended or will be restored."""
        if name not in self._recorded_jobs:
            if await asyncio.to_thread(recorded_state, self.database_url, name) is None:
                return False
            self._recorded_jobs.add(name)
        return True

    async def _recrawl(self, plan: Plan, now: datetime) -> None:
        if plan.recrawl_s <= 0:
            return
        job = await self._running_recrawl(plan.site_id, now)
        day_start = cron_times.slot(job.started if job is not None else now, _DAY_S)
        if job is not None:
            name = job.id
        else:
            name = job_id(plan.site_id, "recrawl", day_start)
            name = await free_name(self.database_url, name)
            job = await self.jobs.get(name)
        limit, sent_count = BATCH, job.total if job is not None else 0
        if plan.budget:
            # The budget until the next step is spent now, because that step may be the next day's.
            elapsed_s = (now - day_start).total_seconds() + self._pause_s
            limit = min(BATCH, recrawl.allowance(plan.budget, sent_count, elapsed_s))
        if limit <= 0:
            return
        if plan.site_id not in self._sent or self._sent[plan.site_id][0] != name:
            self._sent[plan.site_id] = name, set()
        products = await asyncio.to_thread(self._due_products, plan, now, limit, sent_count)
        if products:
            await self._send_again(plan, name, products)
            await asyncio.to_thread(
                recrawl.note_asked, self.database_url, plan.site_id, products, now, day_start
            )

    def _due_products(
        self, plan: Plan, now: datetime, limit: int, sent_count: int
    ) -> list[KnownProduct]:
        sent = self._sent[plan.site_id][1]
        products = [
            product
            for product in recrawl.candidates(self.database_url, plan, now)
            if (product.url, product.scraped_at) not in sent and has_domain(product.url)
        ]
        priors = self._priors_of(plan, now) if products else None
        return recrawl.due_products_of(products, plan, now, limit, priors, sent_count=sent_count)

    def _priors_of(self, plan: Plan, now: datetime) -> Mapping[str, Belief]:
        """Return the priors of the site's products, read again every PRIORS_S seconds."""
        cached_priors = self._priors.get(plan.site_id)
        if cached_priors is None or _is_over(cached_priors[0], PRIORS_S, now):
            cached_priors = now, recrawl.expectations(self.database_url, plan)
            self._priors[plan.site_id] = cached_priors
        return cached_priors[1]

    async def _running_recrawl(self, site: str, now: datetime) -> Job | None:
        """Return the site's re-crawl of an earlier day that has requests left, because another job
        would send its products, which are still due, a second time."""
        today = cron_times.slot(now, _DAY_S)
        for job in await self.jobs.running():
            if (job.site_id, job.kind) == (site, "recrawl") and job.started < today and job.left:
                return job
        return None

    async def _send_again(self, plan: Plan, name: str, products: Sequence[KnownProduct]) -> None:
        site = plan.site_id
        await self.jobs.begin(name, site_id=site, kind="recrawl", urls=())
        # The mark contains the time of the last look, so that each look is followed by one request.
        marks = {k.url: f"@{k.scraped_at.timestamp():.0f}" for k in products}
        # The request carries the stored state, so that no worker has to query it.
        metas = {k.url: _meta(name, k) for k in products}
        sent_count = await self.jobs.add(
            name,
            site_id=site,
            kind="recrawl",
            urls=list(marks),
            marks=marks,
            metas=metas,
            priority=0,
        )
        self._sent[site][1].update((k.url, k.scraped_at) for k in products)
        if sent_count:
            logger.info("job %s: %d products are due again", name, sent_count)

    async def _close(self, now: datetime) -> None:
        running = await self.jobs.running()
        await self.jobs.note_pace(running, now.timestamp())
        await end_jobs(self.jobs, self.database_url, now, fleet=self.fleet)
        if running:
            jobs = [await self.jobs.get(job.id) or job for job in running]
            await asyncio.to_thread(record, self.database_url, self.crawl, jobs)


def _is_over(began: datetime | None, seconds: float, now: datetime) -> bool:
    """Whether so much time has passed, or none began; also where Redis' clock was set back.

    Otherwise a clock that was a day ahead for a minute would stop what is due for that day.
    """
    return began is None or not 0 <= (now - began).total_seconds() < seconds


def _is_cancelled() -> bool:
    """Whether this task was cancelled, even if an awaited client swallowed the cancellation."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _sleep_unless_cancelled(seconds: float) -> None:
    if not _is_cancelled():
        await asyncio.sleep(seconds)


def _meta(job: str, product: KnownProduct) -> dict[str, object]:
    """Return the meta of a request for a known page."""
    # A scope of its own, so that the target of a redirect is fetched for each product.
    return {
        **conditions(product.etag, product.last_modified, product.parser),
        m.KNOWN: {"id": product.external_id, "name": product.name},
        m.SCOPE: f"{job} {product.url}",
    }
