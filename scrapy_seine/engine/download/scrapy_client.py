"""Scrapy's own client, with the send gate between connecting and writing the request.

It serves what the plain lane's own client (engine.download.http) does not, mainly proxies.

`HTTPConnectionPool.getConnection` returns a connection, new or kept: the request is written as soon
as its deferred fires. Twisted writes into a buffer, which is sent in the reactor's next iteration;
here it is sent at once. If a kept connection turns out to be closed, Twisted sends the request
again; the site may have seen the first one, so the second needs a slot of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.web.client import HTTPConnectionPool

from scrapy_seine.engine.download.private_addresses import Reach
from scrapy_seine.engine.download.send_gate import SendGate
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.printable import redact


class _PromptConnection:
    """A connection that writes its request at once, because the gate has just checked the time."""

    def __init__(self, connection: Any, on_sent: Callable[[], None]) -> None:
        self.connection = connection
        self.on_sent = on_sent

    def request(self, request: Any) -> Any:
        """Send; returns the deferred response."""
        answer = self.connection.request(request)
        transport = _transport_of(self.connection)
        while transport is not None and not hasattr(transport, "doWrite"):
            if (waiting := scrapy_internals.waiting_of(transport)) is not None:  # TLS
                waiting.flush()
            transport = getattr(transport, "transport", None)
        if transport is not None and transport.connected:
            transport.doWrite()  # the reactor notices an error again, and handles it
        self.on_sent()
        return answer


def _transport_of(connection: Any) -> Any:
    return scrapy_internals.protocol_of(connection).transport


class TimedPool(HTTPConnectionPool):
    """Returns a connection when its request may be sent."""

    gate: SendGate
    reach: Reach
    next_request: Request | None = None
    """The request that the next connection is for."""

    def getConnection(self, key: Any, endpoint: Any) -> Deferred[Any]:  # noqa: N802
        """Return a connection once it exists and the slot is due."""
        request, self.next_request = self.next_request, None
        connected = super().getConnection(key, endpoint)
        if request is None:
            return connected
        if not request.meta.get("proxy"):
            connected.addCallback(self._check_peer, request)
        if self.gate.entry_of(request) is None:
            return connected
        return connected.addCallback(self._when_due, request)

    def _check_peer(self, connection: Any, request: Request) -> Any:
        """Check the address again, because Twisted looked the name up once more."""
        transport = _transport_of(connection)
        address = str(transport.getPeer().host)
        if not self.reach.permits(request, address):
            transport.loseConnection()
            raise self.reach.refusal(request, address)
        return connection

    def _when_due(self, connection: Any, request: Request) -> Any:
        scrapy_internals.on_new_connection(connection, lambda new: self._when_due(new, request))
        if self.gate.passes(request):
            return self._prompt(connection, request)
        return self._wait_for_slot(connection, request)

    def _prompt(self, connection: Any, request: Request) -> _PromptConnection:
        return _PromptConnection(connection, lambda: self.gate.record_sent(request))

    def _wait_for_slot(self, connection: Any, request: Request) -> Deferred[Any]:
        timed: Deferred[Any] = Deferred()

        def send() -> None:
            if not timed.called:
                timed.callback(self._prompt(connection, request))

        def fail(error: Exception) -> None:
            if not timed.called:
                timed.errback(error)

        def unused(failure: Any) -> Any:
            with suppress(AttributeError):  # it is closed already
                _transport_of(connection).loseConnection()
            return failure

        self.gate.at_time(request, send, fail)
        return timed.addErrback(unused)


class CancelledCallSweep:
    """Makes Twisted discard cancelled calls regularly, as long as it runs.

    Twisted discards them when a call of its own is due. Everything else is timed by asyncio, so
    that may never happen: each page would leave two timeouts behind for three minutes, of more than
    1 kB.
    """

    EVERY_S = 5.0

    def __init__(self, reactor: Any) -> None:
        self.reactor = reactor
        self.sweep()

    def sweep(self) -> None:
        """Schedule the next sweep; Twisted discards cancelled calls when it runs this call."""
        self._next = self.reactor.callLater(self.EVERY_S, self.sweep)

    def stop(self) -> None:
        """Stop sweeping."""
        if self._next.active():
            self._next.cancel()


class PlainHandler(HTTP11DownloadHandler):
    """Scrapy's handler with the send gate."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        from twisted.internet import reactor  # not at import: that would install a default one

        pool: Any = TimedPool(reactor, persistent=True)  # type: ignore[no-untyped-call]
        self.gate = pool.gate = worker_of(crawler).gate
        self.reach = pool.reach = worker_of(crawler).reach
        self.pool: Any = None
        """The pool of connections, if requests can be timed in it."""
        if scrapy_internals.available("timed pool"):
            scrapy_internals.replace_pool(self, pool)
            self.pool = pool
        self._sweep = CancelledCallSweep(reactor)

    async def download_request(self, request: Request) -> Response:
        """Download; the pool is asked for a connection before anything else is awaited.

        Raises:
            AddressRefused: it leads to a private address that it may not reach.
        """
        await self.reach.check_name(request)
        if self.pool is not None:
            self.pool.next_request = request
        elif (slot_wait := self.gate.wait_for_slot(request)) is not None:
            await slot_wait
        try:
            return await super().download_request(request)
        except (CannotResolveHostError, DownloadConnectionRefusedError) as error:
            if (proxy := request.meta.get("proxy")) is None:
                raise
            # Who has a proxy in the environment would look for the fault at the site.
            raise type(error)(f"the proxy {redact(proxy)}: {error}") from error

    async def close(self) -> None:
        """Close the connections."""
        self._sweep.stop()
        await super().close()
