"""Pages that were read from an answer which turned out to be a proxy's own: they are fetched again.

Only a look through another proxy tells, perhaps of another page and in another worker. So they are
kept in Redis (`judge_answer.lua`) until they are in the frontier again, at the crawl's end at the
latest. No seed may set keys of meta that begin with `_`.
"""

from __future__ import annotations

from typing import Any

import attrs
from redis.asyncio import Redis
from scrapy import Request

from crawler.access.shared_state import proxies_key, run
from crawler.requested_address import requested_url
from scrapy_seine import meta as m
from scrapy_seine.attrs_bases import Value
from scrapy_seine.frontier.round_trips.server_clock import server_time_s
from scrapy_seine.lenient_parsing import record, whole_number, word

#: Key of `request.meta`: how often the page was requested for this reason.
AGAIN = "_proxy_again"
#: How often one page is requested for this reason, at most.
_MOST_TIMES = 5
#: Pages that are read at once.
_MOST_PAGES = 500


@attrs.frozen(eq=False, repr=False)
class DoubtfulPages(Value):
    """Pages of one site and job."""

    site: str
    """The crawl, the site and the job, by which the pages are stored."""
    names: list[str]
    meta: dict[str, Any]
    """Meta of the requests for them, except `AGAIN`."""


def is_last(request: Request) -> bool:
    """Whether a page is not fetched again for this reason any more."""
    return int(request.meta.get(AGAIN) or 0) >= _MOST_TIMES


def name_of(request: Request) -> str:
    """Return a page's name: how often it was requested again, and its address; '' if it is no page.

    >>> name_of(Request("http://shop.example/"))
    '0 http://shop.example/'
    >>> name_of(Request("http://shop.example/", method="POST"))
    ''
    """
    is_page = request.callback is None and request.method == "GET" and not is_last(request)
    times = int(request.meta.get(AGAIN) or 0)
    return f"{times} {requested_url(request)}" if is_page else ""


def page_of(name: str) -> tuple[int, str]:
    """Return which time a page is requested now, and its address; '' for what is no name.

    >>> page_of("0 http://shop.example/"), page_of("junk")
    ((1, 'http://shop.example/'), (1, ''))
    """
    times, _, url = name.partition(" ")
    return whole_number(times) + 1, url


async def doubtful_pages(
    redis: Redis, key: str, crawl: str, *, is_end: bool = False
) -> list[DoubtfulPages]:
    """Return pages of a crawl that are to be fetched again by now; at the crawl's end all.

    Raises:
        RedisError: Redis does not answer.
    """
    latest: Any = "+inf" if is_end else 1000 * await server_time_s(redis)
    found = []
    for raw_site, raw_meta in (await redis.hgetall(f"{key}doubtful:{crawl}")).items():
        name = f"{key}doubtful:{crawl} {word(raw_site)}"
        names = await redis.zrangebyscore(name, "-inf", latest, start=0, num=_MOST_PAGES)
        found.append(DoubtfulPages(word(raw_site), list(map(word, names)), record(raw_meta)))
    return found


async def forget(redis: Redis, key: str, crawl: str, pages: DoubtfulPages) -> None:
    """Forget pages that are in the frontier again, and their site and job with the last of them.

    Raises:
        RedisError: Redis does not answer.
    """
    await run(redis, "forget_doubtful", key, crawl, pages.site, *pages.names)


async def jobs_with_doubtful_pages(redis: Redis, fleet: str, crawl: str) -> set[str]:
    """Return the jobs of a crawl that are not complete, because pages are to be fetched again.

    Raises:
        RedisError: Redis does not answer.
    """
    client: Any = redis
    metas = await client.hvals(f"{proxies_key(fleet)}doubtful:{crawl}")
    return {str(record(meta).get(m.JOB_ID) or "") for meta in metas}
