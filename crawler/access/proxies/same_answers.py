"""Finds answers that are a proxy's own and no page of the site.

A captive portal, an ended account or a filter answers each page with the same words, or leads it to
the same place. Sites repeat themselves, too, as at the end of a listing. So a page with the words
of another one is fetched once more, as a rule through another proxy: other words there speak
against the first ones, the same for. They speak against them until another page has the same bytes,
because a site's page for gone products may show one of many banners.

What no page of a shop is as a rule is looked at the first time, too: a redirect to another site,
HTML instead of robots.txt or a sitemap.

The fleet counts this in Redis (`judge_answer.lua`), because each of many workers would believe a
proxy some times. Pages for which an answer was taken are kept there, too: where a look speaks
against it, they are fetched again (crawler.access.proxies.doubtful_pages).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit

import attrs
from redis.asyncio import Redis

from crawler.access.shared_state import run
from crawler.extract.links.registered_domain import same_site, site_of
from scrapy_seine import meta as m
from scrapy_seine.attrs_bases import Value
from scrapy_seine.lenient_parsing import word

#: Answers of a domain that the fleet remembers, at least.
ANSWERS = 1000
#: Of the pages with an answer that is settled as the site's, one of so many is looked at again.
_SAMPLED = 10
#: New redirects to other sites, and those of seeds, are looked at until a site had so many looks: a
#: site that compares prices leads to hundreds of shops, a portal to one each time.
FEW_LOOKS = 10
#: Bytes and links of a page whose words are compared, at most; a proxy's own pages are small. Other
#: pages are compared by their bytes, which takes a tenth of the time.
LARGEST, _MOST_LINKS = 50_000, 40
_TAG = re.compile(rb"<[^<>]*>")
_HTML = re.compile(rb"\s*<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
#: Letters of a word; longer ones are tokens.
_LONGEST_WORD = 24
_NO_WORD = re.compile(rb"[0-9/]")
#: Ends of the addresses of files that are no HTML.
_FILES = (".txt", ".xml", ".gz", ".json")
Verdict = Literal["PAGE", "UNPROVEN", "AGAIN", "NO PAGE"]


@attrs.frozen(eq=False, repr=False)
class Answer(Value):
    """What an answer is compared by."""

    words: str
    """Digest of the words: without numbers, addresses and tokens, which are others each time."""
    bytes: str
    """Digest of all bytes."""
    first_looks: float = 0
    """The site's looks up to which it is looked at the first time, too."""
    may_contradict: bool = True
    """Whether it may speak against another answer."""


#: What stands for the first page with a proxy's own answer, in the log and in dead letters.
NOWHERE, FRONT = "a host that does not exist", "the site's front page"
#: The same for a front page that is missing, where no second provider says so, too.
NO_FRONT = "a site without a front page"
#: An answer of another kind, which is only compared with the answer of a look.
NO_ANSWER = Answer("", "")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Asked(Value):
    """A request that was answered."""

    site: str
    url: str
    source: str
    """Who stands behind its proxy: another source is an independent witness."""
    look: Sequence[Any] | None = None
    """What `Judged.look` was when it was sent."""
    page: str = ""
    """How it is named if it has to be fetched again; '' if it is no page that the spider reads."""
    is_last: bool = False
    """It was fetched again so often that it is not fetched again any more."""


@attrs.frozen(eq=False, repr=False)
class Judged(Value):
    """What an answer is taken for."""

    verdict: Verdict
    """UNPROVEN: nothing shows that it is not the site's."""
    first: str
    """The first page that had it, too."""
    look: list[Any]
    """What goes with the request if it is sent again: the answer, its source, and the number of
    looks."""
    doubtful: int = 0
    """The number of the site's pages that are to be fetched again now."""


def digest_of(content: bytes) -> str:
    """Return what stands for some bytes."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def answer_of(url: str, body: bytes, status: int = 200) -> Answer:
    """Return what a page is compared by, or an error's, which a proxy may have made as well."""
    if status != 200:  # noqa: PLR2004
        body = b"%d %b" % (status, words_of(body[:LARGEST]))
    whole = digest_of(body)
    if not _HTML.match(body):
        return Answer(whole, whole)
    is_file = urlsplit(url).path.lower().endswith(_FILES)
    words = digest_of(words_of(body)) if is_small(body) else whole
    return Answer(words, whole, float("inf") if is_file else 0)


def is_small(body: bytes) -> bool:
    """Whether a page may be a proxy's own, which are small."""
    return len(body) <= LARGEST and body.count(b"<a ") <= _MOST_LINKS


def words_of(body: bytes) -> bytes:
    """Return the words that a page shows each time.

    >>> words_of(b"<title>Hotel</title>It is 12:30. <a href=/in?back=/p/7>Log in</a> for /p/7")
    b'Hotel It is Log in for'
    """
    words = _TAG.sub(b" ", body).split()
    return b" ".join([w for w in words if len(w) <= _LONGEST_WORD and not _NO_WORD.search(w)])


def redirect_of(url: str, status: int, location: str) -> Answer | None:
    """Return what a redirect is compared by: where it leads; None: it is none.

    >>> portal = redirect_of("http://shop.example/", 302, "http://login.hotel.example/?back=shop")
    >>> portal.words, portal.may_contradict
    ('to login.hotel.example', False)
    >>> redirect_of("http://shop.example/p/1", 302, "/login?t=7").words
    'to http://shop.example/login'
    """
    if not location or not 300 <= status < 400:  # noqa: PLR2004
        return None
    try:
        target = urljoin(url, location)
        if not same_site(target, url):
            # Each proxy's country may have a shop of its own: these do not contradict each other.
            words = f"to {site_of(target)}"
            return Answer(words, words, FEW_LOOKS, may_contradict=False)
    except ValueError:  # http://[ is no address
        return None
    words = f"to {target.partition('?')[0]}"
    return Answer(words, words)


async def judge(
    redis: Redis,
    key: str,
    asked: Asked,
    answer: Answer,
    *,
    crawl: str,
    meta: Mapping[str, object],
    now_ms: int = 0,
) -> Judged:
    """Judge an answer by the fleet's others; *key*: the prefix of the proxies' keys.

    *meta* is for the requests of *crawl* for pages that turn out to be no pages.

    Raises:
        RedisError: Redis does not answer.
    """
    before, source, looks, *_ = asked.look or ("", "", 0)
    is_sampled = int(digest_of(asked.url.encode()), 16) % _SAMPLED == 0
    verdict, first, doubtful = await run(
        redis,
        "judge_answer",
        key,
        *(now_ms, *_memory(crawl, asked.site, meta)),
        *(asked.url, asked.page, asked.source),
        *(answer.words, answer.bytes, before, source, looks),
        min(answer.first_looks, 1e9),
        *(int(is_sampled), int(answer.may_contradict), int(asked.is_last)),
    )
    look = [answer.words, asked.source, looks + 1]
    return Judged(word(verdict), word(first), look, int(doubtful))  # type: ignore[arg-type]


async def disown(
    redis: Redis,
    key: str,
    asked: Asked,
    words: str,
    *,
    crawl: str,
    meta: Mapping[str, object],
    where: str,
    now_ms: int = 0,
) -> int:
    """Note that an answer is a proxy's own; return the number of pages to fetch again now.

    *where* the proxy gives it, too; "": that is not sure, so only this page was not read from it.

    Raises:
        RedisError: Redis does not answer.
    """
    memory = _memory(crawl, asked.site, meta)
    args = (now_ms, *memory, words, asked.url, asked.source, asked.page)
    return int(await run(redis, "disown_answer", key, *args, where))


def _memory(crawl: str, site: str, meta: Mapping[str, object]) -> tuple[str, int, str, str]:
    """Return which answers are compared: pages are fetched again for the job that read them."""
    return f"{crawl} {site} {meta.get(m.JOB_ID) or ''}", 2 * ANSWERS, crawl, json.dumps(meta)
