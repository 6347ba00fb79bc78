"""Jobs in Redis, in one hash with their counters, so that one read returns a whole job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson
from redis.exceptions import ResponseError

from crawler.catalogue.jobs import webhooks
from crawler.catalogue.jobs.model import ENDED, ENDED_STATES, NAME, Job, State, job_id, next_name
from scrapy_seine import meta as m
from scrapy_seine.errors import ConfigError
from scrapy_seine.fingerprint import fingerprint, within
from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push
from scrapy_seine.lenient_parsing import items, real, record, whole_number, word
from scrapy_seine.reads.progress import Pace
from scrapy_seine.urls import domain, tidy

#: Priority of seeds, above that of their links; the same as for seeds that operators push.
SEED_PRIORITY = 100
#: Shortest interval between two measurements of a job's speed, s.
PACE_S = 5.0
#: Ended jobs that stay listed, and jobs that one call of Redis reads, at most.
MOST_LISTED, _READ_JOBS = 1000, 1000
#: For so long Redis keeps a job that left the list, so that PostgreSQL has its end by then, s.
UNLISTED_S = 7 * 86_400
#: Field of a job's hash with its seeds as JSON.
_PLAN = "plan"


class JobConflict(ConfigError):
    """A job's state forbids what is asked: it has ended, or it crawls these seeds already."""


class Jobs:
    """The jobs of one crawl."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self._redis: Any = frontier.redis
        self._index = frontier.keys.jobs

    def _key(self, job: str) -> str:
        return f"{self.frontier.keys.prefix}job:{job}"

    async def begin(
        self,
        job: str,
        *,
        site_id: str,
        kind: str,
        urls: Sequence[str],
        fields: Mapping[str, object] | None = None,
    ) -> Job:
        """Begin a job, or join the existing one of that name. Idempotent.

        Raises:
            ConfigError: the name or a URL is invalid; the message has it.
        """
        if not NAME.fullmatch(job):
            raise ConfigError(f"{job!r} is no name of a job: letters, digits and _ . : - only")
        domains = sorted({_domain(url) for url in urls})
        now = await self.now_s()
        plan = {"site_id": site_id, "kind": kind, "state": "running", "started_at": now}
        key, pipe = self._key(job), self._redis.pipeline(transaction=True)
        for field, value in plan.items():
            pipe.hsetnx(key, field, str(value))
        pipe.hset(key, "domains", orjson.dumps(domains))
        # The plan is enough to complete a half planned job; its copy in PostgreSQL, to begin a lost
        # job anew.
        pipe.hset(key, _PLAN, plan_of(urls, fields or {}))
        pipe.zadd(self._index, {job: now}, nx=True)
        await pipe.execute()
        await self.add(job, site_id=site_id, kind=kind, urls=urls, fields=fields)
        await self._redis.hset(key, "planned", 1)
        current = await self.get(job)
        assert current is not None  # it was written just now
        return current

    async def start(
        self, site_id: str, urls: Sequence[str], started_at: datetime, *, again: bool = False
    ) -> Job:
        """Begin a site's full crawl; two calls within a minute begin one job.

        A job of that minute that has ended or has other seeds is not joined, because new requests
        would count for a finished job, or be dropped as those of a cancelled one.

        Args:
            site_id: the site.
            urls: the seeds.
            started_at: the job's name has the minute.
            again: whether a second job may begin beside a running one with these seeds.

        Raises:
            ConfigError: a URL is invalid; the message has it.
            JobConflict: a running job of the site crawls these seeds; the message has its name.
        """
        name, plan = job_id(site_id, "full", started_at), plan_of(urls, {})
        while (existing := await self.get(name)) is not None:
            if existing.state not in ENDED_STATES and existing.plan == plan.decode():
                break
            name = next_name(name)
        if existing is None and not again:
            await self._refuse_second(site_id, urls)
        return await self.begin(name, site_id=site_id, kind="full", urls=urls)

    async def crawling(self, site_id: str, urls: Sequence[str]) -> list[Job]:
        """Return the site's full crawls that began with these seeds and have requests left."""
        seeds = {tidy(url) for url in urls}
        return [
            job
            for job in await self.running()
            if job.site_id == site_id and job.kind == "full" and job.left and job.plan
            if seeds <= {tidy(url) for url in orjson.loads(job.plan)["urls"]}
        ]

    async def _refuse_second(self, site_id: str, urls: Sequence[str]) -> None:
        """Refuse seeds that a job of the site crawls, because it fetches the same pages.

        Raises:
            JobConflict: with the job's name.
        """
        for job in await self.crawling(site_id, urls):
            text = f"job {job.id} crawls {site_id} and has {job.left:,} requests left"
            raise JobConflict(f"{text}; a second one beside it needs `again`")

    async def complete(self, job: Job) -> Job:
        """Push the remaining seeds of a job whose planning process died.

        Raises:
            ConfigError: a URL of its plan is invalid; the message has it.
        """
        if not job.plan:  # begun by an older version, or overwritten by another program
            return job
        plan = orjson.loads(job.plan)
        return await self.begin(
            job.id,
            site_id=job.site_id,
            kind=job.kind,
            urls=plan["urls"],
            fields=plan["fields"],
        )

    async def add(
        self,
        job: str,
        *,
        site_id: str,
        kind: str,
        urls: Iterable[str],
        marks: Mapping[str, str] | None = None,
        fields: Mapping[str, object] | None = None,
        metas: Mapping[str, Mapping[str, object]] | None = None,
        priority: int = SEED_PRIORITY,
    ) -> int:
        """Push URLs for a job, each once per job (and per mark); return how many were new.

        *fields* are further fields of each request: callback, cb_kwargs …; *metas* are further meta
        values by URL.
        """
        shared = {m.JOB_ID: job, m.JOB_TYPE: kind, m.SITE_ID: site_id}
        pushes = [
            self.frontier.seal.push(
                Push(
                    domain=_domain(url),
                    blob=encode(
                        {
                            **(fields or {}),
                            "url": tidy(url),
                            "priority": priority,
                            "meta": self._meta({**shared, **(metas or {}).get(url, {})}),
                        }
                    ),
                    fingerprint=within(job + (marks or {}).get(url, ""), fingerprint(url)),
                    priority=priority,
                    job=job,
                )
            )
            for url in urls
        ]
        replies = await self.frontier.push(pushes)
        return sum(reply == "OK" for reply in replies)

    @staticmethod
    def _meta(shared: Mapping[str, object]) -> dict[str, object]:
        meta: dict[str, object] = dict(shared)
        m.complete(meta, None)
        return {**meta, m.DEPTH: 0}

    async def get(self, job: str) -> Job | None:
        """Return the job of that name, or None."""
        fields: Mapping[bytes, bytes] = await self._redis.hgetall(self._key(job))
        return await self._job_from(job, fields) if b"state" in fields else None

    async def _job_from(self, job: str, fields: Mapping[bytes, bytes]) -> Job:
        is_partitioned = self.frontier.keys.of > 1
        if is_partitioned:
            fields = {**fields, **await self._summed_counters(job)}
        return _job(job, fields)

    async def _summed_counters(self, job: str) -> dict[bytes, bytes]:
        """Sum the counters of all partitions, which are read one by one.

        The ended requests are read before the pushed ones. Both only grow, so if they are equal, no
        request was left at the moment in between (see frontier.partitions).
        """
        ended_counts = await self._sums(job, *ENDED, "arrived")
        pushed_counts = await self._sums(job, "total", "sent")
        total = pushed_counts["total"] + pushed_counts["sent"] - ended_counts["arrived"]
        counters = {"total": total, **{name: ended_counts[name] for name in ENDED}}
        return {name.encode(): b"%d" % n for name, n in counters.items()}

    async def _sums(self, job: str, *fields: str) -> dict[str, int]:
        pipe = self._redis.pipeline(transaction=False)
        for part in self.frontier.keys.parts:
            pipe.hmget(f"{part.job}:{job}", fields)
        rows = await pipe.execute()
        return {
            field: sum(whole_number(n) for n in column)
            for field, column in zip(fields, zip(*rows, strict=True), strict=True)
        }

    async def newest(self, limit: int = 50) -> list[Job]:
        """Return the newest jobs, newest first."""
        return [await self._job_from(*row) for row in await self._listed(limit)]

    async def _listed(self, limit: int = 0) -> list[tuple[str, Mapping[bytes, bytes]]]:
        """Return names and fields of the newest jobs, newest first; 0: of all that are listed."""
        rows: list[tuple[str, Mapping[bytes, bytes]]] = []
        names = list(map(word, await self._redis.zrevrange(self._index, 0, limit - 1)))
        for start in range(0, len(names), _READ_JOBS):
            part, pipe = names[start : start + _READ_JOBS], self._redis.pipeline(transaction=False)
            for name in part:
                pipe.hgetall(self._key(name))
            rows += zip(part, await pipe.execute(), strict=True)
        return [(name, fields) for name, fields in rows if b"state" in fields]

    async def unlist_ended(self) -> int:
        """Keep MOST_LISTED jobs in the list, and those that run; returns how many left it.

        Redis forgets a job UNLISTED_S later; PostgreSQL has all. The list is read whole every
        second, and each heartbeat returns the cancelled jobs, which leave that set with it. Each
        site's last finished full crawl stays listed, because the site's sitemaps are read for what
        has changed since then.
        """
        finished_fulls: set[str] = set()
        outdated = []
        for place, (name, fields) in enumerate(await self._listed()):
            job = _job(name, fields)
            if job.kind == "full" and job.state == "finished" and job.site_id not in finished_fulls:
                finished_fulls.add(job.site_id)
            elif place >= MOST_LISTED and (
                job.state == "finished"
                # Workers drop requests of a cancelled job until none is left.
                or (job.state == "cancelled" and not (await self._job_from(name, fields)).left)
            ):
                outdated.append(name)
        for start in range(0, len(outdated), _READ_JOBS):
            names = outdated[start : start + _READ_JOBS]
            await self._redis.zrem(self._index, *names)
            await self._redis.srem(self.frontier.keys.cancelled, *names)
            pipe = self._redis.pipeline(transaction=False)
            for name in names:
                for key in {
                    self._key(name),
                    *(f"{p.job}:{name}" for p in self.frontier.keys.parts),
                }:
                    pipe.expire(key, UNLISTED_S)
            await pipe.execute()
        return len(outdated)

    async def of_site(self, site_id: str) -> list[Job]:
        """Return the listed jobs of a site, newest first."""
        site = site_id.encode()
        rows = [row for row in await self._listed() if row[1].get(b"site_id") == site]
        return [await self._job_from(*row) for row in rows]

    async def keep_listed(self, job: Job) -> None:
        """List a job again if the list was deleted, because a job in no list never ends."""
        await self._redis.zadd(self._index, {job.id: job.started_at}, nx=True)

    async def running(self) -> list[Job]:
        """Return the jobs that have not ended."""
        rows = [row for row in await self._listed() if word(row[1][b"state"]) not in ENDED_STATES]
        return [await self._job_from(*row) for row in rows]

    async def _refuse_ended(self, job: Job) -> None:
        current = await self.get(job.id)
        if current is not None and current.state in ENDED_STATES:
            raise JobConflict(f"job {job.id} is {current.state}")

    async def pause(self, job: Job) -> None:
        """Pause a job: lease no requests of its seeds' domains.

        Raises:
            JobConflict: it has ended. Its domains may have requests of other jobs.
        """
        await self._refuse_ended(job)
        await self._redis.hset(self._key(job.id), "state", "paused")
        for name in job.domains:
            await self.frontier.pause(name)

    async def resume(self, job: Job) -> None:
        """Continue a paused job.

        Raises:
            JobConflict: it has ended.
        """
        await self._refuse_ended(job)
        await self._redis.hset(self._key(job.id), "state", "running")
        for name in job.domains:
            await self.frontier.resume(name)

    async def cancel(self, job: Job) -> None:
        """Cancel a job.

        Its requests at its seeds' domains are dropped at once, because their turn may be hours
        away; those at other domains are dropped when their turn comes.

        Raises:
            JobConflict: it has ended.
        """
        await self._refuse_ended(job)
        if job.state == "paused":
            await self.resume(job)
        await self._end(job.id, "cancelled")
        await self._redis.publish(self.frontier.keys.wake, "cancel")
        for name in job.domains:
            with suppress(ResponseError):  # a key of another type: its requests wait for their turn
                await self.frontier.clear_job(name, job.id)

    async def note_checked(self, job: Job) -> None:
        """Mark a complete job as checked: the products that it did not see are pushed."""
        await self._redis.hset(self._key(job.id), "checked", 1)

    async def finish(self, job: Job) -> None:
        """Mark a complete job as finished; one that has ended meanwhile stays as it is."""
        await self._end(job.id, "finished")

    async def note_pace(self, jobs: Iterable[Job], at_s: float) -> None:
        """Store the speed of running jobs, so that readers see an average over time."""
        pipe = self._redis.pipeline(transaction=False)
        for job in jobs:
            if job.pace is None or at_s - job.pace.at_s >= PACE_S:
                pace = attrs.astuple(job.pace_at(at_s))
                pipe.hset(self._key(job.id), "pace", orjson.dumps(pace))
        await pipe.execute()

    async def _end(self, job: str, state: State) -> None:
        now_s, current = await self.now_s(), await self.get(job)
        if current is not None and current.state in ENDED_STATES:
            return
        key, pipe = self._key(job), self._redis.pipeline(transaction=True)
        pipe.hset(key, "state", state)
        pipe.hset(key, "finished_at", str(now_s))
        keys = self.frontier.keys
        if state == "cancelled":  # in the same step, because workers drop requests by this set
            pipe.sadd(keys.cancelled, job)
        webhooks.add_to(pipe, keys, webhooks.event_of(keys.crawl, current, job, state, now_s))
        await pipe.execute()

    async def note_lost(self, job: str) -> None:
        """Send the webhook event of a job whose state Redis lost (I12)."""
        keys, pipe = self.frontier.keys, self._redis.pipeline(transaction=True)
        now_s = await self.now_s()
        webhooks.add_to(pipe, keys, webhooks.event_of(keys.crawl, None, job, "lost", now_s))
        await pipe.execute()

    async def now_s(self) -> float:
        """Return the time of Redis' clock (I6), which also dates a job's pages."""
        # By a script with a key, because clients of a Cluster send TIME to any of its servers.
        seconds, micros = await self._redis.eval("return redis.call('TIME')", 1, self._index)
        return int(seconds) + int(micros) / 1e6

    async def now(self) -> datetime:
        """Return the time of Redis' clock, by which schedules are due (I6)."""
        return datetime.fromtimestamp(await self.now_s(), UTC)


def plan_of(urls: Iterable[str], fields: Mapping[str, object]) -> bytes:
    """Return what is stored of a job's seeds: their URLs as they are requested.

    Raises:
        ConfigError: a URL is invalid; the message has it.
    """
    return orjson.dumps({"urls": [_checked(tidy, url) for url in urls], "fields": dict(fields)})


def _readable_plan(raw: bytes | None) -> str:
    """Return a plan as `plan_of` wrote it; '' for anything else, because whoever reads it relies on
    its seeds and fields, and PostgreSQL refuses a zero byte, with it the records of all jobs."""
    plan = record(raw)
    urls, fields = plan.get("urls"), plan.get("fields")
    has_seeds = isinstance(urls, list) and all(isinstance(url, str) for url in urls)
    text = word(raw) if has_seeds and isinstance(fields, dict) else ""
    return "" if r"\u0000" in text else text


def _domain(url: str) -> str:
    return _checked(domain, url)


def _checked(form: Callable[[str], str], url: str) -> str:
    try:
        return form(url)
    except ValueError as error:
        raise ConfigError(f"{url}: {error}") from None


def _job(name: str, fields: Mapping[bytes, bytes]) -> Job:
    def text(field: str) -> str:
        return word(fields.get(field.encode(), b""))

    state: State = text("state")  # type: ignore[assignment]  # written by this module alone
    return Job(
        id=name,
        site_id=text("site_id"),
        kind=text("kind"),
        state=state,
        domains=tuple(map(str, items(fields.get(b"domains")))),
        total=whole_number(text("total")),
        done=whole_number(text("done")),
        ignored=whole_number(text("ignored")),
        failed=whole_number(text("failed")),
        cancelled=whole_number(text("cancelled")),
        started_at=real(text("started_at")),
        finished_at=real(text("finished_at")) if text("finished_at") else None,
        planned=text("planned") == "1",
        checked=text("checked") == "1",
        plan=_readable_plan(fields.get(_PLAN.encode())),
        pace=_pace(items(fields.get(b"pace"))),
    )


def _pace(numbers: list[Any]) -> Pace | None:
    if len(numbers) != len(attrs.fields(Pace)):
        return None
    at_s, total, ended_count, rate, growth = numbers
    return Pace(
        real(at_s), whole_number(total), whole_number(ended_count), real(rate), real(growth)
    )
