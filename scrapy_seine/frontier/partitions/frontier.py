"""One crawl over several servers: the frontier's verbs, split by domain and put together again.

Every domain belongs to one partition, whose keys are one Redis Cluster slot. There all invariants
hold as they do in a crawl that is not split: a domain's pace and slots, its duplicates, its leases
are the business of one server. Between partitions (see `outbox` for how requests move):

* I3: a child of another partition's domain is in the outbox when its page's commit is over, and
  counts as undone there until the other partition has it.
* Completion is exact although partitions are asked one by one: nothing is left to do when two
  looks at all of them, one after the other, both find nothing undone and the same number of
  requests that ever came in. Between the two looks no partition took anything in, so that each
  stayed at nothing, and all of them were there at one moment: the one between the looks. (Counting
  twice what only grows is from the four-counter method of F. Mattern, Algorithms for distributed
  termination detection, Distributed Computing 2 (1987).) A job's end is exact by the same means.
* A priority class comes before another within a partition; across them it does on the whole.
* A domain's budget is exact. The one of waiting requests is cut in equal shares: all together are
  never more than it says, but one partition may be full before the others are. A job's counts what
  other partitions had at the last heartbeat, so that it may be passed by what enters within one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs
from redis.asyncio import Redis

from scrapy_seine.frontier import change_priority
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.gather import together
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
from scrapy_seine.frontier.partitions.budgets import tell_totals
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
        """Time that tests set; 0: each partition asks its own server's clock."""
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
        """A worker's ways to the partitions."""
        return PartitionedLines(self.keys, self._parts, lease_request)

    def part(self, domain: str) -> Frontier:
        """Where a domain's requests are."""
        return self._parts[self.keys.part(domain).index or 0]

    async def run(self, name: str, *args: Any) -> Any:
        """No script is for all partitions."""
        raise AssertionError(f"{name} has to say which partition it is for")

    async def _split(
        self,
        things: Sequence[T],
        where: Callable[[T], int],
        verb: Callable[[Frontier, list[T]], Any],
    ) -> list[Any]:
        """Let each partition do its share, all at once; one reply for each thing, in order."""
        places = [where(thing) for thing in things]
        used = sorted(set(places))
        shares = [[t for t, at in zip(things, places, strict=True) if at == p] for p in used]
        done = await together(
            verb(self._parts[p], share) for p, share in zip(used, shares, strict=True)
        )
        replies = {p: iter(reply) for p, reply in zip(used, done, strict=True)}
        return [next(replies[p]) for p in places]

    async def _each(self, verb: Callable[[Frontier], Any]) -> list[Any]:
        return await together(verb(part) for part in self._parts)

    def _home(self, push: Push) -> int:
        return self.keys.part(push.domain).index or 0

    async def push(self, pushes: Sequence[Push]) -> list[str]:
        return await self._split(pushes, self._home, lambda part, share: part.push(share))

    async def lease(self, worker: str, wanted: int, **how: Any) -> Leased:
        """Take from all partitions alike; those that have more fill up for those with less."""
        answers: list[Leased] = []
        asked = random.sample(self._parts, len(self._parts))
        left = wanted
        while asked and (left > 0 or not answers):
            shares = [left // len(asked) + (n < left % len(asked)) for n in range(len(asked))]
            got = await together(
                part.lease(worker, share, **how) for part, share in zip(asked, shares, strict=True)
            )
            answers += got
            left -= sum(len(leased.leases) for leased in got)
            rows = zip(asked, shares, got, strict=True)
            asked = [part for part, share, reply in rows if share == len(reply.leases)]
        return _merged(answers[: len(self._parts)], answers)

    async def renew(
        self, worker: str, leases: Sequence[Lease], *, ttl_ms: int, info: bytes
    ) -> list[str]:
        return list((await self.beat(worker, leases, ttl_ms=ttl_ms, info=info)).lost)

    async def beat(self, worker: str, leases: Sequence[Lease], *, ttl_ms: int, info: bytes) -> Beat:
        """Keep leases; each partition hears that the worker lives, whether it has any there."""

        def of(part: Frontier) -> list[Lease]:
            return [x for x in leases if part_of_id(x.id) == part.keys.index]

        beats = await self._each(lambda p: p.beat(worker, of(p), ttl_ms=ttl_ms, info=info))
        return Beat(
            lost=[id_ for beat in beats for id_ in beat.lost],
            workers=max(beat.workers for beat in beats),
            undone=sum(beat.undone for beat in beats),
            to_sweep=any(beat.to_sweep for beat in beats),
            cancelled=None,  # these are a key of the crawl's own
        )

    async def commit(self, pages: Sequence[Done | Burial]) -> list[str]:
        """End leases; what leads to other partitions is brought there at once, or by a heartbeat.

        Raises:
            RedisError: a server does not answer; pages may have been committed all the same.
        """
        words = await self._split(
            pages,
            lambda page: part_of_id(page.lease.id),
            lambda part, share: part.commit(share),
        )
        await self.forward()
        return words

    async def begin(self) -> None:
        """Work on the present state of each partition: each has an identity of its own."""
        await self._each(lambda part: part.begin())

    async def forward(self) -> int:
        return sum(await self._each(lambda part: outbox.forward(part, self._parts)))

    async def retry(self, retries: Sequence[Retry]) -> list[str]:
        return await self._split(
            retries,
            lambda retry: part_of_id(retry.lease.id),
            lambda part, share: part.retry(share),
        )

    async def bury(self, burials: Sequence[Burial]) -> list[str]:
        words = await self._split(
            burials,
            lambda burial: part_of_id(burial.lease.id),
            lambda part, share: part.bury(share),
        )
        if any(burial.children for burial in burials):
            await self.forward()
        return words

    async def release(self, leases: Sequence[Lease]) -> list[str]:
        return await self._split(
            leases, lambda lease: part_of_id(lease.id), lambda part, share: part.release(share)
        )

    async def reap(self, *, limit: int = 200, max_deliveries: int = 5) -> tuple[int, int]:
        found = await self._each(lambda p: p.reap(limit=limit, max_deliveries=max_deliveries))
        return sum(returned for returned, _ in found), sum(buried for _, buried in found)

    async def isolate(self, lease: Lease, *, begins: bool) -> bool:
        return await self._parts[part_of_id(lease.id)].isolate(lease, begins=begins)

    async def set_delay(self, domain: str, **limits: Any) -> None:
        await self.part(domain).set_delay(domain, **limits)

    async def reslot(self, lease: Lease, **when: Any) -> tuple[int, int, int]:
        return await self._parts[part_of_id(lease.id)].reslot(lease, **when)

    async def late(self, domain: str, at_ms: int) -> int:
        return await self.part(domain).late(domain, at_ms)

    async def set_lane(self, domain: str, lane: str) -> None:
        await self.part(domain).set_lane(domain, lane)

    async def set_spread(self, domain: str, addresses: int, *, ttl_ms: int) -> None:
        await self.part(domain).set_spread(domain, addresses, ttl_ms=ttl_ms)

    async def set_site(self, domain: str, *, delay_ms: int | None, concurrency: int | None) -> None:
        await self.part(domain).set_site(domain, delay_ms=delay_ms, concurrency=concurrency)

    async def block_until(self, domain: str, wait_ms: int, *, grow_to_ms: int = 0) -> int:
        return await self.part(domain).block_until(domain, wait_ms, grow_to_ms=grow_to_ms)

    async def measure(
        self, latencies: Mapping[str, Latency], *, target: float, least_ms: int, most_ms: int
    ) -> None:
        async def tell(part: Frontier) -> None:
            mine = {d: seen for d, seen in latencies.items() if self.part(d) is part}
            if mine:
                await part.measure(mine, target=target, least_ms=least_ms, most_ms=most_ms)

        await self._each(tell)

    async def pause(self, domain: str = "") -> None:
        await together(p.pause(domain) for p in self._meant(domain))

    async def resume(self, domain: str = "") -> bool:
        return any(await together(p.resume(domain) for p in self._meant(domain)))

    def _meant(self, domain: str) -> Sequence[Frontier]:
        return (self.part(domain),) if domain else self._parts

    async def forget(self, fingerprints: Sequence[int]) -> int:
        return sum(await self._each(lambda part: part.forget(fingerprints)))

    async def sweep(self, *, limit: int = 500) -> int:
        return sum(await self._each(lambda part: part.sweep(limit=limit)))

    async def sign_off(self, worker: str) -> None:
        await self._each(lambda part: part.sign_off(worker))

    async def tend(self) -> None:
        """Bring on what a dead worker left on its way, and tell job totals."""
        await together([self.forward(), tell_totals(self)])

    async def remember(self, fingerprints: Sequence[int], domains: Sequence[str] = ()) -> int:
        pairs = list(zip(fingerprints, domains, strict=True))
        part = self.keys.part

        async def tell(place: Frontier) -> int:
            mine = [fp for fp, domain in pairs if part(domain).index == place.keys.index]
            return await place.remember(mine) if mine else 0

        return sum(await self._each(tell))

    async def requeue_dead(self, ids: Sequence[str], *, pause_ms: int = 0, wait_ms: int = 0) -> int:
        async def send(part: Frontier) -> int:
            mine = [id_ for id_ in ids if part_of_id(id_) == part.keys.index]
            # Each partition knows but its own: together they are as far apart as was asked.
            pause = pause_ms * len(ids) // max(1, len(mine))
            return await part.requeue_dead(mine, pause_ms=pause, wait_ms=wait_ms)

        return sum(await self._each(send))

    async def purge(self, ids: Sequence[str]) -> int:
        async def drop(part: Frontier) -> int:
            mine = [id_ for id_ in ids if part_of_id(id_) == part.keys.index]
            return await part.purge(mine) if mine else 0

        return sum(await self._each(drop))

    async def configure(
        self, *, capacity: int = 10_000_000, budgets: Budgets = NO_BUDGETS, **limits: Any
    ) -> None:
        """Write the crawl's defaults; what is a number of the whole crawl is shared out."""
        of = len(self._parts)
        share = attrs.evolve(budgets, most_pending=-(-budgets.most_pending // of))
        await self._each(
            lambda part: part.configure(capacity=-(-capacity // of), budgets=share, **limits)
        )
        client: Any = self.redis
        known = {"delay": limits["delay_ms"], "cap": limits["concurrency"]}
        await client.hset(
            self.keys.control, mapping={**known, "job_pages": budgets.job_pages, "partitions": of}
        )

    async def activity(self) -> tuple[int, int]:
        looks = await self.look()
        return sum(undone for undone, _ in looks), sum(entered for _, entered in looks)

    async def look(self) -> Look:
        """Ask each partition for its activity; not at one moment."""
        return await self._each(lambda part: part.activity())

    async def idle(self) -> bool:
        first = await self.look()
        return not any(undone for undone, _ in first) and is_over(first, await self.look())

    async def ended_ago_ms(self) -> int | None:
        ago = await self._each(lambda part: part.ended_ago_ms())
        return min((ms for ms in ago if ms is not None), default=None)

    async def counts(self) -> Counts:
        """Sums over the partitions, which are read one by one: use `idle` to know of the end."""
        found: list[Counts] = await self._each(lambda part: part.counts())
        totals: dict[str, int] = {}
        for counts in found:
            for name, n in counts.totals.items():
                totals[name] = totals.get(name, 0) + n
        sums = {name: sum(getattr(counts, name) for counts in found) for name in _SUMS}
        workers = max(counts.workers for counts in found)
        paused = any(counts.paused for counts in found)
        return Counts(**sums, workers=workers, paused=paused, totals=totals)

    async def clear(self) -> int:
        return sum(await self._each(lambda part: part.clear()))

    async def set_priority(
        self, priority: int, which: change_priority.Which
    ) -> change_priority.Changed:
        return await super().set_priority(priority, which)  # which goes to the partitions itself

    async def clear_domain(self, domain: str) -> int:
        await self.forward()
        return await self.part(domain).clear_domain(domain)

    async def clear_job(self, domain: str, job: str) -> int:
        """Drop what waits for one job at a domain; the same of another job stays."""
        await self.forward()
        return await self.part(domain).clear_job(domain, job)

    async def erase(self) -> int:
        own = Frontier(self.redis, self.keys.crawl)
        return sum(await together([own.erase(), *(part.erase() for part in self._parts)]))


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


def _merged(first: Sequence[Leased], answers: Sequence[Leased]) -> Leased:
    """Put answers together: of the first round what is known, of all rounds what was leased."""
    due = [leased.next_due_ms for leased in first if leased.next_due_ms]
    return Leased(
        state="PAUSED" if any(leased.state == "PAUSED" for leased in first) else "OK",
        now_ms=first[0].now_ms,
        next_due_ms=min(due, default=0),
        undone=sum(leased.undone for leased in first),
        entered=sum(leased.entered for leased in first),
        expired=any(leased.expired for leased in first),
        leases=[lease for leased in answers for lease in leased.leases],
    )
