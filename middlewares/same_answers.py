"""Judges answers that several pages of a site got through proxies, for `Proxies`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from redis.exceptions import RedisError
from scrapy import Request
from scrapy.http import Response

from crawler.access.proxies.doubtful_pages import name_of, note
from crawler.access.proxies.pool import ProxyPool
from crawler.access.proxies.same_answers import Asked, SameAnswers, Verdict, digest_of
from crawler.access.redis_errors import RedisErrors
from scrapy_seine.once_a_minute import OnceAMinute
from scrapy_seine.urls import domain

logger = logging.getLogger(__name__)
#: Key of `request.meta`: `Judged.look` of the answer for which the request is sent again.
_LOOK = "_proxy_look"
#: Characters of a page's name that the fleet remembers, at most.
_LONGEST_NAME = 2000


class Answers:
    """The answers that a worker got through its proxies."""

    def __init__(self, pool: Callable[[], Awaitable[ProxyPool]], errors: RedisErrors) -> None:
        self._pool, self._errors = pool, errors
        self._answers = SameAnswers()
        self._log = OnceAMinute()

    async def judge(
        self, request: Request, response: Response, proxy: str, source: str
    ) -> tuple[Verdict, str]:
        """Judge a response that is no refusal; returns the first page with the same answer, too."""
        if request.method != "GET" or response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return "page", ""  # a look is sent again
        look = request.meta.pop(_LOOK, None)
        is_answer = response.status < HTTPStatus.MULTIPLE_CHOICES
        asked = Asked(
            site=domain(request.url),
            url=request.url,
            source=source,
            look=look,
            # An error's page does not reach the spider, which has to request the others.
            page=name_of(request) if is_answer else "",
        )
        if not is_answer:
            self._answers.weigh(asked)
            return "page", ""
        digest = digest_of(response.body)
        await self._ask_fleet(asked, digest)
        judged = self._answers.judge(asked, digest)
        note(request, judged.doubtful)
        if judged.verdict == "again":
            request.meta[_LOOK] = judged.look
        elif judged.verdict == "no page" and self._log.is_due(asked.site):
            logger.warning(
                "proxy %s answers each page of %s with one page, which is not the site's: it is "
                "banned there. Pages that were read from that answer are fetched again, as %s",
                *(proxy, asked.site, judged.first),
            )
        return judged.verdict, judged.first

    async def _ask_fleet(self, asked: Asked, digest: str) -> None:
        """Learn of another worker's page with an answer that is new to this one."""
        name = asked.page or asked.url
        if self._answers.knows(asked.site, digest) or len(name) > _LONGEST_NAME:
            return
        try:
            first = await (await self._pool()).first_with(asked.site, digest, name)
        except (RedisError, OSError) as error:
            self._errors.note(error, "Answers of proxies are compared in this worker only")
            return
        self._answers.learn(asked, digest, first)
