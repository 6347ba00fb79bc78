"""The frontier's verbs, one method and one Lua script each; each takes and returns a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs
from redis.exceptions import ResponseError

from scrapy_seine.errors import FrontierError
from scrapy_seine.frontier import change_priority, clearing
from scrapy_seine.frontier.changed_limits import LIMITS, log_changed_limits
from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.frontier.encoding.wire import (
    MAX_CHILDREN,
    lanes_arg,
    parse_beat,
    parse_leased,
    reset_tries,
    retry_args,
    seen_count,
)
from scrapy_seine.frontier.lost_state import new_token
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
    header_of,
)
from scrapy_seine.frontier.one_partition import Part
from scrapy_seine.frontier.round_trips.redis_pipeline import LeaseRequest, Lines
from scrapy_seine.frontier.round_trips.server_clock import server_time_s
from scrapy_seine.lenient_parsing import whole_number, word

#: Dead letters in one script, at most, because other clients wait while it runs.
_STEP = 500


def _in_steps(ids: Sequence[str]) -> list[Sequence[str]]:
    return [ids[start : start + _STEP] for start in range(0, len(ids), _STEP)]


class Frontier(Part):
    """One crawl's frontier in Redis, or one partition of it (see `partitions`)."""

    @property
    def parts(self) -> Sequence[Frontier]:
        """Frontiers of the partitions, by number; only this one, where the crawl is not split."""
        return (self,)

    def part(self, domain: str) -> Frontier:
        """Return the frontier that holds a domain's requests."""
        return self

    def lines(self, lease_request: LeaseRequest) -> Lines:
        """Return a worker's connections to this frontier."""
        return Lines(self.parts, lease_request)

    def sealed(self, secrets: Sequence[str]) -> Self:
        """Sign requests from now on, if there is a secret; see `seal`."""
        self.seal = Seal(self.keys.crawl, secrets)
        for part in self.parts:
            part.seal = self.seal
        return self

    async def push(self, pushes: Sequence[Push]) -> list[str]:
        """Add requests; returns 'OK', 'DUPLICATE' or 'OVER' (a budget) for each."""
        await self.dictionaries.agree_if_due()
        replies: list[str] = []
        for start in range(0, len(pushes), MAX_CHILDREN):
            part = pushes[start : start + MAX_CHILDREN]
            args = [arg for push in part for arg in push.args(self.packer.pack)]
            before = self.watch.before
            replies += map(word, await self.run("push", len(part), *args))
            self.watch.learn_push(before, len(part))
        return replies

    async def lease(
        self,
        worker: str,
        wanted: int,
        *,
        ttl_ms: int,
        lead_ms: int = 0,
        lanes: Sequence[str] = (),
        slack_ms: int = 0,
    ) -> Leased:
        """Lease up to *wanted* requests that may be sent now and need no lane beyond *lanes*.

        They may be sent *slack_ms* late, where that is more than the usual margin.
        """
        args = (worker, wanted, ttl_ms, lead_ms, lanes_arg(lanes), slack_ms, new_token())
        before = self.watch.before
        leased = parse_leased(await self.run("lease", *args), slack_ms)
        self.watch.learn_lease_reply(before, leased.state_text)
        return await self.dictionaries.unpack_leases(leased)

    async def renew(
        self, worker: str, leases: Sequence[Lease], *, ttl_ms: int, info: bytes
    ) -> list[str]:
        """Keep leases for another *ttl_ms*; returns ids that are no longer this worker's."""
        return list((await self.beat(worker, leases, ttl_ms=ttl_ms, info=info)).lost)

    async def beat(self, worker: str, leases: Sequence[Lease], *, ttl_ms: int, info: bytes) -> Beat:
        """Renew leases, and return what a worker has to learn regularly, in one round trip."""
        args = [arg for lease in leases for arg in (lease.id, lease.token)]
        return parse_beat(await self.run("renew", worker, ttl_ms, info, *args))

    async def commit(self, pages: Sequence[Done | Burial]) -> list[str]:
        """End leases and push their children, in one script (I3); 'OK' or 'LOST' for each."""
        name, args = self.commit_call(pages)
        return [word(r) for r in await self.run(name, *args)]

    async def retry(self, retries: Sequence[Retry]) -> list[str]:
        """Send failed requests back; 'OK' or 'LOST' for each."""
        args = retry_args(retries, self.packer.pack)
        return [word(r) for r in await self.run("retry", len(retries), *args)]

    async def bury(self, burials: Sequence[Burial]) -> list[str]:
        """Give requests up, with the reason; 'OK' or 'LOST' for each.

        The links of their pages enter in the same script (I3).
        """
        if any(burial.children for burial in burials):
            return await self.commit(burials)
        args = [a for b in burials for a in (b.lease.id, b.lease.token, b.note)]
        return [word(r) for r in await self.run("bury", len(burials), *args)]

    async def release(self, leases: Sequence[Lease]) -> list[str]:
        """Hand leases back unfinished; 'OK' or 'LOST' for each."""
        args = [a for lease in leases for a in (lease.id, lease.token)]
        return [word(r) for r in await self.run("release", len(leases), *args)]

    async def isolate(self, lease: Lease, *, begins: bool) -> bool:
        """Record that a worker starts a request while it has no other, or that this ended.

        Returns False if the lease is lost.
        """
        return word(await self.run("isolate", lease.id, lease.token, int(begins))) == "OK"

    async def set_delay(
        self,
        domain: str,
        *,
        delay_ms: int | None = None,
        concurrency: int | None = None,
        jitter: float | None = None,
        robots_ms: int | None = None,
    ) -> None:
        """Set limits of a domain; None leaves one as it is.

        *delay_ms* is the operator's pause, *robots_ms* what robots.txt asks: the longer counts.
        """
        limits = (delay_ms, concurrency, jitter, robots_ms)
        await self.run("set_delay", domain, *("" if value is None else value for value in limits))

    def beside(self, domain: str) -> Lease:
        """Return a lease of no request, by which a project's own download gets send times.

        It is never renewed and never ended, because the frontier knows nothing of the download.
        """
        return Lease(
            id=f".{self.keys.part(domain).index or 0}",
            token="",
            slot_ms=0,
            deliveries=0,
            stored=header_of(0, domain),
        )

    async def reschedule(
        self,
        lease: Lease,
        *,
        spent_ms: int | None = None,
        patience_ms: int = 1000,
        slack_ms: int = 0,
    ) -> tuple[int, int, int]:
        """Ask for a new send time, because the lease's own was missed.

        *spent_ms* ago the slot was used for another request to the site; None: it was not. The
        pause after the new time allows *slack_ms* of lateness.

        Returns the server's time; the time to send on its clock, 0 if the lease is to be handed
        back, because its domain is not free within *patience_ms*; and the domain's pause, ms.
        """
        args: list[Any] = [lease.id, lease.token, lease.slot_ms]
        args += ["" if spent_ms is None else spent_ms, patience_ms, slack_ms, lease.domain]
        now_ms, slot_ms, delay_ms = await self.run("reschedule", *args)
        return int(now_ms), int(slot_ms), int(delay_ms)

    async def note_late_send(self, domain: str, at_ms: int) -> int:
        """Count a domain's pause from *at_ms*, because a request was sent after its slot.

        Returns when the next one may be sent.
        """
        return int(await self.run("note_late_send", domain, at_ms))

    async def set_lane(self, domain: str, lane: str) -> None:
        """Let only workers that have *lane* lease from a domain; '' = any worker."""
        await self.run("set_lane", domain, lane)

    async def set_spread(self, domain: str, addresses: int, *, ttl_ms: int) -> None:
        """Apply a domain's limits to each of so many addresses for *ttl_ms*; repeat to keep it."""
        await self.run("set_spread", domain, addresses, ttl_ms)

    async def set_site(self, domain: str, *, delay_ms: int | None, concurrency: int | None) -> None:
        """Set the limits of a domain's site file; None: the file sets none."""
        args = ["" if value is None else value for value in (delay_ms, concurrency)]
        await self.run("set_site", domain, *args)

    async def block_until(self, domain: str, wait_ms: int, *, grow_to_ms: int = 0) -> int:
        """Send nothing to *domain* for *wait_ms*; returns the end of its block in ms.

        With *grow_to_ms* a block that closely follows the last one is twice as long, up to that.
        """
        return int(await self.run("block_until", domain, wait_ms, grow_to_ms))

    async def note_latency(
        self, latencies: Mapping[str, Latency], *, target: float, least_ms: int, most_ms: int
    ) -> None:
        """Report how long domains took to answer; pauses adapt, where the crawl throttles.

        *target* requests should be in flight at one domain; pauses stay within the bounds.
        """
        args = [arg for domain, latency in latencies.items() for arg in (domain, *latency.args())]
        await self.run("note_latency", target, least_ms, most_ms, *args)

    async def pause(self, domain: str = "") -> None:
        """Stop leasing, of the crawl or of one domain."""
        await self.run("pause", domain)

    async def resume(self, domain: str = "") -> bool:
        """Lease again; False if it was not paused."""
        return word(await self.run("resume", domain)) == "OK"

    async def forget(self, fingerprints: Sequence[int]) -> int:
        """Let URLs be pushed again; returns how many were known.

        Raises:
            FrontierError: the crawl's memory is a Bloom filter, which cannot forget.
        """
        forgotten = int(await self.run("forget", *fingerprints))
        if forgotten < 0:
            raise FrontierError("a Bloom filter cannot forget; use SEINE_SEEN=exact")
        return forgotten

    @property
    def channels(self) -> list[str]:
        """Redis channels on which the crawl's events are published."""
        return list(dict.fromkeys([self.keys.wake, *(part.keys.wake for part in self.parts)]))

    async def sign_off(self, worker: str) -> None:
        """Remove a worker from the list of workers; its leases, if any, stay."""
        await self.redis.zrem(self.keys.workers, worker)
        await self.redis.hdel(self.keys.worker_info, worker)

    async def tend(self) -> None:
        """Do the regular work beyond `sweep`; each heartbeat calls it."""

    async def forward(self) -> int:
        """Move requests to the partitions they belong to; returns how many were on their way."""
        return 0

    async def remember(self, fingerprints: Sequence[int], domains: Sequence[str] = ()) -> int:
        """Mark URLs as seen that another crawler has done; returns how many were new.

        *domains* are the URLs' domains, in the same order; only a crawl in partitions needs them.
        """
        return int(await self.run("remember", *fingerprints))

    async def requeue_dead(self, ids: Sequence[str], *, pause_ms: int = 0, wait_ms: int = 0) -> int:
        """Requeue dead letters, *pause_ms* apart, the first after *wait_ms*; returns how many.

        Their retry counts start again. They are stored unpacked, so that a worker of any version
        reads them.
        """
        client: Any = self.redis
        back = 0
        for part in _in_steps(ids):
            raw = await client.hmget(self.keys.requests, part)
            stored = await self.dictionaries.unpack_stored(raw)
            pairs = [
                arg
                for id_, text in zip(part, stored, strict=True)
                for arg in (id_, reset_tries(text, self.seal))
            ]
            wait_ms_of_step = wait_ms + back * pause_ms
            back += int(await self.run("requeue_dead", wait_ms_of_step, pause_ms, *pairs))
        return back

    async def purge(self, ids: Sequence[str]) -> int:
        """Remove dead letters for good; returns how many."""
        return sum([int(await self.run("purge", *part)) for part in _in_steps(ids)])

    async def configure(
        self,
        *,
        delay_ms: int,
        concurrency: int,
        half_window_ms: int,
        seen: str = "exact",
        capacity: int = 10_000_000,
        budgets: Budgets = NO_BUDGETS,
        throttle: bool = False,
        jitter: float = 0.0,
    ) -> None:
        """Write the crawl's defaults; every worker writes the same ones when it opens.

        *seen* is `exact` or `bloom`; *capacity* is what a Bloom filter's first layer holds. With
        *throttle*, latencies sent by `note_latency` set pauses. Up to *jitter* times a pause is
        added to it at random, unless the site asks for one.
        """
        pipe = self.redis.pipeline(transaction=False)
        pipe.hmget(self.keys.control, list(LIMITS))
        limits: dict[str, float] = {
            "delay": delay_ms,
            "cap": concurrency,
            "throttle": int(throttle),
        }
        limits |= {"jitter": jitter, **attrs.asdict(budgets)}
        pipe.hset(self.keys.control, mapping={name: str(n) for name, n in limits.items()})
        kind = "bf" if seen == "bloom" and await self._has_bloom() else seen
        pipe.hset(self.keys.seen, "half_ms", str(half_window_ms))
        pipe.hset(self.keys.seen, "wanted", kind)
        pipe.hset(self.keys.seen, "capacity", str(capacity))
        earlier_limits, *_ = await pipe.execute()
        if not self.keys.index:  # one line, however many partitions there are
            log_changed_limits(earlier_limits, (delay_ms, concurrency))

    async def _has_bloom(self) -> bool:
        try:
            probe = "return redis.call('BF.EXISTS', KEYS[1], '0')"
            await self.redis.eval(probe, 1, f"{self.keys.seen}:probe")
        except ResponseError:
            return False
        return True

    async def activity(self) -> tuple[int, int]:
        """Requests neither done nor dead, and those that entered so far, at one moment."""
        undone, entered = await self.run("activity")
        return int(undone), int(entered)

    async def idle(self) -> bool:
        """Whether nothing at all is left to do; exact."""
        return (await self.activity())[0] == 0

    async def ended_ago_ms(self) -> int | None:
        """How long ago the crawl was last complete, ms; None: never."""
        ended = await self.redis.hget(self.keys.control, "ended")
        if ended is None:
            return None
        return int(1000 * await server_time_s(self.redis) - float(ended))

    async def counts(self) -> Counts:
        """Count the crawl's requests by state; O(1)."""
        k, pipe = self.keys, self.redis.pipeline(transaction=False)
        for key in (k.delayed, k.leases, k.dead, k.workers, k.ready, k.waiting):
            pipe.zcard(key)
        pipe.hlen(k.requests)
        pipe.hmget(k.seen, "n", "old")
        pipe.hexists(k.control, "paused")
        pipe.hgetall(k.counters)
        for part in () if k.index is None else range(k.of):
            pipe.xlen(k.outbox(part))
        replies = await pipe.execute()
        delayed, leased, dead, workers, ready, waiting, known, seen, paused, totals, *outboxes = (
            replies
        )
        return Counts(
            ready=known - delayed - leased - dead,
            delayed=delayed,
            leased=leased,
            dead=dead,
            seen=seen_count(*seen),
            workers=workers,
            domains_ready=ready,
            domains_waiting=waiting,
            paused=bool(paused),
            totals={word(name): whole_number(n) for name, n in totals.items()},
            moving=sum(outboxes),
        )

    async def clear(self) -> int:
        """Drop all requests and forget seen URLs; returns how many requests there were.

        Only ever on an explicit command (I7). Limits, tokens, workers and totals stay, so that a
        fleet that runs meanwhile stays polite and its late replies change nothing.
        """
        return await clearing.clear(self)

    async def clear_domain(self, domain: str) -> int:
        """Drop a domain's requests but for those in flight and the dead; returns how many."""
        return await clearing.clear_domain(self, domain)

    async def clear_job(self, domain: str, job: str) -> int:
        """Drop what waits for one job at a domain; the same of another job stays."""
        return await clearing.clear_job(self, domain, job)

    async def set_priority(
        self, priority: int, selection: change_priority.RequestSelection
    ) -> change_priority.Changed:
        """Give queued requests another priority; larger is sooner.

        Requests in flight and dead letters keep theirs. Repeating it is harmless.
        """
        await self.forward()
        parts = (self.part(selection.domain),) if selection.domain else self.parts
        return await change_priority.set_priority(parts, priority, selection)

    async def erase(self) -> int:
        """Delete every key of a crawl that no worker uses any more; returns keys deleted."""
        deleted = 0
        async for key in clearing.scan(self.redis, self.keys.prefix):
            deleted += await self.redis.unlink(key)
        return deleted
