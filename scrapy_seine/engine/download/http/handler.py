"""The plain lane's HTTP client, with the send gate between connecting and writing.

Proxies, bind addresses and the like go to Scrapy's own client (engine.download.scrapy_client),
because they are rare and it supports all of them.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from functools import partial
from urllib.parse import ParseResult

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import Response

from scrapy_seine.engine.download.http.collected_answer import Download, Stopped
from scrapy_seine.engine.download.http.connection import Connection, Unanswered
from scrapy_seine.engine.download.http.head import BadAnswer
from scrapy_seine.engine.download.http.pool import Pool
from scrapy_seine.engine.download.http.reader import CutShort, Reader
from scrapy_seine.engine.download.http.resolve import system_resolver
from scrapy_seine.engine.download.http.tls import SecureConnection
from scrapy_seine.engine.download.http.url_gateway import NO_GATEWAY, asked_at, head_of, permitted
from scrapy_seine.engine.download.which_client import request_needs_scrapy, settings_need_scrapy
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.engine.fastpath.signals import Signals
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import NoWay
from scrapy_seine.meta import GATEWAY, HOME

_, get_dataloss_msg, *_, log_tls, make_ssl_context = scrapy_internals.imported("client")
logger = logging.getLogger(__name__)

#: Default download timeout, s: Scrapy's own, if neither settings nor the request set one.
TIMEOUT_S = 10.0
#: Connections made for one request, at most.
_MOST_CONNECTIONS = 2
#: Methods that may be repeated without harm.
_AGAIN = frozenset({"GET", "HEAD", "OPTIONS", "DELETE", "TRACE"})
#: Some servers negotiate in a way that OpenSSL 3 refuses by default; Scrapy's client allows it.
_LEGACY_SERVER_CONNECT = 0x4


class HttpHandler(BaseDownloadHandler):
    """Downloads by HTTP/1.1, each request in its slot."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        per_site = crawler.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self.pool = Pool(per_site or crawler.settings.getint("CONCURRENT_REQUESTS"), self._context)
        self.gate = worker_of(crawler).gate
        self.reach = worker_of(crawler).reach
        self._has_receivers = Signals(crawler).has_receivers
        self._needs_scrapy = settings_need_scrapy(crawler.settings)
        get = crawler.settings.getint
        self._sizes = get("DOWNLOAD_MAXSIZE"), get("DOWNLOAD_WARNSIZE")
        self._fail_on_dataloss = crawler.settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._fail_on_dataloss_warned = False
        self._tls_verbose = crawler.settings.getbool("DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING")
        self._scrapy_handler: BaseDownloadHandler | None = None

    def _context(self) -> ssl.SSLContext:
        context: ssl.SSLContext = make_ssl_context(self.crawler.settings)
        context.options |= _LEGACY_SERVER_CONNECT
        return context

    async def download_request(self, request: Request) -> Response:
        """Download.

        Raises:
            CannotResolveHostError, DownloadConnectionRefusedError, DownloadFailedError: no answer.
            DownloadTimeoutError: not within DOWNLOAD_TIMEOUT.
            DownloadCancelledError: it is larger than DOWNLOAD_MAXSIZE.
            ResponseDataLossError: it ended too early.
            AddressRefused: it leads to a private address that it may not reach.
            NotNow: it missed its slot, and the site has none soon.
            NoWay: its gateway cannot be used under these settings.
        """
        if self._needs_scrapy or request_needs_scrapy(request):
            if GATEWAY in request.meta:  # Scrapy's client would connect to the site itself
                raise NoWay(NO_GATEWAY)
            if self._scrapy_handler is None:
                # Twisted's web client takes 0.1 s to load: only workers that need it load it.
                from scrapy_seine.engine.download.scrapy_client import PlainHandler

                self._scrapy_handler = PlainHandler(self.crawler)
            return await self._scrapy_handler.download_request(request)
        timeout_s = request.meta.get("download_timeout") or TIMEOUT_S
        try:
            async with asyncio.timeout(timeout_s):
                return await self._download(request, timeout_s)
        except TimeoutError:
            raise DownloadTimeoutError(
                f"Getting {request.url} took longer than {timeout_s} seconds."
            ) from None
        except (Unanswered, BadAnswer, OSError) as error:
            raise DownloadFailedError(str(error)) from error

    async def _download(self, request: Request, timeout_s: float) -> Response:
        parts, by_gateway = asked_at(request), GATEWAY in request.meta
        data = head_of(request, parts) + request.body
        download = Download(request, self, self._has_receivers, self._sizes)
        connection = self._idle_connection(request, parts)
        may_repeat = connection is not None and request.method in _AGAIN and not request.body
        connections = 0
        while True:
            if connection is None:
                connections += 1
                reachable = permitted if by_gateway else partial(self.reach.permitted, request)
                connection, may_repeat = await self.pool.connect(parts, timeout_s, reachable), False
                connection.private = not by_gateway and self.reach.policy.is_private(
                    connection.peer
                )
                self._log_tls(connection)
            if not by_gateway:
                self.reach.record_host(request, connection.peer)
            if connection.private:
                connection.home = str(request.meta.get(HOME) or "")
            try:
                return await self._exchange(connection, parts, data, download)
            except Unanswered as error:  # a server closes idle connections
                # A server that speaks first, or hangs up, does the same on the next connection.
                if (error.may_be_seen and not may_repeat) or connections >= _MOST_CONNECTIONS:
                    raise
                connection = None

    def _idle_connection(self, request: Request, parts: ParseResult) -> Connection | None:
        connection = self.pool.take_idle(parts)
        if connection is None or not connection.private:
            return connection
        if connection.home and request.meta.get(HOME) == connection.home:
            return connection
        if not self.reach.permits(request, connection.peer):
            self.pool.keep(parts, connection)  # its own home may still use it
            raise self.reach.refusal(request, connection.peer)
        return connection

    def _send_at_time(
        self,
        connection: Connection,
        data: bytes,
        reader: Reader,
        completion: asyncio.Future[bool],
        request: Request,
    ) -> None:
        def send() -> None:
            if not completion.done() and connection.ask(data, reader, completion):
                self.gate.record_sent(request)

        def fail(error: Exception) -> None:
            if not completion.done():
                completion.set_exception(error)

        self.gate.at_time(request, send, fail)

    async def _exchange(
        self, connection: Connection, parts: ParseResult, data: bytes, download: Download
    ) -> Response:
        request = download.request
        reader = Reader(request.method, download)
        completion: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._send_at_time(connection, data, reader, completion, request)
        flags: list[str] = []
        try:
            if not await completion:
                flags.append("partial")
        except Stopped:
            pass
        except CutShort as error:
            if self._fails(request):
                raise ResponseDataLossError(str(error)) from error
            flags.append("dataloss")
        except BaseException:
            connection.abort()
            system_resolver.put_last(parts.hostname or "", connection.peer)
            raise
        self.pool.keep(parts, connection)
        return download.response(connection, flags)

    def _fails(self, request: Request) -> bool:
        fails: bool = request.meta.get("download_fail_on_dataloss", self._fail_on_dataloss)
        if fails and not self._fail_on_dataloss_warned:
            logger.warning(get_dataloss_msg(request.url))
            self._fail_on_dataloss_warned = True
        return fails

    def _log_tls(self, connection: Connection) -> None:
        if self._tls_verbose and isinstance(connection, SecureConnection):
            log_tls(connection.tls)

    async def close(self) -> None:
        """Close the connections."""
        self.pool.close()
        if self._scrapy_handler is not None:
            await self._scrapy_handler.close()
