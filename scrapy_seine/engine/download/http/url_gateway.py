"""A gateway whose URL contains the page's URL: `…/?api_key=…&url={url}`.

Only the connection and the request line are the gateway's. The request, its limits, log lines and
answer stay those of the page's site, so that neither logs nor stored data hold the gateway's URL,
which contains a key.
"""

from __future__ import annotations

from urllib.parse import ParseResult, quote, urlparse

from scrapy import Request
from scrapy.utils.httpobj import urlparse_cached

from scrapy_seine.engine.download.http.head import request_head
from scrapy_seine.errors import BadRequest
from scrapy_seine.meta import GATEWAY

#: Placeholder for the page's URL in a gateway's URL.
PLACE = "{url}"
NO_GATEWAY = (
    "a gateway of the form ?url={url} is asked by SEINE_CLIENT=seine alone: without meta['proxy'], "
    "bindaddress, DOWNLOAD_BIND_ADDRESS and a TLS context of the project's own"
)


def asked_for(gateway: str, url: str) -> str:
    """Make the gateway's URL for a page.

    >>> asked_for("https://gw.example/?key=k&url={url}", "https://shop.example/a?b=c")
    'https://gw.example/?key=k&url=https%3A%2F%2Fshop.example%2Fa%3Fb%3Dc'
    """
    return gateway.replace(PLACE, quote(url, safe=""))


def asked_at(request: Request) -> ParseResult:
    """Return the URL to request: the page's own, or its gateway's."""
    gateway = request.meta.get(GATEWAY)
    if gateway is None:
        return urlparse_cached(request)
    return urlparse(asked_for(str(gateway), request.url))


def head_of(request: Request, parts: ParseResult) -> bytes:
    """Make a request's head for the URL *parts*.

    Raises:
        BadRequest: the method, the path or a header's name cannot be written.
    """
    headers, by_gateway = request.headers.items(), GATEWAY in request.meta
    if by_gateway:
        headers = [(name, values) for name, values in headers if name != b"Host"]
    try:
        return request_head(request.method, parts, headers, len(request.body))
    except ValueError as error:
        # At a gateway the error names the path, which holds the key.
        text = f"cannot be asked for through the gateway: {request.method!r}"
        raise BadRequest(text if by_gateway else str(error)) from None


def permitted(addresses: list[str]) -> list[str]:
    """Permit every address of a gateway, because the operator configured it."""
    return addresses
