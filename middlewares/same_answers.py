"""Judges answers that a site's pages got through proxies, for `Proxies`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any

import attrs
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.access.proxies.doubtful_pages import (
    AGAIN,
    DoubtfulPages,
    doubtful_pages,
    forget,
    is_last,
    name_of,
    page_of,
)
from crawler.access.proxies.list_format import Proxy
from crawler.access.proxies.odd_pages import (
    Weighed,
    count,
    is_asked_again,
    is_whole,
    known_of,
    odd_of,
    weigh,
)
from crawler.access.proxies.own_answer import Shown, shown
from crawler.access.proxies.pool import ProxyPool
from crawler.access.proxies.same_answers import (
    FEW_LOOKS,
    NO_ANSWER,
    NO_FRONT,
    NOWHERE,
    Answer,
    Asked,
    Judged,
    answer_of,
    digest_of,
    disown,
    is_small,
    judge,
    redirect_of,
)
from crawler.access.proxies.sticky import LOOKS
from crawler.access.redis_errors import RedisErrors
from crawler.catalogue.jobs.closing import has_domain
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.extract.limited_dict import Newest
from crawler.extract.links.gate_cookies import GATE_BOUND, GATE_PROXY
from crawler.extract.page.page import is_root
from crawler.requested_address import requested_url
from middlewares.front_pages import FrontPages, may_be_sites
from middlewares.own_answers import OwnAnswers, Seen
from scrapy_seine import meta as m
from scrapy_seine.engine.headers import header
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)
#: Key of `request.meta`: `Judged.look` of the answer for which the request is sent again.
_LOOK = "_proxy_look"
#: Characters of an address that the fleet remembers, at most.
_LONGEST_URL = 2000
#: Meta of a page's request that a request for a doubtful page of its site has, too.
_SHARED = (m.JOB_ID, m.JOB_TYPE, m.SITE_ID)
#: Priority of a doubtful page: that of a listing.
_PRIORITY = 10
#: Statuses of a missing page, which count as an answer.
_MISSING = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
#: Sites whose whole pages a worker counts.
_MOST_SITES = 1000
_BELIEVED = Judged("PAGE", "", [])
_UNKNOWN = Judged("AGAIN", "what nobody compared, because Redis does not answer", [])


class Answers:
    """The answers that a worker got through its proxies."""

    def __init__(
        self,
        crawler: Crawler,
        pool: Callable[[], Awaitable[ProxyPool]],
        proxy_of: Callable[[str], Proxy | None],
        errors: RedisErrors,
        sources: Callable[[], set[str]],
    ) -> None:
        self._crawler, self._pool, self._errors = crawler, pool, errors
        self._own = OwnAnswers(proxy_of, self._front_of)
        self._sources, self._fronts = sources, FrontPages(crawler)
        self._whole: Newest[int] = Newest(int, _MOST_SITES)
        self._log = OnceAMinute()

    async def judge(self, request: Request, response: Response, proxy: str, source: str) -> Judged:
        """Judge a response that is no refusal."""
        if request.method != "GET" or response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return _BELIEVED  # a look is sent again
        if request.meta.get(GATE_BOUND):  # other proxies are shown the site's gate
            return _BELIEVED
        return await self._oddity(request, response, proxy) or await self._compare(
            request, response, proxy, source
        )

    async def _compare(
        self, request: Request, response: Response, proxy: str, source: str
    ) -> Judged:
        """Compare a response with the fleet's others."""
        page = name_of(request)
        answer = _answer(request, response, is_page=bool(page))
        look = request.meta.pop(_LOOK, None)
        cookie = digest_of(request.headers.get("Cookie") or b"")
        if look and look[3:] != [cookie]:  # what a gate shows without its cookie says nothing
            look = None
        if answer is not None and _has_gates_cookie(request):  # it may expire between two answers
            answer = attrs.evolve(answer, may_contradict=False)
        url = requested_url(request)
        if (answer is None and look is None) or len(url) > _LONGEST_URL:
            return _BELIEVED
        asked = Asked(
            site=domain(request.url),
            url=url,
            source=source,
            look=look,
            page=page,
            is_last=is_last(request),
        )
        try:
            judged = await self._judged(request, response, proxy, asked, answer or NO_ANSWER)
            if judged.doubtful:
                await self.fetch_again()
        except (RedisError, OSError) as error:
            self._errors.note(error, "Answers of proxies are not compared")
            # During an outage no page is believed unseen; a refusal may last for ever.
            is_away = isinstance(error, (RedisConnectionError, RedisTimeoutError, OSError))
            return _UNKNOWN if is_away and page else _BELIEVED
        if judged.verdict in {"PAGE", "UNPROVEN"} and self._lacks_front(request, response):
            return Judged("NO PAGE", NO_FRONT, [])
        if judged.verdict == "AGAIN":
            request.meta[_LOOK] = [*judged.look, cookie]
        elif judged.verdict == "NO PAGE" and self._log.is_due(asked.site):
            logger.warning(
                "proxy %s answers pages of %s with what is not the site's: it is banned there, "
                "unless it is the only one. Pages that were read from that answer are fetched "
                "again, as %s",
                *(proxy, asked.site, judged.first),
            )
        return judged

    def _lacks_front(self, request: Request, response: Response) -> bool:
        """Whether a seed's front page is missing, which one provider alone does not prove."""
        is_seed = bool(name_of(request)) and not request.meta.get(m.DEPTH)
        is_missing = is_seed and response.status in _MISSING and is_root(requested_url(request))
        return is_missing and m.KNOWN not in request.meta and len(self._sources()) == 1

    async def _oddity(self, request: Request, response: Response, proxy: str) -> Judged | None:
        """Have a page that may be cut off or mixed up requested again; say if it stays so."""
        if response.status != HTTPStatus.OK:
            return None
        # A browser follows redirects by itself.
        site, odd = domain(request.url), odd_of(response.url, response.body)
        if odd is None:
            self._whole[site] += is_whole(response.body)
            if not is_asked_again(request):
                return None
        weighed: Weighed | None = None
        try:
            pool = await self._pool()
            known = await known_of(pool.redis, pool.key, site)
            weighed = weigh(request, odd, {**known, "whole": self._whole[site]})
            await count(pool.redis, pool.key, site, weighed.counts)
        except (RedisError, OSError) as error:
            self._errors.note(error, "Pages that may be cut off are not compared")
            weighed = weighed or weigh(request, odd, {})
        if weighed.again:
            return Judged("AGAIN", weighed.again, [])
        if weighed.doubt and self._log.is_due(f"odd {site}"):
            logger.warning(
                "%s came through proxy %s as %s, also when it was requested again: it may be wrong",
                *(response.url, proxy, weighed.doubt),
            )
        return None

    async def _judged(
        self, request: Request, response: Response, proxy: str, asked: Asked, answer: Answer
    ) -> Judged:
        """Judge an answer by the fleet's others, then by its proxy's own answer."""
        pool, meta = await self._pool(), _meta_of(request)
        judged = await judge(
            *(pool.redis, pool.key, asked, answer),
            crawl=self._crawl,
            meta=meta,
            now_ms=pool.now_ms,
        )
        location = header(response, "Location")
        may_be_own = bool(answer.words) and (bool(location) or is_small(response.body))
        if judged.verdict == "NO PAGE" or not may_be_own:
            if judged.verdict != "NO PAGE" and answer.words:
                self._own.note_page(proxy, asked.site)
            return judged
        is_suspicious = judged.first != asked.url or answer.first_looks > 0
        is_suspicious = is_suspicious or bool({LOOKS, m.KNOWN} & request.meta.keys())
        if not is_suspicious and not self._own.answers_itself(proxy):
            return judged
        what = shown(request.url, response.status, response.body, location)
        is_front = is_root(asked.url)
        # A site that moved, or has a folder for each language, leads its front page there, too.
        may_be_on_front = bool(location) or is_front or may_be_sites(response.body)
        seen = Seen(asked, answer.words, what, meta, may_be_on_front)
        where, disowned = await self._own.own_among(request, proxy, seen)
        doubtful = await self._disown(disowned, where or NOWHERE)
        if where and seen not in disowned:
            await self._disown([seen], "")
        return Judged("NO PAGE", where, [], doubtful) if where else judged

    async def _front_of(self, proxy: Proxy, site: str, url: str) -> Shown | None:
        """Return what a site's front page shows, where no proxy of another source contradicts."""
        if len(self._sources()) > 1 or proxy.is_gateway:
            return None
        return await self._fronts.ask(proxy, site, url)

    async def _disown(self, own: Sequence[Seen], where: str = NOWHERE) -> int:
        """Have the pages fetched again that were read from proxies' own answers.

        *where* a proxy gives the same answer; "": that is not sure.
        """
        pool, doubtful = await self._pool(), 0
        for seen in own:
            doubtful += await disown(
                *(pool.redis, pool.key, seen.asked, seen.words),
                crawl=self._crawl,
                meta=seen.meta,
                where=where,
                now_ms=pool.now_ms,
            )
        return doubtful

    @property
    def _crawl(self) -> str:
        return self._frontier.keys.crawl if self._frontier is not None else ""

    @property
    def _frontier(self) -> Frontier | None:
        member = worker_of(self._crawler).member
        return member.frontier if member is not None else None

    async def fetch_again(self, *, is_end: bool = False) -> bool:
        """Request doubtful pages, at the crawl's end all; returns whether there were any.

        They are forgotten when they are in the frontier, so that a crash in between repeats this.

        Raises:
            RedisError: Redis does not answer.
        """
        frontier, pool = self._frontier, await self._pool()
        if frontier is None:
            return False
        if is_end:
            await self._disown(await self._own.all_own())
        crawl, found = frontier.keys.crawl, False
        for pages in await doubtful_pages(pool.redis, pool.key, crawl, is_end=is_end):
            found = found or bool(pages.names)
            await self._push(Jobs(frontier), pages)
            await forget(pool.redis, pool.key, crawl, pages)
        return found

    async def _push(self, jobs: Jobs, pages: DoubtfulPages) -> None:
        found = sorted((url, times) for times, url in map(page_of, pages.names))
        times_of = {url: times for url, times in found if has_domain(url)}
        job = str(pages.meta.get(m.JOB_ID) or "")
        marks = {url: f"@elsewhere {times}" for url, times in times_of.items()}
        await jobs.add(
            job,
            site_id=str(pages.meta.get(m.SITE_ID) or ""),
            kind=str(pages.meta.get(m.JOB_TYPE) or ""),
            urls=times_of,
            marks=marks,
            # A scope of its own, so that the target of a redirect is fetched again, too.
            metas={
                url: {AGAIN: times, m.SCOPE: f"{job}{marks[url]} {url}"[: m.LONGEST_SCOPE]}
                for url, times in times_of.items()
            },
            priority=_PRIORITY,
        )
        self._crawler.stats.inc_value("proxies/pages_fetched_again", len(times_of))


def _answer(request: Request, response: Response, *, is_page: bool) -> Answer | None:
    """Return what a response is compared by; None: nothing."""
    redirect = redirect_of(request.url, response.status, header(response, "Location"))
    is_missing = is_page and response.status in _MISSING
    if redirect is not None and is_page and not request.meta.get(m.DEPTH):
        # Where a proxy led a seed the site may have no page, so that the whole crawl was gone. The
        # site leads visitors from several countries to several places.
        few = max(redirect.first_looks, FEW_LOOKS)
        return attrs.evolve(redirect, first_looks=few, may_contradict=False)
    if redirect is not None or not (is_missing or response.status < HTTPStatus.MULTIPLE_CHOICES):
        return redirect
    answer = answer_of(request.url, response.body, response.status)
    if is_missing and not request.meta.get(m.DEPTH):  # a seed, a known product
        return attrs.evolve(answer, first_looks=float("inf"))
    return answer


def _meta_of(request: Request) -> dict[str, Any]:
    return {key: request.meta[key] for key in _SHARED if key in request.meta}


def _has_gates_cookie(request: Request) -> bool:
    return GATE_PROXY in request.meta or "cookie" in request.meta.get(m.BORROWED, ())
