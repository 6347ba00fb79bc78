"""A gateway that is asked by a URL of its own, which holds the page's: `…/?api_key=…&url={url}`.

Only the connection and the request line are the gateway's. The request, with its limits, its log
lines and its answer, stays that of the page's site, so that nothing that is logged or stored holds
the gateway's URL, which holds a key.
"""

from __future__ import annotations

from urllib.parse import ParseResult, quote, urlparse

from scrapy import Request
from scrapy.utils.httpobj import urlparse_cached

from scrapy_seine.engine.download.http.head import request_head
from scrapy_seine.meta import GATEWAY

#: What a gateway's URL has in the place of the page's URL.
PLACE = "{url}"
NO_GATEWAY = (
    "a gateway of the form ?url={url} is asked by SEINE_CLIENT=seine alone: without meta['proxy'], "
    "bindaddress, DOWNLOAD_BIND_ADDRESS and a TLS context of the project's own"
)


def asked_for(gateway: str, url: str) -> str:
    """Write the URL by which a gateway is asked for a page.

    >>> asked_for("https://gw.example/?key=k&url={url}", "https://shop.example/a?b=c")
    'https://gw.example/?key=k&url=https%3A%2F%2Fshop.example%2Fa%3Fb%3Dc'
    """
    return gateway.replace(PLACE, quote(url, safe=""))


def asked_at(request: Request) -> ParseResult:
    """URL that is asked for a request: its own, or its gateway's."""
    gateway = request.meta.get(GATEWAY)
    if gateway is None:
        return urlparse_cached(request)
    return urlparse(asked_for(str(gateway), request.url))


def head_of(request: Request, parts: ParseResult) -> bytes:
    """Write a request's head for what *parts* name.

    Raises:
        ValueError: the method, the path or a header's name cannot be written.
    """
    headers = request.headers.items()
    if GATEWAY not in request.meta:
        return request_head(request.method, parts, headers, len(request.body))
    others = [(name, values) for name, values in headers if name != b"Host"]
    try:
        return request_head(request.method, parts, others, len(request.body))
    except ValueError:  # the error names the path, which holds the key
        raise ValueError(f"cannot be asked for through the gateway: {request.method!r}") from None


def permitted(addresses: list[str]) -> list[str]:
    """Let each address of a gateway pass: the operator listed it, wherever it is."""
    return addresses
