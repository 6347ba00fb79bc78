"""The frontier's verbs, one method and one Lua script each. Batches in, words out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import attrs
import orjson
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from crawler.errors import DecodeError, FrontierError
from crawler.frontier.codec import decode, encode
from crawler.frontier.keys import Keys
from crawler.frontier.model import (
    NO_BUDGETS,
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
from crawler.meta import RETRY_COUNT
from crawler.stores.scripts import Script, call, load_script

#: A script's arguments are unpacked onto Lua's stack and must not hold up other clients.
MAX_CHILDREN = 500
#: Requests that one step of a long command touches.
STEP = 500
_LEASE_FIELDS = 6


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


class Frontier:
    """One crawl's frontier in Redis. Stateless: any number may exist in any process."""

    def __init__(self, redis: Redis, crawl: str, *, now_ms: int = 0) -> None:
        self.redis = redis
        self.keys = Keys(crawl)
        #: 0 asks the server's clock (I6); tests pass their own time.
        self.now_ms = now_ms

    async def _run(self, name: str, *args: Any) -> Any:
        return await call(self.redis, script(name), [self.keys.prefix], [self.now_ms, *args])

    async def push(self, pushes: Sequence[Push]) -> list[str]:
        """Add requests; the reply says 'OK', 'DUPLICATE' or 'OVER' (a budget) for each."""
        replies: list[str] = []
        for start in range(0, len(pushes), MAX_CHILDREN):
            part = pushes[start : start + MAX_CHILDREN]
            args = [arg for push in part for arg in push.args()]
            replies += map(_text, await self._run("push", len(part), *args))
        return replies

    async def lease(
        self, worker: str, wanted: int, *, ttl_ms: int, lead_ms: int = 0, lanes: Sequence[str] = ()
    ) -> Leased:
        """Take up to *wanted* requests that may be sent now and need no lane beyond *lanes*."""
        args = (worker, wanted, ttl_ms, lead_ms, lanes_arg(lanes))
        return parse_leased(await self._run("lease", *args))

    async def renew(
        self, worker: str, leases: Sequence[Lease], *, ttl_ms: int, info: bytes
    ) -> list[str]:
        """Keep leases for another *ttl_ms*; returns ids that are no longer this worker's."""
        args = [arg for lease in leases for arg in (lease.id, lease.token)]
        return [_text(i) for i in await self._run("renew", worker, ttl_ms, info, *args)]

    async def commit(self, pages: Sequence[Done]) -> list[str]:
        """End leases and push their children, in one script (I3); 'OK' or 'LOST' for each."""
        return [_text(r) for r in await self._run("commit", *commit_args(pages))]

    async def retry(self, retries: Sequence[Retry]) -> list[str]:
        """Send failed requests back; 'OK' or 'LOST' for each."""
        args = [a for r in retries for a in (r.lease.id, r.lease.token, r.wait_ms, r.push.stored)]
        return [_text(r) for r in await self._run("retry", len(retries), *args)]

    async def bury(self, burials: Sequence[Burial]) -> list[str]:
        """Give requests up, with the reason; 'OK' or 'LOST' for each."""
        args = [a for b in burials for a in (b.lease.id, b.lease.token, b.note)]
        return [_text(r) for r in await self._run("bury", len(burials), *args)]

    async def release(self, leases: Sequence[Lease]) -> list[str]:
        """Hand leases back unfinished; 'OK' or 'LOST' for each."""
        args = [a for lease in leases for a in (lease.id, lease.token)]
        return [_text(r) for r in await self._run("release", len(leases), *args)]

    async def reap(self, *, limit: int = 200, max_deliveries: int = 5) -> tuple[int, int]:
        """Take back expired leases; returns how many returned and how many were buried."""
        returned, buried = await self._run("reap", limit, max_deliveries)
        return int(returned), int(buried)

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
        await self._run("set_delay", domain, *("" if value is None else value for value in limits))

    async def reslot(
        self, lease: Lease, *, spent_ms: int | None = None, patience_ms: int = 1000
    ) -> tuple[int, int]:
        """Ask for another time to send, because the lease's own was missed.

        *spent_ms* ago the site was asked for something else instead; None: it was not.

        Returns the server's time, and when to send on its clock: 0 where the lease is to be handed
        back, because its domain is not free again within *patience_ms*.
        """
        args: list[Any] = [lease.id, lease.token, lease.slot_ms]
        args += ["" if spent_ms is None else spent_ms, patience_ms]
        now_ms, slot_ms, _ = await self._run("reslot", *args)
        return int(now_ms), int(slot_ms)

    async def set_lane(self, domain: str, lane: str) -> None:
        """Let only workers that have *lane* lease of a domain; '' = any worker."""
        await self._run("set_lane", domain, lane)

    async def set_site(self, domain: str, *, delay_ms: int | None, concurrency: int | None) -> None:
        """Set what a domain's site file asks for; None: it asks for nothing."""
        args = ["" if value is None else value for value in (delay_ms, concurrency)]
        await self._run("set_site", domain, *args)

    async def block_until(self, domain: str, wait_ms: int, *, grow_to_ms: int = 0) -> int:
        """Send nothing to *domain* for *wait_ms*; returns the end of its block in ms.

        With *grow_to_ms* a block that follows the last one closely is twice as long, up to that.
        """
        return int(await self._run("block_until", domain, wait_ms, grow_to_ms))

    async def measure(
        self, latencies: Mapping[str, Latency], *, target: float, least_ms: int, most_ms: int
    ) -> None:
        """Tell how long domains took to answer; their pauses follow, where the crawl throttles.

        *target* requests are to be under way at one domain; pauses stay within the bounds.
        """
        args = [arg for domain, seen in latencies.items() for arg in (domain, *seen.args())]
        await self._run("measure", target, least_ms, most_ms, *args)

    async def pause(self, domain: str = "") -> None:
        """Hand nothing out, of the crawl or of one domain."""
        await self._run("pause", domain)

    async def resume(self, domain: str = "") -> bool:
        """Go on; False when it was not paused."""
        return _text(await self._run("resume", domain)) == "OK"

    async def forget(self, fingerprints: Sequence[int]) -> int:
        """Let URLs be pushed again; returns how many were known.

        Raises:
            FrontierError: the crawl's memory is a Bloom filter, which cannot forget.
        """
        gone = int(await self._run("forget", *fingerprints))
        if gone < 0:
            raise FrontierError("a Bloom filter cannot forget; use SEINE_SEEN=exact")
        return gone

    async def sweep(self, *, limit: int = 500) -> int:
        """Delete up to *limit* keys of the memory's old generations; returns how many."""
        return int(await self._run("sweep", limit))

    async def remember(self, fingerprints: Sequence[int]) -> int:
        """Count URLs as seen that another crawler has done; returns how many were new."""
        return int(await self._run("remember", *fingerprints))

    async def requeue_dead(self, ids: Sequence[str], *, pause_ms: int = 0, wait_ms: int = 0) -> int:
        """Send dead letters back, *pause_ms* apart, the first after *wait_ms*; returns how many.

        Their retries begin anew.
        """
        if not ids:
            return 0
        client: Any = self.redis
        stored = await client.hmget(self.keys.requests, ids)
        pairs = [a for id_, text in zip(ids, stored, strict=True) for a in (id_, untried(text))]
        return int(await self._run("requeue_dead", wait_ms, pause_ms, *pairs))

    async def purge(self, ids: Sequence[str]) -> int:
        """Remove dead letters for good; returns how many."""
        return int(await self._run("purge", *ids))

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
    ) -> None:
        """Write the crawl's defaults; every worker writes the same ones when it opens.

        *seen* is `exact` or `bloom`; *capacity* is what a Bloom filter's first layer holds.
        With *throttle* what `measure` tells makes pauses.
        """
        pipe = self.redis.pipeline(transaction=False)
        limits = {"delay": delay_ms, "cap": concurrency, "throttle": int(throttle)}
        limits |= attrs.asdict(budgets)
        pipe.hset(self.keys.control, mapping={name: str(n) for name, n in limits.items()})
        kind = "bf" if seen == "bloom" and await self._has_bloom() else seen
        pipe.hset(self.keys.seen, "half_ms", str(half_window_ms))
        pipe.hset(self.keys.seen, "wanted", kind)
        pipe.hset(self.keys.seen, "capacity", str(capacity))
        await pipe.execute()

    async def _has_bloom(self) -> bool:
        try:
            probe = "return redis.call('BF.EXISTS', KEYS[1], '0')"
            await self.redis.eval(probe, 1, f"{self.keys.seen}:probe")
        except ResponseError:
            return False
        return True

    async def ended_ago_ms(self) -> int | None:
        """How long ago the crawl was complete last; None: never."""
        ended = await self.redis.hget(self.keys.control, "ended")
        if ended is None:
            return None
        seconds, micros = await self.redis.time()
        return int(seconds * 1000 + micros // 1000 - float(ended))

    async def counts(self) -> Counts:
        """Where the crawl's requests are; O(1)."""
        k, pipe = self.keys, self.redis.pipeline(transaction=False)
        for key in (k.delayed, k.leases, k.dead, k.workers, k.ready, k.waiting):
            pipe.zcard(key)
        pipe.hlen(k.requests)
        pipe.hmget(k.seen, "n", "old")
        pipe.hexists(k.control, "paused")
        pipe.hgetall(k.counters)
        replies = await pipe.execute()
        delayed, leased, dead, workers, ready, waiting, known, seen, paused, totals = replies
        return Counts(
            ready=known - delayed - leased - dead,
            delayed=delayed,
            leased=leased,
            dead=dead,
            seen=_remembered(*seen),
            workers=workers,
            domains_ready=ready,
            domains_waiting=waiting,
            paused=bool(paused),
            totals={_text(name): int(n) for name, n in totals.items()},
        )

    async def clear(self) -> int:
        """Drop all requests and forget what was seen; returns how many requests there were.

        Only ever on an explicit command (I7). Limits, tokens, workers and totals stay, so that
        a fleet that runs meanwhile stays polite and its late words change nothing.
        """
        dropped = int(await self._run("clear"))
        async for key in self._scan(self.keys.queue("")):
            domain = key.decode().removeprefix(self.keys.queue(""))
            while await self._run("discard", domain, STEP, 1):
                pass
        while await self.sweep():
            pass
        async for key in self._scan(self.keys.domain("")):
            await self.redis.hdel(key.decode(), "pages")
        await self._fail_jobs()
        return dropped

    async def _fail_jobs(self) -> None:
        """Count what a clear dropped against the jobs, so that none waits for it."""
        client: Any = self.redis
        async for key in self._scan(self.keys.job + ":"):
            total, done = await client.hmget(key, "total", "done")
            await client.hset(key, "failed", max(0, int(total or 0) - int(done or 0)))

    async def clear_domain(self, domain: str) -> int:
        """Drop a domain's requests but for those in flight and the dead; returns how many."""
        dropped = 0
        while gone := int(await self._run("discard", domain, STEP, 0)):
            dropped += gone
        client: Any = self.redis
        cursor = 0
        while True:
            cursor, rows = await client.zscan(self.keys.delayed, cursor, count=STEP)
            ids = [id_ for id_, _ in rows]
            stored = await client.hmget(self.keys.requests, ids) if ids else []
            mine = [i for i, s in zip(ids, stored, strict=True) if s and domain_of(s) == domain]
            dropped += int(await self._run("discard", domain, 0, 0, *mine)) if mine else 0
            if not cursor:
                return dropped

    async def erase(self) -> int:
        """Delete every key of a crawl that nobody works on any more; returns keys deleted."""
        deleted = 0
        async for key in self._scan(self.keys.prefix):
            deleted += await self.redis.unlink(key)
        return deleted

    def _scan(self, prefix: str) -> AsyncIterator[bytes]:
        return self.redis.scan_iter(match=f"{escape(prefix)}*", count=1000)


def _remembered(current: bytes | None, old: bytes | None) -> int:
    generations = orjson.loads(old) if old and old != b"{}" else []
    return int(current or 0) + sum(int(g["n"]) for g in generations)


def domain_of(stored: bytes) -> str:
    """Name the domain in a stored request's header."""
    return stored.partition(b"\n")[0].split(b" ")[1].decode()


def untried(stored: bytes | None) -> bytes:
    """Return a stored request as if it had never failed; empty where that changes nothing."""
    head, newline, blob = (stored or b"").partition(b"\n")
    try:
        fields = decode(blob)
    except DecodeError:
        return b""
    if not isinstance(fields.get("meta"), dict) or not fields["meta"].pop(RETRY_COUNT, 0):
        return b""
    return head + newline + encode(fields)


def lanes_arg(lanes: Sequence[str]) -> str:
    """Lay lanes out as the lease script reads them."""
    return "".join(f"{lane} " for lane in lanes)


def escape(pattern: str) -> str:
    """Quote what SCAN's MATCH would take for a wildcard."""
    return "".join(f"\\{c}" if c in "*?[]\\^" else c for c in pattern)


def script(name: str) -> Script:
    """Load one of the frontier's scripts."""
    return load_script("crawler.frontier", name)


def commit_args(pages: Sequence[Done]) -> list[Any]:
    """Lay pages and their children out as the script reads them."""
    args: list[Any] = [len(pages)]
    for page in pages:
        args += (page.lease.id, page.lease.token, page.lease.job, len(page.children))
        for child in page.children:
            args += child.args()
    return args


def parse_leased(reply: Sequence[Any]) -> Leased:
    """Read the reply of the lease script."""
    state, now_ms, next_due_ms, undone, pushed, expired, flat = reply
    leases = [
        Lease(
            id=_text(flat[at]),
            token=_text(flat[at + 1]),
            slot_ms=int(flat[at + 2]),
            delay_ms=int(flat[at + 3]),
            deliveries=int(flat[at + 4]),
            stored=flat[at + 5],
        )
        for at in range(0, len(flat), _LEASE_FIELDS)
    ]
    return Leased(
        state="PAUSED" if _text(state) == "PAUSED" else "OK",
        now_ms=int(now_ms),
        next_due_ms=int(next_due_ms),
        undone=int(undone),
        pushed=int(pushed or 0),
        expired=bool(expired),
        leases=leases,
    )


def note(reason: str, error: str, worker: str, **more: Any) -> bytes:
    """Write the note that a dead letter carries."""
    return orjson.dumps({"reason": reason, "error": error, "worker": worker, **more})
