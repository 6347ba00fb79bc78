"""Requests that cannot be stored, as their callback is a lambda or their meta holds a loader.

A request by way of a private proxy that only the spider's code names is another one, and so is a
request of another scheme than http (engine.download.private_addresses), and one whose callback
reads what only this worker's spider has (engine.stored.spider_state).

Such a request stays in this worker. For it a stub enters the frontier, a stored request that names
the worker and a number: so the request takes its send slot from the frontier like any other (I5),
and counts as undone. A worker that leases another's stub hands the lease over by a list in Redis,
the mail of the stub's owner. The page that yielded the request keeps its lease until the request
has ended, so that a page whose worker dies is read again and yields the request again (I1). The
stubs of a dead worker are ended by whoever leases them.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Coroutine
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
from scrapy_seine.lenient import word
from scrapy_seine.politeness.download_slots import waits_at
from scrapy_seine.urls import scheme_of, slot

logger = logging.getLogger(__name__)
#: Requests that one worker keeps at a time, at most.
MOST = 10_000
#: Requests that are written to Redis at a time; each takes a connection.
_AT_A_TIME = 16
#: Name of the field that makes a stored request a stub.
FIELD = "_local"
_MARK = FIELD.encode()
#: The rule by which a stub ends that stands for no request any more.
RULE = "local"
_DONE = b"done"


def off_the_web(request: Request, page: Request | None) -> str:
    """Why a request of another scheme than http stays in this worker; '' where it may not be sent.

    *page* is the page that yielded the request. A page is somebody else's text, so it leads to no
    file (I9); what `start` names is the spider's own. A `data:` URL names nothing.
    """
    scheme = scheme_of(request.url)
    own = page is None and request.meta.get("is_start_request")
    if scheme == "data" or (own and scheme not in {"", "http", "https"}):
        return f"a {scheme}: URL is no address of a site, which any worker could ask"
    return ""


@attrs.define(eq=False, repr=False)
class Local:
    """One request that stays here."""

    request: Request
    parent: Hold
    stub: Push
    fingerprint: int | None


class LocalRequests:
    """The requests of one worker that cannot be stored."""

    def __init__(
        self,
        worker: str,
        exchange: Exchange,
        inflight: InFlightTable,
        seal: Seal,
        *,
        counted: Callable[[str], None],
        wake: Callable[[], None],
    ) -> None:
        self.worker = worker
        self.exchange = exchange
        self.frontier = exchange.frontier
        self.inflight = inflight
        self.seal = seal
        self.tasks: set[asyncio.Task[None]] = set()
        self.mail: deque[Lease] = deque()
        """Leases of own stubs that other workers handed over."""
        self._count = counted
        self._wake = wake
        self._numbers = count(1)
        self._waiting: dict[int, Local] = {}
        self._running: dict[str, tuple[int, Local]] = {}
        self._warned: set[str] = set()
        self._entering = asyncio.Semaphore(_AT_A_TIME)
        self._ended: list[int] = []

    def __len__(self) -> int:
        return len(self._waiting) + len(self._running)

    @property
    def has_room(self) -> bool:
        """Whether a request that could be stored may be kept instead."""
        return len(self) < MOST // 2

    def take(
        self, request: Request, entry: InFlight | None, fingerprint: int | None, why: str = ""
    ) -> bool:
        """Keep a request that *entry*'s page yielded; False where this worker keeps too many.

        *why* is said once for each callback; '' where another line said it.

        Raises:
            BadRequest: nobody could send it.
        """
        number = next(self._numbers)
        fields = {"url": request.url, FIELD: f"{self.worker} {number}"}
        at = waits_at(request, slot(request.url))
        stub = push_of(request, lambda: fields, fingerprint=None, seal=self.seal, host=at)
        stub = attrs.evolve(stub, mark=new_token())
        if why:
            self._warn(request, why)
        if len(self) >= MOST:
            self._count("local_refused")
            if entry is not None:
                reason = f"this worker keeps {MOST} requests that cannot be stored already"
                self.inflight.mark(entry, "internal", reason)
            return False
        parent = Hold(self.inflight, entry)
        if entry is not None:
            entry.holds += 1
        self._waiting[number] = Local(request, parent, stub, fingerprint)
        self._count("local")
        self._spawn(self._enter(number))
        return True

    def _warn(self, request: Request, why: str) -> None:
        made = request.callback
        name = getattr(made, "__qualname__", None) or type(made).__name__
        if made is None:
            name = "parse"  # as Scrapy has it
        if name not in self._warned:
            self._warned.add(name)
            logger.warning(
                "requests with callback %s cannot be stored and stay in this worker: %s", name, why
            )

    async def _enter(self, number: int) -> None:
        """Have a stub enter the frontier, unless another worker keeps the same request."""
        async with self._entering:
            await self._enter_at_once(number)

    async def _enter_at_once(self, number: int) -> None:
        local = self._waiting[number]
        while True:
            try:
                if await self._is_known(local):
                    del self._waiting[number]
                    self._count("duplicates")
                    local.parent.release()
                else:
                    await self.frontier.push([local.stub])
                    self.exchange.undone = None
                    self.exchange.kick()
                return
            except (RedisError, OSError) as error:
                logger.debug("a local request waits for Redis: %s", error)
                await asyncio.sleep(random.uniform(0.2, 1.0))

    async def _is_known(self, local: Local) -> bool:
        """Claim a fingerprint; True where a live worker has it, or the request was done or stored.

        The frontier counts the fingerprint as seen from then on, so that no link to the same
        address is stored besides.
        """
        if (fingerprint := local.fingerprint) is None:
            return False
        client: Any = self.frontier.redis
        key, me = self.frontier.keys.locals, self.worker.encode()
        if await client.hsetnx(key, str(fingerprint), me):
            await client.expire(key, int(self.exchange.config.window_s))
            if await self.frontier.remember([fingerprint], [local.stub.domain]):
                return False
            await client.hset(key, str(fingerprint), _DONE)
            return True
        owner = await client.hget(key, str(fingerprint))
        if owner == _DONE or (owner and await is_alive(self.frontier, word(owner))):
            return True
        await client.hset(key, str(fingerprint), me)
        return False

    def next(self) -> Lease | None:
        """A lease that another worker handed over, if there is one."""
        return self.mail.popleft() if self.mail else None

    def request_of(self, lease: Lease) -> Request | None:
        """Return the request that a stub stands for; None where the lease is dealt with here.

        Raises:
            DecodeError: the stub is damaged, or names a request of another site.
        """
        self.seal.check(lease.stored)
        owner, _, number = str(decode(lease.blob).get(FIELD)).rpartition(" ")
        if owner != self.worker:
            self._spawn(self._hand_over(lease, owner))
            return None
        local = self._waiting.pop(int(number), None) if number.isdecimal() else None
        if local is None:
            self.exchange.done(Done(lease=lease, rule=RULE))
            return None
        if local.stub.domain != lease.domain:
            self._waiting[int(number)] = local
            raise DecodeError(f"a stub for {lease.domain!r:.200} names a request of another site")
        self._running[lease.id] = (int(number), local)
        return local.request

    async def _hand_over(self, lease: Lease, owner: str) -> None:
        """Give the lease of another worker's stub to that worker; end it where that is dead."""
        try:
            if not await is_alive(self.frontier, owner):
                self._count(f"ignored/{RULE}")
                self.exchange.done(Done(lease=lease, rule=RULE))
                return
            fields = attrs.asdict(lease)
            fields["stored"] = lease.stored.hex()
            client: Any = self.frontier.redis
            key = self._mail_of(owner)
            await client.rpush(key, orjson.dumps(fields))
            await client.pexpire(key, int(self.exchange.config.lease_s * 1000))
            await client.publish(self.frontier.keys.wake, f"local {owner}")
        except (RedisError, OSError) as error:
            logger.debug("a stub goes back: %s", error)
            self.exchange.release(lease)

    def _mail_of(self, worker: str) -> str:
        return f"{self.frontier.keys.mail}:{worker}"

    def fetch(self) -> None:
        """Fetch what other workers handed over."""
        if self._waiting:
            self._spawn(self._fetch())

    async def _fetch(self) -> None:
        client: Any = self.frontier.redis
        try:
            while found := await client.lpop(self._mail_of(self.worker), 100):
                for text in found:
                    fields = orjson.loads(text)
                    fields["stored"] = bytes.fromhex(fields["stored"])
                    self.mail.append(Lease(**fields))
                self._wake()
        except (RedisError, OSError, ValueError, TypeError) as error:
            logger.debug("mail of local requests: %s", error)  # their leases expire, and come again

    def again(self, entry: InFlight) -> Push | None:
        """Keep a request for its next try; returns its stub, None where it is no local one."""
        found = self._running.pop(entry.lease.id, None)
        if found is None:
            return None
        number, local = found
        self._waiting[number] = attrs.evolve(local, request=entry.copy or entry.request)
        return local.stub

    def ended(self, entry: InFlight) -> None:
        """Let the page's lease go that waits for a request, because the request has ended.

        The page may be such a request of another page, and so on: each ends in a step of its own,
        because a long chain would be a deep recursion.
        """
        _, local = self._running.pop(entry.lease.id, (0, None))
        if local is not None:
            if local.fingerprint is not None:
                self._ended.append(local.fingerprint)
                if len(self._ended) == 1:
                    self._spawn(self._note_ended())
            asyncio.get_running_loop().call_soon(local.parent.release)

    async def _note_ended(self) -> None:
        client: Any = self.frontier.redis
        try:
            while self._ended:
                number, done = len(self._ended), dict.fromkeys(map(str, self._ended), _DONE)
                await client.hset(self.frontier.keys.locals, mapping=done)
                del self._ended[:number]
        except (RedisError, OSError) as error:
            self._ended.clear()
            logger.debug("local requests may be fetched again: %s", error)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


def is_stub(lease: Lease) -> bool:
    """Whether a lease may be a stub's; decoding it says for certain."""
    return _MARK in lease.stored and FIELD in decode(lease.blob)
