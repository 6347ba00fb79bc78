"""Compares suspicious answers with what their proxy answers for a host that does not exist.

Where all proxies are of one source, they are compared with the site's front page, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any

import attrs
from scrapy import Request

from crawler.access.proxies.list_format import Proxy
from crawler.access.proxies.own_answer import Shown, own_answer
from crawler.access.proxies.same_answers import FRONT, NOWHERE, Asked
from crawler.extract.limited_dict import Newest
from scrapy_seine import meta as m
from scrapy_seine.attrs_bases import Record, Value
from scrapy_seine.engine.headers import header
from scrapy_seine.urls import scheme_of

#: Seconds for which a proxy's own answer counts; then it is asked again for a suspicious answer.
_KNOWN_S = 30.0
#: The same where a known product would be missing: a portal may begin meanwhile.
_SOON_S = 5.0
#: Proxies that one worker asks within that time, at most; the others are asked at the crawl's end.
_MOST_ASKED = 10
#: Proxies that a worker asks at the crawl's end, at most.
_MOST_AT_END = 50
#: Addresses of proxies, and suspicious answers of one, that a worker remembers.
_MOST_PROXIES, _MOST_UNSURE = 1000, 200
#: Sites of which a worker remembers that a proxy brought a page, and front pages that it asks for
#: at a time.
_MOST_PASSED, _MOST_FRONTS = 100, 3
Front = Callable[[Proxy, str, str], Awaitable[Shown | None]]
"""What a site's front page shows through a proxy; the last argument is one of the site's pages."""


async def _no_front(proxy: Proxy, site: str, url: str) -> Shown | None:
    return None


@attrs.frozen(eq=False, repr=False)
class Seen(Value):
    """An answer of a proxy."""

    asked: Asked
    words: str
    """Digest by which the fleet compares it."""
    shown: Shown
    meta: Mapping[str, Any]
    """Meta of the request for its page, if that is to be fetched again."""
    may_be_on_front: bool = False
    """The front page may show it, too: it is a gate, or may be a small shop's only page."""


@attrs.define(eq=False, repr=False)
class _OfProxy(Record):
    until: float = 0.0
    """When what is known becomes old, monotonic s."""
    asked_at: float = 0.0
    """When it was asked for what is known, monotonic s."""
    own: Shown | None = None
    """What it answered for a host that does not exist; None: an error."""
    fronts: dict[str, Shown] = attrs.Factory(dict)
    """By site: the front page of those that were asked for at the same time."""
    passed: Newest[bool] = attrs.Factory(lambda: Newest(bool, _MOST_PASSED))
    """Sites of which it brought a page since it answers so."""
    asking: asyncio.Task[list[Seen]] | None = None
    unsure: Newest[Seen | None] = attrs.Factory(lambda: Newest(lambda: None, _MOST_UNSURE))
    """Suspicious answers since it was asked, by the digest of their words and their site."""
    cleared: Newest[bool] = attrs.Factory(lambda: Newest(bool, _MOST_UNSURE))
    """Those that were not its own, because it was asked after them."""
    request: tuple[str, str, str] = ("", "", "")
    """The id of the proxy that was last used, the scheme of its request, and the visitor's name."""

    def gave(self, seen: Seen) -> str:
        """Return where a proxy gives the same answer, so that it is its own; "": it may not be.

        A proxy that passes requests on may report an unknown host with the words that servers have
        for a missing page, and a site may have no front page. Then it brings the site's other
        pages, too.
        """
        if seen.shown.is_common and self.passed.get(seen.asked.site):
            return ""
        if self.own is not None and self.own.is_like(seen.shown):
            return NOWHERE
        front = None if seen.may_be_on_front else self.fronts.get(seen.asked.site)
        return FRONT if front is not None and front.is_like(seen.shown) else ""

    def forget_passed(self, fronts: Mapping[str, Shown]) -> None:
        """Forget that pages came, but of sites whose front page is as it was before them."""
        for site in [*self.passed]:
            front, before = fronts.get(site), self.fronts.get(site)
            if front is None or before is None or not front.is_like(before):
                del self.passed[site]


class OwnAnswers:
    """What a worker knows of its proxies' own answers, by the proxies' addresses.

    Sessions of a gateway share one, and what they answer by themselves.
    """

    def __init__(
        self, proxy_of: Callable[[str], Proxy | None], front_of: Front = _no_front
    ) -> None:
        self._proxy_of, self._front_of = proxy_of, front_of
        self._proxies: Newest[_OfProxy] = Newest(_OfProxy, _MOST_PROXIES)
        self._asked_at: list[float] = []

    def answers_itself(self, proxy_id: str) -> bool:
        """Whether a proxy is known to answer by itself, so that each answer is compared."""
        known = self._proxies.get(_address_of(proxy_id))
        if known is None or monotonic() >= known.until:
            return False
        return known.own is not None or bool(known.fronts)

    def note_page(self, proxy_id: str, site: str) -> None:
        """Note that a proxy brought a page of a site."""
        if self.answers_itself(proxy_id):
            self._proxies[_address_of(proxy_id)].passed[site] = True

    async def own_among(
        self, request: Request, proxy_id: str, seen: Seen
    ) -> tuple[str, list[Seen]]:
        """Return where its proxy gives the same answer, and those that nobody is to believe.

        Of answers that any server may give the latter are known at the crawl's end only.
        """
        known = self._proxies[_address_of(proxy_id)]
        known.request = proxy_id, scheme_of(request.url), header(request, "User-Agent")
        is_known = monotonic() < known.until
        if is_known and (where := known.gave(seen)):
            return where, [] if seen.shown.is_common else [seen]
        if not (seen.shown.is_common or seen.shown.target):
            self.note_page(proxy_id, seen.asked.site)
        key = f"{seen.asked.site} {seen.words}"
        known.unsure[key] = seen
        is_weighty = m.KNOWN in request.meta and key not in known.cleared
        if (is_known and not is_weighty) or not self._may_ask():
            return "", []
        found = await (self._ask_soon(known) if is_weighty else self._ask(known))
        where = known.gave(seen)
        is_found = not where or seen.shown.is_common or seen in found
        return where, found if is_found else [seen, *found]

    async def all_own(self) -> list[Seen]:
        """Return the answers that turn out to be proxies' own at the crawl's end."""
        unsure = [known for known in self._proxies.values() if known.unsure][-_MOST_AT_END:]
        found = await asyncio.gather(*map(self._ask, unsure))
        common = [_taken(known.unsure, known.gave) for known in unsure]
        return [seen for group in (*found, *common) for seen in group]

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

    async def _ask_soon(self, known: _OfProxy) -> list[Seen]:
        """Ask a proxy after an answer came through it, with the others that wait for this."""
        came_at, found = monotonic(), list[Seen]()
        while known.asked_at <= came_at:
            await asyncio.sleep(known.asked_at + _SOON_S - monotonic())
            if known.asked_at <= came_at:
                found = await self._ask(known)
        return found

    async def _compare(self, known: _OfProxy) -> list[Seen]:
        proxy_id, scheme, user_agent = known.request
        proxy = self._proxy_of(proxy_id)
        before, asked_at = list(known.unsure.items()), monotonic()
        try:
            headers = {"User-Agent": user_agent} if user_agent else {}
            own = await own_answer(proxy, scheme, headers) if proxy is not None else None
            fronts = await self._fronts(proxy, known) if proxy is not None else {}
            if own is None or known.own is None or not known.own.is_like(own):
                known.forget_passed(fronts)
            known.own, known.fronts = own, fronts
        finally:
            known.asking = None
        known.asked_at, known.until = asked_at, monotonic() + _KNOWN_S
        found = _taken(known.unsure, lambda x: not x.shown.is_common and known.gave(x))
        for key, seen in before:
            if seen is not None and not known.gave(seen):
                known.cleared[key] = True
                if known.unsure.get(key) is seen:
                    del known.unsure[key]
        return found

    async def _fronts(self, proxy: Proxy, known: _OfProxy) -> dict[str, Shown]:
        """Return the front pages of the sites whose answers are suspicious, the newest first."""
        urls: dict[str, str] = {}
        for seen in reversed([*known.unsure.values()]):
            if seen is not None and not seen.may_be_on_front and len(urls) < _MOST_FRONTS:
                urls.setdefault(seen.asked.site, seen.asked.url)
        asked = [self._front_of(proxy, site, url) for site, url in urls.items()]
        fronts = dict(zip(urls, await asyncio.gather(*asked), strict=True))
        return {site: front for site, front in fronts.items() if front is not None}


def _address_of(proxy_id: str) -> str:
    return proxy_id.partition("#")[0]


def _taken(unsure: dict[str, Seen | None], decides: Callable[[Seen], object]) -> list[Seen]:
    """Take the answers out for which *decides* is true, and return them."""
    found = {key: seen for key, seen in unsure.items() if seen is not None and decides(seen)}
    for key in found:
        del unsure[key]
    return list(found.values())
