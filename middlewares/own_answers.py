"""Compares suspicious answers with what their proxy answers for a host that does not exist."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Any

import attrs
from scrapy import Request

from crawler.access.proxies.list_format import Proxy
from crawler.access.proxies.own_answer import Shown, own_answer
from crawler.access.proxies.same_answers import Asked
from crawler.extract.limited_dict import Newest
from scrapy_seine.attrs_bases import Record, Value
from scrapy_seine.engine.headers import header
from scrapy_seine.urls import scheme_of

#: Seconds for which a proxy's own answer counts; then it is asked again for a suspicious answer.
_KNOWN_S = 30.0
#: Proxies that one worker asks within that time, at most; the others are asked at the crawl's end.
_MOST_ASKED = 10
#: Proxies that a worker asks at the crawl's end, at most.
_MOST_AT_END = 50
#: Addresses of proxies, and suspicious answers of one, that a worker remembers.
_MOST_PROXIES, _MOST_UNSURE = 1000, 200


@attrs.frozen(eq=False, repr=False)
class Seen(Value):
    """An answer of a proxy."""

    asked: Asked
    words: str
    """Digest by which the fleet compares it."""
    shown: Shown
    meta: Mapping[str, Any]
    """Meta of the request for its page, if that is to be fetched again."""


@attrs.define(eq=False, repr=False)
class _OfProxy(Record):
    until: float = 0.0
    """When what is known becomes old, monotonic s."""
    own: Shown | None = None
    """What it answered for a host that does not exist; None: an error."""
    asking: asyncio.Task[list[Seen]] | None = None
    unsure: Newest[Seen | None] = attrs.Factory(lambda: Newest(lambda: None, _MOST_UNSURE))
    """Suspicious answers since it was asked, by the digest of their words and their site."""
    request: tuple[str, str, str] = ("", "", "")
    """The id of the proxy that was last used, the scheme of its request, and the visitor's name."""


class OwnAnswers:
    """What a worker knows of its proxies' own answers, by the proxies' addresses.

    Sessions of a gateway share one, and what they answer by themselves.
    """

    def __init__(self, proxy_of: Callable[[str], Proxy | None]) -> None:
        self._proxy_of = proxy_of
        self._proxies: Newest[_OfProxy] = Newest(_OfProxy, _MOST_PROXIES)
        self._asked_at: list[float] = []

    def answers_itself(self, proxy_id: str) -> bool:
        """Whether a proxy is known to answer by itself, so that each answer is compared."""
        known = self._proxies.get(_address_of(proxy_id))
        return known is not None and known.own is not None and monotonic() < known.until

    async def own_among(self, request: Request, proxy_id: str, seen: Seen) -> list[Seen]:
        """Return which answers of a proxy are its own by now: this one, or earlier ones, too."""
        known = self._proxies[_address_of(proxy_id)]
        known.request = proxy_id, scheme_of(request.url), header(request, "User-Agent")
        is_known = monotonic() < known.until
        if is_known and known.own is not None and known.own.is_like(seen.shown):
            return [seen]
        known.unsure[f"{seen.asked.site} {seen.words}"] = seen
        if is_known or not self._may_ask():
            return []
        found = await self._ask(known)
        is_own = known.own is not None and known.own.is_like(seen.shown)
        return [seen, *found] if is_own and seen not in found else found

    async def all_own(self) -> list[Seen]:
        """Return the answers that turn out to be proxies' own at the crawl's end."""
        unsure = [known for known in self._proxies.values() if known.unsure]
        found = await asyncio.gather(*map(self._ask, unsure[-_MOST_AT_END:]))
        return [seen for group in found for seen in group]

    def _may_ask(self) -> bool:
        now = monotonic()
        self._asked_at = [at for at in self._asked_at if now - at < _KNOWN_S]
        return len(self._asked_at) < _MOST_ASKED

    async def _ask(self, known: _OfProxy) -> list[Seen]:
        """Ask a proxy, once for all answers that wait for it."""
        if known.asking is None:
            self._asked_at.append(monotonic())
            known.asking = asyncio.ensure_future(self._compare(known))
        return await asyncio.shield(known.asking)

    async def _compare(self, known: _OfProxy) -> list[Seen]:
        proxy_id, scheme, user_agent = known.request
        proxy = self._proxy_of(proxy_id)
        before = dict(known.unsure)
        try:
            headers = {"User-Agent": user_agent} if user_agent else {}
            known.own = await own_answer(proxy, scheme, headers) if proxy is not None else None
        finally:
            known.asking = None
        known.until = monotonic() + _KNOWN_S
        return list(_own_ones(known, before))


def _address_of(proxy_id: str) -> str:
    return proxy_id.partition("#")[0]


def _own_ones(known: _OfProxy, before: Mapping[str, Seen | None]) -> Iterator[Seen]:
    """Yield the answers that are the proxy's own; those before its own answer are decided on."""
    for key, seen in list(known.unsure.items()):
        if seen is not None and known.own is not None and known.own.is_like(seen.shown):
            yield seen
        elif before.get(key) is not seen:
            continue
        del known.unsure[key]
