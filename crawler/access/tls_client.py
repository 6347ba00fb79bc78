"""The TLS lane's client, whose TLS handshake is a browser's (wreq, by Scrapy's incubator)."""

from __future__ import annotations

from ipaddress import ip_address
from time import monotonic
from typing import Any, ClassVar

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadFailedError
from scrapy.http import Response
from scrapy_download_handlers_incubator import WreqDownloadHandler

from scrapy_seine.engine.download.private_addresses import place_of
from scrapy_seine.engine.download.socks_relay import Relay
from scrapy_seine.engine.worker import worker_of

#: Key in `request.meta`: port of the local proxy through which the request goes out.
_RELAY = "_relay_port"
#: Headers that say how long a body is (RFC 9112, 6.3).
_LENGTHS = {b"Content-Length", b"Transfer-Encoding"}


class TlsHandler(WreqDownloadHandler):
    """The incubator's handler without its warning at each start, and within the worker's reach.

    The warning is that its interface may change. Therefore its version is pinned (constraints.txt),
    and tests/integration/access checks the parts that this project needs. The client resolves names
    itself, so direct requests go through a local proxy that checks the addresses
    (scrapy_seine.engine.download.socks_relay).
    """

    experimental: ClassVar[bool] = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.reach = worker_of(crawler).reach
        self.relay = Relay(self.reach, self._record_sent)
        self._gate = worker_of(crawler).gate
        self._under_way: dict[str, list[Request]] = {}
        """Requests that are being sent or answered, by place."""

    def _record_sent(self, place: str) -> None:
        """Record when a request was really sent: to connect took time after its slot began."""
        if requests := self._under_way.get(place):
            self._gate.record_sent(requests[-1])

    async def download_request(self, request: Request) -> Response:
        """Download a page.

        Raises:
            AddressRefused: the request leads to a private address that it may not reach.
            DownloadFailedError: the host does not answer, or has no address.
        """
        if request.meta.get("proxy"):
            return await super().download_request(request)
        home = self.reach.home_of(request)
        place, since = place_of(request), monotonic()
        request.meta[_RELAY] = await self.relay.port_of(home)
        under_way = self._under_way.setdefault(place, [])
        under_way.append(request)
        try:
            response = await super().download_request(request)
        except Exception:
            failure = self.relay.failure(home, place, since)
            if failure is None:
                raise
            if failure:
                raise self.reach.refusal(request, failure) from None
            # The client's own text blames a proxy: the relay.
            raise DownloadFailedError(f"no connection to {place}") from None
        finally:
            del request.meta[_RELAY]
            under_way.remove(request)
            if not under_way:
                self._under_way.pop(place, None)
        address = self.relay.connected_addresses.get(place)
        if address is None:
            return response
        self.reach.record_host(request, address)
        return response.replace(ip_address=ip_address(address))

    async def _read_response(self, response: Any, request: Request) -> Response:
        """Read the body; mark one that ended with its connection, as the plain lane does."""
        read: Response = await super()._read_response(response, request)
        has_length = _LENGTHS & read.headers.keys()
        if not has_length and str(read.protocol).startswith("HTTP/1"):
            read.flags.append("partial")
        return read

    def _get_proxy(self, request: Request) -> Any:
        port = request.meta.get(_RELAY)
        if port is None:
            return super()._get_proxy(request)
        import wreq

        return wreq.Proxy.all(f"socks5h://127.0.0.1:{port}")

    def _extract_proxy_url_with_creds(self, request: Request) -> str | None:
        """Return a SOCKS proxy's URL with its login, in which Scrapy leaves slashes as they are."""
        url = super()._extract_proxy_url_with_creds(request)
        scheme, _, rest = (url or "").partition("://")
        login, at, place = rest.rpartition("@")
        return f"{scheme}://{login.replace('/', '%2F')}{at}{place}" if url else url

    async def close(self) -> None:
        """Close the client and its local proxy."""
        await super().close()
        await self.relay.close()
