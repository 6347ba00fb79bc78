"""Requests that cannot be stored, because their callback is a lambda or their meta holds an object.

So are requests through a private proxy that only the spider's code names, requests of another
scheme than http (engine.download.private_addresses), and requests whose callback reads state of
this worker's spider (engine.stored.spider_state).

Such a request stays in this worker. A stub for it enters the frontier, a stored request that names
the worker and a number: so the request gets its send slot from the frontier like any other (I5),
and counts as undone. A worker that leases another's stub hands the lease over by a list in Redis,
the mail of the stub's owner. The page that yielded the request keeps its lease until the request
has ended, so that a page whose worker dies is parsed again and yields the request again (I1). A
request of `start` has no page, but each worker's `start` makes it: one that another worker sends is
a spare here. A worker that leases a dead worker's stub sends its spare on that lease, or ends it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from itertools import count
from typing import Any

import attrs
import orjson
from redis.exceptions import RedisError
from scrapy import Request

from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.lease.page_end import Hold
from scrapy_seine.engine.stored.serializer import push_of
from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.encoding.codec import decode
from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.frontier.live_workers import is_alive
from scrapy_seine.frontier.lost_state import new_token
from scrapy_seine.frontier.model import Done, Lease, Push
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.lenient_parsing import word
from scrapy_seine.meta import REPLAYED
from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.politeness.download_slots import waits_at
from scrapy_seine.printable import redact
from scrapy_seine.urls import scheme_of, slot

logger = logging.getLogger(__name__)
#: Requests that one worker keeps at the same time, at most.
MAX_REQUESTS = 10_000
#: Stubs that enter Redis at the same time; each takes a connection.
_CONCURRENT_PUSHES = 16
#: Name of the field that makes a stored request a stub.
FIELD = "_local"
_MARK = FIELD.encode()
#: Name of the field of a stub whose request no page yielded, so that none yields it again: its
#: fingerprint, '' if it has none.
_FROM_START = "_from_start"
#: Why the dead letter of a request that stayed in its worker stays one.
NOT_REPLAYED = (
    "it could not be stored, so that it cannot be sent again: forget the page that leads to it, "
    "and crawl that page again"
)
#: The rule by which a stub without a request ends.
RULE = "local"
_DONE = b"done"
#: Fields of a lease that are handed over; what was read of it is not.
_LEASE_FIELDS = [field.name for field in attrs.fields(Lease) if field.init]


async def _nothing(pushes: Sequence[Push]) -> None:
    """Do nothing."""


def off_the_web(request: Request, page: Request | None, own_schemes: Collection[str] = ()) -> str:
    """Why a request of another scheme than http stays in this worker; '' if it may not be sent.

    *page* is the page that yielded the request. A page's text is not trusted, so it leads to no
    file (I9); `start` is the spider's own code. A `data:` URL names no site. A scheme for which
    only the project has a handler (*own_schemes*) leads where the project's code decides.
    """
    scheme = scheme_of(request.url)
    from_start = page is None and request.meta.get("is_start_request")
    is_sent = scheme == "data" or scheme in own_schemes
    if is_sent or (from_start and scheme not in {"", "http", "https"}):
        return f"a {scheme}: URL is no address of a site, which any worker could ask"
    return ""


@attrs.define(eq=False, repr=False)
class Local:
    """One request that stays here."""

    request: Request
    parent: Hold
    stub: Push
    fingerprint: int | None
    asked: bool = False
    """Whether the frontier was asked for the fingerprint; its reply may have been lost."""


class LocalRequests:
    """The requests of one worker that cannot be stored."""

    def __init__(
        self,
        worker: str,
        exchange: Exchange,
        inflight: InFlightTable,
        seal: Seal,
        *,
        add_to_stat: Callable[[str], None],
        wake: Callable[[], None],
    ) -> None:
        self.worker = worker
        self.exchange = exchange
        self.frontier = exchange.frontier
        self.inflight = inflight
        self.seal = seal
        self.before: Callable[[Sequence[Push]], Awaitable[None]] = _nothing
        """Sends the limits of their sites to the frontier, before it has the first request."""
        self.tasks: set[asyncio.Task[None]] = set()
        self.mail: deque[Lease] = deque()
        """Leases of own stubs that other workers handed over."""
        self._count = add_to_stat
        self._wake = wake
        self._numbers = count(1)
        self._waiting: dict[int, Local] = {}
        self._running: dict[str, tuple[int, Local]] = {}
        self._spares: dict[str, tuple[int, Local]] = {}
        """Requests without a page that another worker sends, by fingerprint."""
        self._in_place: dict[str, tuple[int, Local]] = {}
        """Spares that go in place of a dead worker's request, by its lease."""
        self._warned: set[str] = set()
        self._entering = asyncio.Semaphore(_CONCURRENT_PUSHES)
        self._limiting = asyncio.Lock()
        self._lost_limiter = OnceAMinute()
        self._ended_fingerprints: list[int] = []
        self._claims: dict[int, int] = {}
        """Number of the request that claimed a fingerprint here, until its end is stored."""

    def __len__(self) -> int:
        return len(self._waiting) + len(self._running)

    @property
    def has_room(self) -> bool:
        """Whether there is room for a request that could also be stored."""
        return len(self) < MAX_REQUESTS // 2

    def keep(
        self, request: Request, entry: InFlight | None, fingerprint: int | None, reason: str = ""
    ) -> bool:
        """Keep a request that *entry*'s page yielded; False if this worker keeps too many.

        *reason* is logged once for each callback; '' if it was logged elsewhere.

        Raises:
            BadRequest: no worker could send it.
        """
        number = next(self._numbers)
        fields: dict[str, Any] = {"url": request.url, FIELD: f"{self.worker} {number}"}
        if entry is None:
            fields[_FROM_START] = str(fingerprint or "")
        host = waits_at(request, slot(request.url))
        stub = push_of(request, lambda: fields, fingerprint=None, seal=self.seal, host=host)
        stub = attrs.evolve(stub, mark=new_token())
        if reason:
            self._warn(request, reason)
        if len(self) >= MAX_REQUESTS:
            self._count("local_refused")
            reason = f"this worker keeps {MAX_REQUESTS} requests that cannot be stored already"
            if entry is not None:
                self.inflight.state_failure(entry, "internal", reason)
            else:
                logger.error("request refused: %s: %s", redact(request.url[:200]), reason)
            return False
        parent = Hold(self.inflight, entry)
        if entry is not None:
            entry.holds += 1
        self._waiting[number] = Local(request, parent, stub, fingerprint)
        self._count("local")
        self._spawn(self._push_stub(number))
        return True

    def _warn(self, request: Request, reason: str) -> None:
        callback = request.callback
        name = getattr(callback, "__qualname__", None) or type(callback).__name__
        if callback is None:
            name = "parse"  # as Scrapy has it
        if name not in self._warned:
            self._warned.add(name)
            logger.warning(
                "requests with callback %s cannot be stored and stay in this worker: %s",
                name,
                reason,
            )

    async def _push_stub(self, number: int, *, again: bool = False) -> None:
        """Push a stub, unless another worker keeps the same request; *again*: see `restore`."""
        async with self._entering:
            await self._push_stub_now(number, again=again)

    async def _push_stub_now(self, number: int, *, again: bool) -> None:
        is_known: bool | None = None
        while (local := self._waiting.get(number)) is not None:  # it may be dropped meanwhile
            try:
                if again and local.parent.is_abandoned and not await self._has_claim(local):
                    self._drop(number)
                    return
                async with self._limiting:  # another push of the site waits for its limits, too
                    await self.before([local.stub])
                if number not in self._waiting:
                    return
                if is_known is None:
                    is_known = await self._is_known(number, local)
                if is_known:
                    self._count("duplicates")
                    self._drop(number)
                elif "OVER" in await self.frontier.push([local.stub]):
                    self._count("over_budget")
                    self._drop(number)
                else:
                    self.exchange.undone = None
                    self.exchange.schedule_round_trip()
                return
            except (RedisError, OSError) as error:
                self._log_failure(error, "A local request waits")
                await asyncio.sleep(random.uniform(0.2, 1.0))

    def _drop(self, number: int) -> None:
        """End a request that waits, and that its page need not wait for."""
        if (local := self._waiting.pop(number, None)) is None:
            return
        if local.fingerprint is not None and self._claims.get(local.fingerprint) == number:
            del self._claims[local.fingerprint]
        local.parent.release()

    def clear(self, domain: str) -> None:
        """Drop requests of a domain, or all ('')."""
        self._drop_gone(lambda stub: domain in {"", stub.domain})

    def _drop_gone(self, is_gone: Callable[[Push], bool]) -> None:
        """Drop requests whose stubs are gone, because otherwise their pages would wait for ever."""
        for number in [n for n, local in self._waiting.items() if is_gone(local.stub)]:
            self._drop(number)

    def push_anew(self) -> None:
        """Push other stubs, because those in Redis may be gone, and nobody told this worker.

        A stub too many ends when it is leased.
        """
        for number, local in self._waiting.items():
            local.stub = attrs.evolve(local.stub, mark=new_token())
            self._spawn(self._push_stub(number))

    def restore(self) -> None:
        """Push the stubs again, because Redis has another state of the crawl.

        A request of a page whose lease is gone is dropped, because the page is read again and
        yields it, unless this state has the worker's claim: then the page's one is a duplicate.
        """
        held = {lease.id for lease in self.inflight.leases}
        for id_ in self._running.keys() - held:
            number, local = self._running.pop(id_)
            # A copy, because Scrapy still has the request.
            self._waiting[number] = attrs.evolve(local, request=local.request.copy())
        for number in self._waiting:
            self._spawn(self._push_stub(number, again=True))

    async def _is_known(self, number: int, local: Local) -> bool:
        """Claim a fingerprint; True if another request has it, or the request was done or stored.

        The frontier counts the fingerprint as seen from then on, so that no link to the same URL is
        stored as well. The call is repeated if a reply is lost: what it claimed is then claimed.
        """
        if (fingerprint := local.fingerprint) is None:
            return False
        if self._claims.setdefault(fingerprint, number) != number:
            return True
        client: Any = self.frontier.redis
        key, me = self.frontier.keys.locals, self.worker.encode()
        if not await client.hsetnx(key, str(fingerprint), me):
            owner = await client.hget(key, str(fingerprint))
            if owner != me:
                if owner == _DONE:
                    return True
                if owner and await is_alive(self.frontier, word(owner)):
                    if local.parent.entry is None and len(self._spares) < MAX_REQUESTS:
                        self._spares[str(fingerprint)] = number, local
                    return True
                local.asked = True  # by a worker that is dead
                await client.hset(key, str(fingerprint), me)
                return False
        await client.expire(key, int(self.exchange.config.window_s))
        was_asked, local.asked = local.asked, True
        if await self.frontier.remember([fingerprint], [local.stub.domain]) or was_asked:
            return False
        await client.hset(key, str(fingerprint), _DONE)
        return True

    async def _has_claim(self, local: Local) -> bool:
        """Whether Redis counts a request as kept by this worker."""
        if local.fingerprint is None:
            return False
        client: Any = self.frontier.redis
        owner = await client.hget(self.frontier.keys.locals, str(local.fingerprint))
        return bool(owner == self.worker.encode())

    def next(self) -> Lease | None:
        """Return a lease that another worker handed over, if there is one."""
        return self.mail.popleft() if self.mail else None

    def request_of(self, lease: Lease) -> Request | None:
        """Return the request of a stub; None if the lease is handled here.

        Raises:
            DecodeError: the stub is damaged, names a request of another site, or is a replayed dead
            letter, whose request was given up with the page that waited for it.
        """
        if lease.id in self._in_place:
            self._running[lease.id] = self._in_place.pop(lease.id)
            return self._running[lease.id][1].request
        self.seal.check(lease.stored)
        fields = decode(lease.blob)
        if is_replayed(fields):
            raise DecodeError(f"{fields['url'][:200]}: {NOT_REPLAYED}")
        owner, _, number = str(fields.get(FIELD)).rpartition(" ")
        if owner != self.worker:
            self._spawn(self._hand_over(lease, owner))
            return None
        local = self._waiting.pop(int(number), None) if number.isdecimal() else None
        if local is None:
            self.exchange.commit(Done(lease=lease, rule=RULE))
            return None
        if local.stub.domain != lease.domain:
            self._waiting[int(number)] = local
            raise DecodeError(f"a stub for {lease.domain!r:.200} names a request of another site")
        self._running[lease.id] = (int(number), local)
        return local.request

    async def _hand_over(self, lease: Lease, owner: str) -> None:
        """Give the lease of another worker's stub to that worker; end it if that worker is dead."""
        try:
            if not await is_alive(self.frontier, owner):
                if await self._replace(lease, owner):
                    self.mail.append(lease)
                    self._wake()
                    return
                self._count(f"ignored/{RULE}")
                self.exchange.commit(Done(lease=lease, rule=RULE))
                return
            client: Any = self.frontier.redis
            key = self._mail_of(owner)
            await client.rpush(key, lease_to_mail(lease))
            await client.pexpire(key, int(self.exchange.config.lease_s * 1000))
            await client.publish(self.frontier.keys.wake, f"local {owner}")
        except (RedisError, OSError) as error:
            self._log_failure(error, "A stub goes back")
            self.exchange.release(lease)

    async def _replace(self, lease: Lease, owner: str) -> bool:
        """Whether this worker sends its spare in place of a dead worker's request.

        Raises:
            RedisError: Redis does not answer.
        """
        fields = decode(lease.blob)
        if (fingerprint := fields.get(_FROM_START)) is None:
            return False  # its page is read again
        client: Any = self.frontier.redis
        key, me = self.frontier.keys.locals, self.worker.encode()
        claimant = await client.hget(key, str(fingerprint))
        if claimant == _DONE or (claimant and await is_alive(self.frontier, word(claimant))):
            return False  # another request has it, or this worker's own by now
        if spare := self._spares.pop(str(fingerprint), None):
            try:
                await client.hset(key, str(fingerprint), me)
            except (RedisError, OSError):
                self._spares[str(fingerprint)] = spare
                raise
            self._in_place[lease.id] = spare
            return True
        if self._lost_limiter.is_due(owner):
            logger.error(
                "requests are lost with worker %s, for instance %s: start or a handler made them, "
                "and they could not be stored; the next start makes them again",
                *(owner, redact(fields["url"][:200])),
            )
        return False

    def _mail_of(self, worker: str) -> str:
        return f"{self.frontier.keys.mail}:{worker}"

    def fetch(self, cancelled: Collection[str] = ()) -> None:
        """Fetch leases that other workers handed over; drop requests of *cancelled* jobs."""
        if cancelled:  # as a rule none is, and each lease that is handed over calls this
            self._drop_gone(lambda stub: stub.job in cancelled)
        if self._waiting:
            self._spawn(self._fetch())

    async def _fetch(self) -> None:
        client: Any = self.frontier.redis
        try:
            while texts := await client.lpop(self._mail_of(self.worker), 100):
                self.mail += filter(None, map(lease_of_mail, texts))
                self._wake()
        except (RedisError, OSError) as error:
            # The leases expire, and come again.
            self._log_failure(error, "Local requests of other workers' leases wait")

    def stub_for_retry(self, entry: InFlight) -> Push | None:
        """Keep a request for its next try; returns its stub, None if it is no local one."""
        running = self._running.pop(entry.lease.id, None)
        if running is None:
            return None
        number, local = running
        self._waiting[number] = attrs.evolve(local, request=entry.copy or entry.request)
        return local.stub

    def release_parent(self, entry: InFlight) -> None:
        """Release the page that waits for a request, because the request has ended.

        The page may itself be a local request of another page, and so on: each ends in a step of
        its own, because a long chain would be a deep recursion.
        """
        _, local = self._running.pop(entry.lease.id, (0, None))
        if local is not None:
            if local.fingerprint is not None:
                self._ended_fingerprints.append(local.fingerprint)
                if len(self._ended_fingerprints) == 1:
                    self._spawn(self._store_ended())
            asyncio.get_running_loop().call_soon(local.parent.release)

    async def _store_ended(self) -> None:
        client: Any = self.frontier.redis
        try:
            while self._ended_fingerprints:
                number, fields = (
                    len(self._ended_fingerprints),
                    dict.fromkeys(map(str, self._ended_fingerprints), _DONE),
                )
                await client.hset(self.frontier.keys.locals, mapping=fields)
                self._forget_claims(number)
        except (RedisError, OSError) as error:
            self._forget_claims(len(self._ended_fingerprints))
            self._log_failure(error, "Local requests may be fetched again")

    def _forget_claims(self, number: int) -> None:
        for fingerprint in self._ended_fingerprints[:number]:
            self._claims.pop(fingerprint, None)
        del self._ended_fingerprints[:number]

    def _log_failure(self, error: Exception, meanwhile: str) -> None:
        if not self.exchange.refusals.log_refusal(error, meanwhile):
            logger.debug("%s: %s", meanwhile, error)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


def lease_to_mail(lease: Lease) -> bytes:
    """Return a lease as it is handed over to another worker."""
    fields = {name: getattr(lease, name) for name in _LEASE_FIELDS}
    return orjson.dumps({**fields, "stored": lease.stored.hex()})


def lease_of_mail(text: bytes) -> Lease | None:
    """Return the lease that a worker handed over, of this version or another; None if damaged.

    Such a lease expires, and its request comes again.
    """
    try:
        fields = orjson.loads(text)
        known_fields = {name: fields[name] for name in _LEASE_FIELDS if name in fields}
        return Lease(**{**known_fields, "stored": bytes.fromhex(fields["stored"])})
    except (ValueError, TypeError, KeyError) as error:
        logger.warning("a lease that was handed over cannot be read, and comes again: %r", error)
        return None


def is_replayed(fields: Mapping[str, Any]) -> bool:
    """Whether a stored request was a dead letter."""
    meta = fields.get("meta")
    return isinstance(meta, dict) and bool(meta.get(REPLAYED))


def is_stub(lease: Lease) -> bool:
    """Whether a lease may be a stub's; decoding it decides."""
    return _MARK in lease.stored and FIELD in decode(lease.blob)
