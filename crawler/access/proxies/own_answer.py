"""What a proxy answers for a host that does not exist: its own words, and no site's.

Where a site has one way out, no other one contradicts a captive portal, an ended account or a
filter. But they answer each address, also one of `.invalid`, which no server has (RFC 6761, 6.4).
There, a proxy that passes requests on reports an error.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import attrs

from crawler.access.proxies.list_format import Proxy
from crawler.access.proxies.same_answers import LARGEST, words_of
from crawler.extract.links.registered_domain import same_site, site_of
from scrapy_seine.attrs_bases import Value
from scrapy_seine.engine.download.http.url_gateway import asked_for

if TYPE_CHECKING:
    import wreq

#: A proxy answers itself at once; to look a host up takes longer.
_TIMEOUT_S = 10.0
#: Share of the words that two answers of one proxy have in common, and two of one title: it may
#: show one of many banners.
_ALIKE, _ALIKE_IF_TITLED = 0.6, 0.35
_TITLE = re.compile(rb"<title[^<>]{0,200}>([^<]{1,300})<", re.IGNORECASE)
#: What stands between the words of JSON without blanks.
_MARKS = re.compile(rb"[\"'{}\[\],:]")
#: Words of an answer that any server may give, at most.
_FEW_WORDS = 3
#: Statuses of a missing page, for which servers of all sites have the same words.
_MISSING = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


@attrs.frozen(eq=False, repr=False)
class Shown(Value):
    """What an answer shows: the words of a page, or where a redirect leads."""

    status: int
    words: frozenset[bytes]
    target: str = ""
    title: bytes = b""

    @property
    def is_common(self) -> bool:
        """Whether servers that have nothing to do with each other may give this answer."""
        return not self.target and (self.status in _MISSING or len(self.words) <= _FEW_WORDS)

    def is_like(self, other: Shown) -> bool:
        """Whether two answers are the same, but for numbers, addresses, tokens and banners."""
        if self.status != other.status:
            return False
        if self.target or other.target:
            return self.target == other.target
        is_titled = self.title != b"" and self.title == other.title
        least = _ALIKE_IF_TITLED if is_titled else _ALIKE
        return len(self.words & other.words) >= least * len(self.words | other.words)


def shown(url: str, status: int, body: bytes, location: str = "") -> Shown:
    """Return what an answer to the request for an address shows.

    >>> page = shown("http://shop.example/p/1", 200, b"<h1>Hotel</h1> It is 12:30.")
    >>> page.is_like(shown("http://a.invalid/", 200, b"<h1>Hotel</h1> It is 12:45."))
    True
    >>> page.is_like(shown("http://a.invalid/", 200, b"<h1>No such host</h1>"))
    False
    >>> shown("http://a.invalid/", 302, b"", "/login?back=1").target
    '/login'
    >>> shown("http://a.invalid/", 301, b"", "https://a.invalid/").target
    'https://a.invalid/'
    >>> ended = shown("http://shop.example/p/1", 200, b'{"error":"quota","code":402}')
    >>> ended.is_like(shown("http://a.invalid/", 200, b'{"items":[],"total":0}'))
    False
    >>> shown("http://shop.example/p/1", 404, b"<h1>404 Not Found</h1> nginx").is_common
    True
    """
    if location and 300 <= status < 400:  # noqa: PLR2004
        try:
            return Shown(status, frozenset(), _place_of(urljoin(url, location), url))
        except ValueError:  # http://[ is no address
            pass
    title = _TITLE.search(body[:LARGEST])
    words = frozenset(words_of(_MARKS.sub(b" ", body[:LARGEST])).split())
    return Shown(status, words, title=words_of(title[1]) if title else b"")


def _place_of(target: str, url: str) -> str:
    """Return what redirects of one server have in common: a site, or a path of the own one."""
    if not same_site(target, url):
        return site_of(target)
    path = urlsplit(target).path
    # Many servers lead to their own https.
    return path if path != urlsplit(url).path else target


async def own_answer(proxy: Proxy, scheme: str, headers: Mapping[str, str]) -> Shown | None:
    """Return what a proxy answers for a host that does not exist; None: an error, as it should."""
    import wreq  # late, because few workers need this client

    url = f"{scheme}://{uuid.uuid4().hex}.invalid/"
    client = wreq.Client(no_proxy=True, tls_verify=False, redirect=wreq.redirect.Policy.none())
    try:
        return await asyncio.wait_for(_ask(client, proxy, url, headers), _TIMEOUT_S)
    except Exception:  # any error of the client is the proxy's
        return None
    finally:
        client.close()


async def _ask(
    client: wreq.Client, proxy: Proxy, url: str, headers: Mapping[str, str]
) -> Shown | None:
    import wreq

    limit = timedelta(seconds=_TIMEOUT_S)
    if proxy.is_gateway:
        response = await client.get(asked_for(proxy.url, url), headers=dict(headers), timeout=limit)
    else:
        way = wreq.Proxy.all(proxy.url)
        response = await client.get(url, headers=dict(headers), proxy=way, timeout=limit)
    status = response.status.as_int()
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return None
    body = b""
    async with response.stream() as stream:
        async for chunk in stream:
            body += bytes(chunk)
            if len(body) > LARGEST:
                break
    location = bytes(response.headers.get("Location") or b"").decode("latin-1")
    return shown(url, status, body, location)
