"""Jobs in Redis: beside their counters, so that one look shows a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
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
from scrapy_seine.lenient import items, real, whole, word
from scrapy_seine.reads.progress import Pace
from scrapy_seine.urls import domain, tidy

#: Seeds come before everything that they lead to; the same as for seeds that people push.
SEED_PRIORITY = 100
#: Between two notes of a job's speed, s.
PACE_S = 5.0
#: Field of a job: its seeds as JSON.
_PLAN = "plan"


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
        """Begin a job, or join the one of that name: doing it twice is as good as once.

        Raises:
            ConfigError: the name or a URL cannot be used; names it.
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
        # Whoever finds the job half planned needs nothing but this to complete it, and who finds
        # it lost, its copy in PostgreSQL to begin it anew.
        pipe.hset(key, _PLAN, _plan(urls, fields or {}))
        pipe.zadd(self._index, {job: now}, nx=True)
        await pipe.execute()
        await self.add(job, site_id=site_id, kind=kind, urls=urls, fields=fields)
        await self._redis.hset(key, "planned", 1)
        found = await self.get(job)
        assert found is not None  # it was written just now
        return found

    async def start(self, site_id: str, urls: Sequence[str], at: datetime) -> Job:
        """Begin a site's full crawl for who asks at a time; who asks twice in a minute gets one.

        A job of that minute that has ended, or that began elsewhere, is another one: a request that
        joined it would count for a job that is over, or be dropped as one of a cancelled job.

        Raises:
            ConfigError: a URL cannot be used; names it.
        """
        name, plan = job_id(site_id, "full", at), _plan(urls, {})
        while (known := await self.get(name)) is not None:
            if known.state not in ENDED_STATES and known.plan == plan.decode():
                break
            name = next_name(name)
        return await self.begin(name, site_id=site_id, kind="full", urls=urls)

    async def complete(self, job: Job) -> Job:
        """Plan the rest of a job whose beginner died meanwhile; as good as its own doing so."""
        raw = await self._redis.hget(self._key(job.id), _PLAN)
        if raw is None:  # begun by an older version: its own plan is the only one who knows
            return job
        plan = orjson.loads(raw)
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
        """Push URLs for a job, each once per job (and per mark); returns how many were new.

        *fields* are further ones of the stored request: callback, cb_kwargs …; *metas* what a
        single URL's request has in its meta besides.
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
        words = await self.frontier.push(pushes)
        return sum(word == "OK" for word in words)

    @staticmethod
    def _meta(shared: Mapping[str, object]) -> dict[str, object]:
        made: dict[str, object] = dict(shared)
        m.complete(made, None)
        return {**made, m.DEPTH: 0}

    async def get(self, job: str) -> Job | None:
        """One job, None where there is none of that name."""
        found: Mapping[bytes, bytes] = await self._redis.hgetall(self._key(job))
        return await self._read(job, found) if b"state" in found else None

    async def _read(self, job: str, found: Mapping[bytes, bytes]) -> Job:
        parted = self.frontier.keys.of > 1
        return _job(job, {**found, **await self._counted(job)} if parted else found)

    async def _counted(self, job: str) -> dict[bytes, bytes]:
        """Sum what the partitions counted, which are asked one by one.

        What ended is asked for first, and what began after that: both only grow, so that where
        they are equal nothing was left at the moment between (see frontier.partitions).
        """
        ended = await self._sums(job, *ENDED, "arrived")
        began = await self._sums(job, "total", "sent")
        total = began["total"] + began["sent"] - ended["arrived"]
        counted = {"total": total, **{name: ended[name] for name in ENDED}}
        return {name.encode(): b"%d" % n for name, n in counted.items()}

    async def _sums(self, job: str, *fields: str) -> dict[str, int]:
        pipe = self._redis.pipeline(transaction=False)
        for part in self.frontier.keys.parts:
            pipe.hmget(f"{part.job}:{job}", fields)
        rows = await pipe.execute()
        return {
            field: sum(whole(n) for n in column)
            for field, column in zip(fields, zip(*rows, strict=True), strict=True)
        }

    async def newest(self, limit: int = 50) -> list[Job]:
        """The newest jobs first."""
        names = await self._redis.zrevrange(self._index, 0, limit - 1)
        pipe = self._redis.pipeline(transaction=False)
        for name in names:
            pipe.hgetall(self._key(word(name)))
        found = zip(names, await pipe.execute(), strict=True)
        return [await self._read(word(name), job) for name, job in found if b"state" in job]

    async def running(self) -> list[Job]:
        """Jobs that have not ended, of the newest thousand."""
        return [job for job in await self.newest(1000) if job.state not in ENDED_STATES]

    async def pause(self, job: Job) -> None:
        """Hand out nothing of the domains where the job began."""
        await self._redis.hset(self._key(job.id), "state", "paused")
        for name in job.domains:
            await self.frontier.pause(name)

    async def resume(self, job: Job) -> None:
        """Go on with a paused job."""
        await self._redis.hset(self._key(job.id), "state", "running")
        for name in job.domains:
            await self.frontier.resume(name)

    async def cancel(self, job: Job) -> None:
        """Fetch no more for the job.

        What waits at its domains is dropped at once, because a turn there may be hours away; what
        other domains have of it is dropped when its turn comes.
        """
        if job.state == "paused":
            await self.resume(job)
        await self._end(job.id, "cancelled")
        await self._redis.sadd(self.frontier.keys.cancelled, job.id)
        await self._redis.publish(self.frontier.keys.wake, "cancel")
        for name in job.domains:
            with suppress(ResponseError):  # a key of another type: what is there waits for its turn
                await self.frontier.clear_job(name, job.id)

    async def note_checked(self, job: Job) -> None:
        """Note that what a complete job did not see is in the frontier."""
        await self._redis.hset(self._key(job.id), "checked", 1)

    async def finish(self, job: Job) -> None:
        """Close a complete job."""
        await self._end(job.id, "finished")

    async def note_pace(self, jobs: Iterable[Job], at_s: float) -> None:
        """Keep how fast running jobs are, so that whoever looks sees more than one moment."""
        pipe = self._redis.pipeline(transaction=False)
        for job in jobs:
            if job.pace is None or at_s - job.pace.at_s >= PACE_S:
                pace = attrs.astuple(job.pace_at(at_s))
                pipe.hset(self._key(job.id), "pace", orjson.dumps(pace))
        await pipe.execute()

    async def _end(self, job: str, state: State) -> None:
        now_s, found = await self.now_s(), await self.get(job)
        key, pipe = self._key(job), self._redis.pipeline(transaction=True)
        pipe.hset(key, "state", state)
        pipe.hset(key, "finished_at", str(now_s))
        keys = self.frontier.keys
        webhooks.add_to(pipe, keys, webhooks.event_of(keys.crawl, found, job, state, now_s))
        await pipe.execute()

    async def note_lost(self, job: str) -> None:
        """Tell that Redis lost a job's state (I12), as the end of that job."""
        keys, pipe = self.frontier.keys, self._redis.pipeline(transaction=True)
        now_s = await self.now_s()
        webhooks.add_to(pipe, keys, webhooks.event_of(keys.crawl, None, job, "lost", now_s))
        await pipe.execute()

    async def now_s(self) -> float:
        """Redis' clock (I6): what a job's pages are dated by as well."""
        # By a script: a Cluster would answer the command with the time of each of its servers.
        seconds, micros = await self._redis.eval("return redis.call('TIME')", 1, self._index)
        return int(seconds) + int(micros) / 1e6


def _plan(urls: Iterable[str], fields: Mapping[str, object]) -> bytes:
    return orjson.dumps({"urls": list(urls), "fields": dict(fields)})


def _domain(url: str) -> str:
    try:
        return domain(url)
    except ValueError as error:
        raise ConfigError(f"{url}: {error}") from None


def _job(name: str, found: Mapping[bytes, bytes]) -> Job:
    def text(field: str) -> str:
        return word(found.get(field.encode(), b""))

    state: State = text("state")  # type: ignore[assignment]  # written by this module alone
    return Job(
        id=name,
        site_id=text("site_id"),
        kind=text("kind"),
        state=state,
        domains=tuple(map(str, items(found.get(b"domains")))),
        total=whole(text("total")),
        done=whole(text("done")),
        ignored=whole(text("ignored")),
        failed=whole(text("failed")),
        cancelled=whole(text("cancelled")),
        started_at=real(text("started_at")),
        finished_at=real(text("finished_at")) if text("finished_at") else None,
        planned=text("planned") == "1",
        checked=text("checked") == "1",
        plan=text(_PLAN),
        pace=_pace(items(found.get(b"pace"))),
    )


def _pace(numbers: list[Any]) -> Pace | None:
    if len(numbers) != len(attrs.fields(Pace)):
        return None
    at_s, total, ended, rate, growth = numbers
    return Pace(real(at_s), whole(total), whole(ended), real(rate), real(growth))
