"""One crawl over several servers: the frontier's verbs, split by domain and merged again.

Every domain belongs to one partition, whose keys are one Redis Cluster slot. Within it all
invariants hold as in a crawl that is not split: a domain's pace and slots, its duplicates and its
leases are on one server. Between partitions (see `outbox` for how requests move):

* I3: when a page's commit is over, a child of another partition's domain is in the outbox, and
  counts as undone there until the other partition has it.
* Completion is exact although partitions are asked one by one: the crawl is over when two looks at
  all partitions, one after the other, both find nothing undone and the same number of requests that
  ever entered. Between the two looks no request entered, so that each partition stayed at nothing,
  and all of them were at nothing at one moment: the one between the looks. (Counting twice what
  only grows is from the four-counter method of F. Mattern, Algorithms for distributed termination
  detection, Distributed Computing 2 (1987).) A job's end is exact by the same means.
* A priority class comes before another within a partition; across partitions only on the whole.
* A domain's budget is exact. The budget of waiting requests is cut in equal shares: together they
  never exceed it, but one partition may be full before the others. A job's budget counts what other
  partitions had at the last heartbeat, so that requests that enter within one heartbeat may exceed
  it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs
from redis.asyncio import Redis

from scrapy_seine.frontier import change_priority
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.gather import run_all
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import (
    NO_BUDGETS,
    Beat,
    Budgets,
    Burial,
    Counts,
    Done,
    Latency,
    Lease,
    Leased,
    Push,
    Retry,
)
from scrapy_seine.frontier.partitions import outbox
from scrapy_seine.frontier.partitions.budgets import share_totals
from scrapy_seine.frontier.partitions.redis_pipelines import PartitionedLines
from scrapy_seine.frontier.partitions.two_looks import Look, is_over
from scrapy_seine.frontier.round_trips.redis_pipeline import LeaseRequest
from scrapy_seine.frontier.which_partition import part_of_id

T = TypeVar("T")


class PartitionedFrontier(Frontier):
    """The frontier of a crawl in several partitions; `keys` are the crawl's own."""

    def __init__(self, redis: Redis, keys: Keys, *, now_ms: int = 0) -> None:
        self._parts = tuple(Frontier(redis, part) for part in keys.parts)
        super().__init__(redis, keys, now_ms=now_ms)

    @property
    def now_ms(self) -> int:
        """Time that tests set; 0: each partition uses its own server's clock."""
        return self._parts[0].now_ms

    @now_ms.setter
    def now_ms(self, now_ms: int) -> None:
        for part in self._parts:
            part.now_ms = now_ms

    @property
    def parts(self) -> Sequence[Frontier]:
        """Frontiers of the partitions, by number."""
        return self._parts

    def lines(self, lease_request: LeaseRequest) -> PartitionedLines:
        """Return a worker's connections to the partitions."""
        return PartitionedLines(self.keys, self._parts, lease_request)

    def part(self, domain: str) -> Frontier:
        """Return the frontier of the partition that holds a domain."""
        return self._parts[self.keys.part(domain).index or 0]

    async def run(self, name: str, *args: Any) -> Any:
        """Fail, because no script is for all partitions."""
        raise AssertionError(f"{name} has to say which partition it is for")

    async def _call_shares(
        self,
        subjects: Sequence[T],
        place_of: Callable[[T], int],
        verb: Callable[[Frontier, list[T]], Any],
    ) -> list[Any]:
        """Call each partition with its share, all at once; one reply for each subject, in order."""
        places = [place_of(subject) for subject in subjects]
        numbers = sorted(set(places))
        shares = [
            [s for s, place in zip(subjects, places, strict=True) if place == p] for p in numbers
        ]
        results = await run_all(
            verb(self._parts[p], share) for p, share in zip(numbers, shares, strict=True)
        )
        replies = {p: iter(reply) for p, reply in zip(numbers, results, strict=True)}
        return [next(replies[p]) for p in places]

    async def _all(self, verb: Callable[[Frontier], Any]) -> list[Any]:
        return await run_all(verb(part) for part in self._parts)

    def _home(self, push: Push) -> int:
        return self.keys.part(push.domain).index or 0

    async def push(self, pushes: Sequence[Push]) -> list[str]:
        return await self._call_shares(pushes, self._home, lambda part, share: part.push(share))

    async def lease(self, worker: str, wanted: int, **how: Any) -> Leased:
        """Lease from all partitions equally; those with more fill up for those with less."""
        all_replies: list[Leased] = []
        parts = random.sample(self._parts, len(self._parts))
        missing_count = wanted
        while parts and (missing_count > 0 or not all_replies):
            shares = [
                missing_count // len(parts) + (n < missing_count % len(parts))
                for n in range(len(parts))
            ]
            replies = await run_all(
                part.lease(worker, share, **how) for part, share in zip(parts, shares, strict=True)
            )
            all_replies += replies
            missing_count -= sum(len(leased.leases) for leased in replies)
            rows = zip(parts, shares, replies, strict=True)
            parts = [part for part, share, reply in rows if share == len(reply.leases)]
        return _merged(all_replies[: len(self._parts)], all_replies)

    async def renew(
        self, worker: str, leases: Sequence[Lease], *, ttl_ms: int, info: bytes
    ) -> list[str]:
        return list((await self.beat(worker, leases, ttl_ms=ttl_ms, info=info)).lost)

    async def beat(self, worker: str, leases: Sequence[Lease], *, ttl_ms: int, info: bytes) -> Beat:
        """Renew leases; each partition gets the heartbeat, whether or not it has a lease."""

        def of(part: Frontier) -> list[Lease]:
            return [x for x in leases if part_of_id(x.id) == part.keys.index]

        beats = await self._all(lambda p: p.beat(worker, of(p), ttl_ms=ttl_ms, info=info))
        return Beat(
            lost=[id_ for beat in beats for id_ in beat.lost],
            workers=max(beat.workers for beat in beats),
            undone=sum(beat.undone for beat in beats),
            to_sweep=any(beat.to_sweep for beat in beats),
            cancelled=None,  # that key belongs to the whole crawl
        )

    async def commit(self, pages: Sequence[Done | Burial]) -> list[str]:
        """End leases; links to other partitions are moved there at once, or by a heartbeat.

        Raises:
            RedisError: a server does not answer; pages may have been committed all the same.
        """
        words = await self._call_shares(
            pages,
            lambda page: part_of_id(page.lease.id),
            lambda part, share: part.commit(share),
        )
        await self.forward()
        return words

    async def begin(self) -> None:
        """Work on the present state of each partition: each has an id of its own."""
        await self._all(lambda part: part.begin())

    async def forward(self) -> int:
        return sum(await self._all(lambda part: outbox.forward(part, self._parts)))

    async def retry(self, retries: Sequence[Retry]) -> list[str]:
        return await self._call_shares(
            retries,
            lambda retry: part_of_id(retry.lease.id),
            lambda part, share: part.retry(share),
        )

    async def bury(self, burials: Sequence[Burial]) -> list[str]:
        words = await self._call_shares(
            burials,
            lambda burial: part_of_id(burial.lease.id),
            lambda part, share: part.bury(share),
        )
        if any(burial.children for burial in burials):
            await self.forward()
        return words

    async def release(self, leases: Sequence[Lease]) -> list[str]:
        return await self._call_shares(
            leases, lambda lease: part_of_id(lease.id), lambda part, share: part.release(share)
        )

    async def reap(self, *, limit: int = 200, max_deliveries: int = 5) -> tuple[int, int]:
        counts = await self._all(lambda p: p.reap(limit=limit, max_deliveries=max_deliveries))
        return sum(returned for returned, _ in counts), sum(buried for _, buried in counts)

    async def isolate(self, lease: Lease, *, begins: bool) -> bool:
        return await self._parts[part_of_id(lease.id)].isolate(lease, begins=begins)

    async def set_delay(self, domain: str, **limits: Any) -> None:
        await self.part(domain).set_delay(domain, **limits)

    async def reschedule(self, lease: Lease, **when: Any) -> tuple[int, int, int]:
        return await self._parts[part_of_id(lease.id)].reschedule(lease, **when)

    async def note_late_send(self, domain: str, at_ms: int) -> int:
        return await self.part(domain).note_late_send(domain, at_ms)

    async def set_lane(self, domain: str, lane: str) -> None:
        await self.part(domain).set_lane(domain, lane)

    async def set_spread(self, domain: str, addresses: int, *, ttl_ms: int) -> None:
        await self.part(domain).set_spread(domain, addresses, ttl_ms=ttl_ms)

    async def set_site(self, domain: str, *, delay_ms: int | None, concurrency: int | None) -> None:
        await self.part(domain).set_site(domain, delay_ms=delay_ms, concurrency=concurrency)

    async def block_until(self, domain: str, wait_ms: int, *, grow_to_ms: int = 0) -> int:
        return await self.part(domain).block_until(domain, wait_ms, grow_to_ms=grow_to_ms)

    async def note_latency(
        self, latencies: Mapping[str, Latency], *, target: float, least_ms: int, most_ms: int
    ) -> None:
        async def send(part: Frontier) -> None:
            share = {d: latency for d, latency in latencies.items() if self.part(d) is part}
            if share:
                await part.note_latency(share, target=target, least_ms=least_ms, most_ms=most_ms)

        await self._all(send)

    async def pause(self, domain: str = "") -> None:
        await run_all(p.pause(domain) for p in self._parts_of(domain))

    async def resume(self, domain: str = "") -> bool:
        return any(await run_all(p.resume(domain) for p in self._parts_of(domain)))

    def _parts_of(self, domain: str) -> Sequence[Frontier]:
        return (self.part(domain),) if domain else self._parts

    async def forget(self, fingerprints: Sequence[int]) -> int:
        return sum(await self._all(lambda part: part.forget(fingerprints)))

    async def sweep(self, *, limit: int = 500) -> int:
        return sum(await self._all(lambda part: part.sweep(limit=limit)))

    async def sign_off(self, worker: str) -> None:
        await self._all(lambda part: part.sign_off(worker))

    async def tend(self) -> None:
        """Move what a dead worker left in an outbox, and write job totals."""
        await run_all([self.forward(), share_totals(self)])

    async def remember(self, fingerprints: Sequence[int], domains: Sequence[str] = ()) -> int:
        pairs = list(zip(fingerprints, domains, strict=True))
        part = self.keys.part

        async def send(place: Frontier) -> int:
            share = [fp for fp, domain in pairs if part(domain).index == place.keys.index]
            return await place.remember(share) if share else 0

        return sum(await self._all(send))

    async def requeue_dead(self, ids: Sequence[str], *, pause_ms: int = 0, wait_ms: int = 0) -> int:
        async def send(part: Frontier) -> int:
            share = [id_ for id_ in ids if part_of_id(id_) == part.keys.index]
            # Each partition sees only its own letters: stretch its pause so that together they keep
            # it.
            pause = pause_ms * len(ids) // max(1, len(share))
            return await part.requeue_dead(share, pause_ms=pause, wait_ms=wait_ms)

        return sum(await self._all(send))

    async def purge(self, ids: Sequence[str]) -> int:
        async def drop(part: Frontier) -> int:
            share = [id_ for id_ in ids if part_of_id(id_) == part.keys.index]
            return await part.purge(share) if share else 0

        return sum(await self._all(drop))

    async def configure(
        self, *, capacity: int = 10_000_000, budgets: Budgets = NO_BUDGETS, **limits: Any
    ) -> None:
        """Write the crawl's defaults; its total limits are divided among the partitions."""
        of = len(self._parts)
        share = attrs.evolve(budgets, most_pending=-(-budgets.most_pending // of))
        await self._all(
            lambda part: part.configure(capacity=-(-capacity // of), budgets=share, **limits)
        )
        client: Any = self.redis
        defaults = {"delay": limits["delay_ms"], "cap": limits["concurrency"]}
        await client.hset(
            self.keys.control,
            mapping={**defaults, "job_pages": budgets.job_pages, "partitions": of},
        )

    async def activity(self) -> tuple[int, int]:
        looks = await self.look()
        return sum(undone for undone, _ in looks), sum(entered for _, entered in looks)

    async def look(self) -> Look:
        """Ask each partition for its activity, though not at one moment."""
        return await self._all(lambda part: part.activity())

    async def idle(self) -> bool:
        first = await self.look()
        return not any(undone for undone, _ in first) and is_over(first, await self.look())

    async def ended_ago_ms(self) -> int | None:
        ago = await self._all(lambda part: part.ended_ago_ms())
        return min((ms for ms in ago if ms is not None), default=None)

    async def counts(self) -> Counts:
        """Sum over the partitions, which are read one by one: use `idle` to detect the end."""
        parts: list[Counts] = await self._all(lambda part: part.counts())
        totals: dict[str, int] = {}
        for counts in parts:
            for name, n in counts.totals.items():
                totals[name] = totals.get(name, 0) + n
        sums = {name: sum(getattr(counts, name) for counts in parts) for name in _SUMS}
        workers = max(counts.workers for counts in parts)
        paused = any(counts.paused for counts in parts)
        return Counts(**sums, workers=workers, paused=paused, totals=totals)

    async def clear(self) -> int:
        return sum(await self._all(lambda part: part.clear()))

    async def set_priority(
        self, priority: int, selection: change_priority.RequestSelection
    ) -> change_priority.Changed:
        return await super().set_priority(priority, selection)  # it calls the partitions itself

    async def clear_domain(self, domain: str) -> int:
        await self.forward()
        return await self.part(domain).clear_domain(domain)

    async def clear_job(self, domain: str, job: str) -> int:
        """Drop what waits for one job at a domain; the same of another job stays."""
        await self.forward()
        return await self.part(domain).clear_job(domain, job)

    async def erase(self) -> int:
        whole_crawl = Frontier(self.redis, self.keys.crawl)
        return sum(await run_all([whole_crawl.erase(), *(part.erase() for part in self._parts)]))


_SUMS = (
    "ready",
    "delayed",
    "leased",
    "dead",
    "seen",
    "domains_ready",
    "domains_waiting",
    "moving",
)


def _merged(first: Sequence[Leased], all_rounds: Sequence[Leased]) -> Leased:
    """Merge replies: progress from the first round, leases from all rounds."""
    due_times = [leased.next_due_ms for leased in first if leased.next_due_ms]
    return Leased(
        state="PAUSED" if any(leased.state == "PAUSED" for leased in first) else "OK",
        now_ms=first[0].now_ms,
        next_due_ms=min(due_times, default=0),
        undone=sum(leased.undone for leased in first),
        entered=sum(leased.entered for leased in first),
        expired=any(leased.expired for leased in first),
        leases=[lease for leased in all_rounds for lease in leased.leases],
    )
