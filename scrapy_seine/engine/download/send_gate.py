"""The send gate: checks the time once more, with the connection open, before writing a request.

Between any earlier check and the write lie connecting and the process's other work, a tenth of a
second and more on a busy machine: two requests of two workers would meet at the site. So requests
arrive here shortly before their slot, wait with their connection open, and one that missed its slot
gets another from the frontier or goes back unsent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Protocol
from weakref import WeakSet

from scrapy import Request

from scrapy_seine import meta as m
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.frontier.model import Lease
from scrapy_seine.politeness.site_limits import PATIENCE_MS, SiteLimits

#: Requests that ask the frontier for another slot at the same time, at most.
AT_ONCE = 3


class NotNow(Exception):
    """The site may not be requested for a while; the request goes back unsent."""


class AddressLimits(Protocol):
    """Keeps a domain's limits for each address separately, if a lease asks for it (`each_ms`)."""

    def due_in(self, request: Request, lease: Lease) -> float | None:
        """Seconds until the request's address may send, 0 for now; None: it needs another slot."""

    async def reserve(self, request: Request, lease: Lease) -> None:
        """Get another slot of the address, or raise `NotNow`."""

    def spend(self, request: Request) -> None:
        """Use the slot up, because the request is sent now: sending it again needs another."""

    def record_sent(self, request: Request, lease: Lease, *, ago_s: float = 0.0) -> None:
        """Record that the request was sent, *ago_s* before."""


class SendGate:
    """Releases each request in its slot."""

    addresses: AddressLimits | None = None
    """None: all addresses share the domain's limits."""

    def __init__(self, inflight: InFlightTable, site_limits: SiteLimits, stats: Any) -> None:
        self.inflight = inflight
        self.site_limits = site_limits
        self.stats = stats
        self._asking = asyncio.Semaphore(AT_ONCE)
        #: Requests that a project's own code sends, which the frontier does not know.
        self.own: WeakSet[Request] = WeakSet()
        self._without_lease: dict[int, InFlight] = {}

    def entry_of(self, request: Request) -> InFlight | None:
        """Return the entry whose slot a request uses: its own, or its page's (INSTEAD_OF)."""
        entry = self.inflight.entry_of(request.meta.get(m.INSTEAD_OF) or request)
        return entry or self._without_lease.get(id(request))

    @contextmanager
    def without_lease(self, request: Request, entry: InFlight) -> Iterator[None]:
        """Have a request that the frontier does not know use the slot of *entry* meanwhile."""
        self._without_lease[id(request)] = entry
        try:
            yield
        finally:
            del self._without_lease[id(request)]

    def due_in(self, request: Request) -> float | None:
        """Seconds until the request is due, 0 for now; None: it needs another slot."""
        return self._due_in(request, self.entry_of(request))

    def _due_in(self, request: Request, entry: InFlight | None) -> float | None:
        if entry is None:
            return 0.0
        if entry.lease.each_ms and self.addresses is not None:
            return self.addresses.due_in(request, entry.lease)
        return self.site_limits.due_in(entry.lease, spent_at=entry.spent_at)

    def passes(self, request: Request) -> bool:
        """Whether the request is sent now; that uses its slot up: a repetition needs another."""
        entry = self.entry_of(request)
        if self._due_in(request, entry) != 0.0:
            return False
        if entry is not None:
            entry.spent_at = monotonic()
        if self.addresses is not None:
            self.addresses.spend(request)
        return True

    def record_sent(self, request: Request, *, ago_s: float = 0.0) -> None:
        """Record when the request was sent: late if the machine slept, or a browser was slow."""
        entry = self.entry_of(request)
        if entry is None:
            return
        if self.addresses is not None:
            self.addresses.record_sent(request, entry.lease, ago_s=ago_s)
            if entry.lease.each_ms:
                return
        if (past_ms := self.site_limits.record_sent(entry.lease, ago_s)) > 0:
            self.stats.max_value("seine/left_late_ms", round(past_ms, 1))

    async def reserve(
        self, request: Request, *, is_late: bool = True, patience_ms: int = PATIENCE_MS
    ) -> None:
        """Get another slot from the frontier; *is_late*: the worker had the time to keep the first.

        Raises:
            NotNow: there is none soon.
        """
        entry = self.entry_of(request)
        if entry is None:
            return
        if entry.lease.each_ms and self.addresses is not None:
            await self.addresses.reserve(request, entry.lease)
            return
        self.stats.inc_value("seine/slots_missed")
        patience = request.meta.get(m.PATIENCE_MS, patience_ms)
        lease = await self.site_limits.reserve(
            entry.lease, spent_at=entry.spent_at, patience_ms=patience, is_late=is_late
        )
        if lease is None:
            raise NotNow("its site may not be asked now")
        entry.lease, entry.spent_at = lease, None

    def at_time(
        self, request: Request, send: Callable[[], None], fail: Callable[[Exception], None]
    ) -> None:
        """Call *send* in the slot, with no work between the check of the time and the call."""
        if self.passes(request):
            send()
        else:
            self._wait(request, send, fail, monotonic())

    def _wait(
        self,
        request: Request,
        send: Callable[[], None],
        fail: Callable[[Exception], None],
        began: float,
    ) -> None:
        due_s = self.due_in(request)

        def send_if_due() -> None:
            if not self.passes(request):
                self._wait(request, send, fail, began)
                return
            entry = self.entry_of(request)
            if entry is not None:
                entry.waited_s += monotonic() - began
            send()

        async def reserve_and_send() -> None:
            # Few at a time: if all late requests asked at once, their replies would delay each
            # other, and all would be late again.
            async with self._asking:
                try:
                    await self.reserve(request)
                except Exception as error:
                    fail(error)
                else:
                    send_if_due()

        if due_s is not None:
            asyncio.get_running_loop().call_later(due_s, send_if_due)
        else:
            task = asyncio.ensure_future(reserve_and_send())
            _tasks.add(task)
            task.add_done_callback(_tasks.discard)

    def wait_for_slot(self, request: Request) -> Awaitable[None] | None:
        """Return what a client that hides its connections has to await before it sends."""
        if self.passes(request):
            return None
        released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.at_time(
            request,
            lambda: None if released.done() else released.set_result(None),
            lambda error: None if released.done() else released.set_exception(error),
        )
        return released


_tasks: set[asyncio.Task[None]] = set()
