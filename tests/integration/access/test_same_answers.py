"""A proxy's own answer is no page of the site, and a site may repeat itself or lead elsewhere.

Each judgement may come from another worker: they share nothing but Redis.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest
from redis.asyncio import Redis

from crawler.access.proxies import same_answers
from crawler.access.proxies.doubtful_pages import (
    doubtful_pages,
    forget,
    jobs_with_doubtful_pages,
    page_of,
)
from crawler.access.proxies.odd_pages import count, known_of
from crawler.access.proxies.same_answers import (
    NO_ANSWER,
    NOWHERE,
    Answer,
    Asked,
    Judged,
    answer_of,
    disown,
    judge,
    redirect_of,
)

pytestmark = pytest.mark.redis
SITE, CRAWL, KEY = "shop.example", "catalog", "proxies:"
KINDS, DAY_MS = ("answers", "answers_before"), 86_400_000
PORTAL = b"<html><h1>Welcome to the hotel</h1>"
LOGIN = redirect_of(f"http://{SITE}/", 302, "http://login.hotel.example/")


def url(number: int | str) -> str:
    return f"http://{SITE}/p/{number}"


def page(*words: object) -> bytes:
    """A page with these words; a number among them is one."""
    names = "".join(map(str, words)).translate({ord("0") + n: "abcdefghij"[n] for n in range(10)})
    return f"<html><h1>product {names}</h1>".encode()


@attrs.define(eq=False)
class Fleet:
    """Workers that share a Redis."""

    redis: Redis
    key: str

    async def judged(
        self,
        number: int,
        got: bytes | Answer,
        source: object = "one",
        look: Sequence[Any] | None = None,
        *,
        times: int = 0,
        site: str = SITE,
        job: str = "",
    ) -> Judged:
        answer = got if isinstance(got, Answer) else answer_of(url(number), got)
        name, is_last = f"{times} {url(number)}", times >= 5
        asked = Asked(
            site=site,
            url=url(number),
            source=f"proxy {source}",
            look=look,
            page="" if is_last else name,
            is_last=is_last,
        )
        meta = {"job_id": job} if job else {}
        return await judge(self.redis, self.key, asked, answer, crawl=CRAWL, meta=meta)

    async def doubtful(self, *, is_end: bool = False) -> list[str]:
        """Take the pages that are to be fetched again."""
        found = await doubtful_pages(self.redis, self.key, CRAWL, is_end=is_end)
        for pages in found:
            await forget(self.redis, self.key, CRAWL, pages)
        return [name for pages in found for name in pages.names]

    async def looked_at(self, number: int, first: Any, second: Any) -> list[str]:
        """Judge a page's answer, and what another proxy answers then."""
        before = await self.judged(number, first)
        after = await self.judged(number, second, "two", before.look)
        return [before.verdict, after.verdict]

    async def until_taken(self, number: int, body_of: Callable[[int], Any], *sources: int) -> int:
        """Ask these sources in turn until an answer is taken; returns the number of requests."""
        look, requests = None, 0
        while True:
            source = sources[requests % len(sources)]
            judged = await self.judged(number, body_of(source), source, look)
            look, requests = judged.look, requests + 1
            assert judged.verdict != "NO PAGE", "no proxy is banned for it"
            if judged.verdict != "AGAIN":
                return requests


@pytest.fixture
def workers(redis_client: Redis, namespace: str) -> Fleet:
    return Fleet(redis_client, f"{{{namespace}}}:{KEY}")


async def test_pages_of_their_own_and_a_page_that_is_asked_for_twice_are_believed(workers) -> None:
    for number in (1, 2, 1, 1):
        assert (await workers.judged(number, page(number))).verdict == "UNPROVEN"


@pytest.mark.parametrize("portal", [PORTAL, LOGIN])
async def test_an_answer_of_several_pages_is_false_where_they_have_others_the_second_time(
    workers, portal
) -> None:
    number = 1
    if portal is PORTAL:
        assert (await workers.judged(0, portal)).verdict == "UNPROVEN", "nothing to compare it with"
    while (judged := await workers.judged(number, portal)).verdict == "AGAIN":
        assert number < 5
        page_two = await workers.judged(number, page(number), "two", judged.look)
        assert page_two.verdict == "UNPROVEN"
        number += 1
    assert judged.verdict == "NO PAGE"
    assert await workers.doubtful() == ([f"0 {url(0)}"] if portal is PORTAL else [])
    other = await workers.judged(5, PORTAL, site="other.example")
    assert other.verdict == "UNPROVEN", "that site is another one"


async def test_a_site_that_repeats_itself_is_asked_again_for_few_pages_only(workers) -> None:
    """Such as the empty end of a listing, or an answer of a script: `[]`."""
    fetched = [await workers.until_taken(n, lambda _: b"[]", *range(9)) for n in range(40)]
    assert 40 + 3 <= sum(fetched) <= 40 + 3 + 8


async def test_pages_in_flight_at_once_wait_for_the_looks_of_three(workers) -> None:
    """Sixteen pages that differ in a number alone were each asked for four times."""
    first = [await workers.judged(n, PORTAL) for n in range(16)]
    assert [judged.verdict for judged in first].count("AGAIN") == 3
    await workers.judged(1, page(1), "two", first[1].look)
    assert len(await workers.doubtful()) == 13, "of the others it is known that they were taken"


async def test_a_fleet_of_one_proxy_believes_it_in_the_end(workers) -> None:
    fetched = [await workers.until_taken(n, lambda _: b"[]", 1) for n in range(20)]
    assert sum(fetched) <= 20 + 3 * 3 + 3


async def test_an_answer_that_is_a_proxys_own_is_no_page_however_often_it_was_one(workers) -> None:
    """And the pages are fetched again that were read from it; another answer stays one."""
    for number in range(6):
        await workers.until_taken(number, lambda _: PORTAL, 1)
    asked = Asked(site=SITE, url=url(5), source="proxy 1", page=f"0 {url(5)}")
    words = answer_of(url(5), PORTAL).words
    key, memory = workers.key, {"crawl": CRAWL, "meta": {}}
    assert await disown(workers.redis, key, asked, words, **memory, where="") == 0
    assert await disown(workers.redis, key, asked, words, **memory, where=NOWHERE) == 5
    assert set(await workers.doubtful()) == {f"0 {url(n)}" for n in range(5)}
    assert (await workers.judged(7, PORTAL, 1)).verdict == "NO PAGE"
    assert (await workers.judged(0, PORTAL, 1, times=1)).verdict == "NO PAGE"
    assert (await workers.judged(8, page(8), 1)).verdict == "UNPROVEN"


async def test_of_an_answer_that_may_be_the_sites_one_page_is_not_taken(workers) -> None:
    """The others are fetched again when it turns out to be the proxy's own, and this one is not."""
    for number in range(6):
        await workers.until_taken(number, lambda _: PORTAL, 1)
    key, memory = workers.key, {"crawl": CRAWL, "meta": {}}
    words = answer_of(url(5), PORTAL).words
    for number in (0, 5, 4):
        asked = Asked(site=SITE, url=url(number), source="proxy 1", page=f"0 {url(number)}")
        where = NOWHERE if number == 4 else ""
        await disown(workers.redis, key, asked, words, **memory, where=where)
    assert set(await workers.doubtful()) == {f"0 {url(n)}" for n in (1, 2, 3)}


async def test_the_same_answer_from_the_same_source_is_no_witness(workers) -> None:
    """One of several proxies of an ended account was asked again, and all were believed."""
    await workers.judged(0, PORTAL)
    again = await workers.judged(1, PORTAL)
    assert (await workers.judged(1, PORTAL, "one", again.look)).verdict == "AGAIN"
    assert (await workers.judged(1, PORTAL, "two", again.look)).verdict == "PAGE"


async def test_a_look_that_gets_a_page_has_all_fetched_again_that_had_the_other_answer(
    workers,
) -> None:
    await workers.judged(0, PORTAL)
    await workers.looked_at(1, PORTAL, PORTAL)
    again = await workers.judged(2, PORTAL)
    assert (await workers.judged(2, page(2), "two", again.look)).doubtful == 2
    assert set(await workers.doubtful()) == {f"0 {url(0)}", f"0 {url(1)}"}
    await workers.looked_at(3, PORTAL, page(3))
    assert not await workers.doubtful(), "they are requested once"


async def test_a_look_that_gets_an_error_speaks_against_the_answer_too(workers) -> None:
    await workers.judged(0, PORTAL)
    again = await workers.judged(1, PORTAL)
    await workers.judged(1, NO_ANSWER, "two", again.look)
    assert await workers.doubtful() == [f"0 {url(0)}"]


async def test_a_page_is_fetched_again_for_no_other_job_or_crawl(workers) -> None:
    """A look of another crawl had it requested there, and its own crawl ended without it."""

    async def judged(n: int, got: bytes, crawl: str, job: str, look: Any = None) -> Judged:
        asked = Asked(site=SITE, url=url(n), source=f"{look}", page=f"0 {url(n)}", look=look)
        meta = {"job_id": job}
        answer = answer_of(url(n), got)
        return await judge(workers.redis, workers.key, asked, answer, crawl=crawl, meta=meta)

    for crawl, job in (("other", "one"), (CRAWL, "two"), (CRAWL, "one")):
        assert (await judged(0, PORTAL, crawl, job)).verdict == "UNPROVEN"
    look = await judged(1, PORTAL, CRAWL, "one")
    await judged(1, page("one"), CRAWL, "one", look.look)
    found = await doubtful_pages(workers.redis, workers.key, CRAWL, is_end=True)
    assert [(pages.names, pages.meta) for pages in found] == [([f"0 {url(0)}"], {"job_id": "one"})]
    assert not await doubtful_pages(workers.redis, workers.key, "other", is_end=True)


async def test_a_job_waits_for_its_doubtful_pages_until_the_last_is_forgotten(
    workers, namespace
) -> None:
    """What one look added stood in Redis for as long as any other page was doubtful."""

    async def waiting() -> set[str]:
        return await jobs_with_doubtful_pages(workers.redis, namespace, CRAWL)

    for job in ("one", "two"):
        await workers.judged(0, PORTAL, job=job)
        look = await workers.judged(1, PORTAL, job=job)
        await workers.judged(1, page("one"), "two", look.look, job=job)
    one, two = await doubtful_pages(workers.redis, workers.key, CRAWL, is_end=True)
    await forget(workers.redis, workers.key, CRAWL, attrs.evolve(one, names=[]))
    assert await waiting() == {"one", "two"}, "none of its pages is in the frontier again"
    await forget(workers.redis, workers.key, CRAWL, one)
    assert await waiting() == {two.meta["job_id"]}
    await forget(workers.redis, workers.key, CRAWL, two)
    assert not await workers.redis.exists(f"{workers.key}doubtful:{CRAWL}")


async def test_what_is_known_of_a_job_that_lasts_for_weeks_ages(workers) -> None:
    """Each answer kept all of them for a further day, so that those of weeks ago were compared."""
    newer, older = (f"{workers.key}{kind}:{CRAWL} {SITE} " for kind in KINDS)
    await workers.judged(0, PORTAL)
    assert DAY_MS // 2 < await workers.redis.pttl(newer) <= DAY_MS
    await workers.redis.pexpire(newer, DAY_MS * 3 // 4)
    await workers.judged(1, page("one"))
    assert await workers.redis.pttl(newer) <= DAY_MS * 3 // 4, "no answer prolongs it"
    await workers.redis.pexpire(newer, DAY_MS // 3)
    await workers.judged(2, page("two"))
    assert await workers.redis.hlen(older) == 4
    assert await workers.redis.hlen(newer) == 2
    assert await workers.redis.pttl(older) <= DAY_MS // 3


async def test_pages_with_a_doubted_answer_are_fetched_again_at_the_crawls_end(workers) -> None:
    """Each of several workers kept some, because none of them had three contradictions."""
    await workers.judged(0, PORTAL)
    await workers.looked_at(1, PORTAL, page(1))
    await workers.doubtful()
    look: Sequence[Any] | None = None
    for source in range(4):
        judged = await workers.judged(2, PORTAL, source, look)
        look = judged.look
    assert judged.verdict == "PAGE", "others say the same"
    assert not await workers.doubtful()
    assert await workers.doubtful(is_end=True) == [f"0 {url(2)}"]


async def test_a_page_that_was_fetched_often_with_a_doubted_answer_is_never_done(workers) -> None:
    await workers.judged(0, PORTAL)
    for number in (1, 2):
        await workers.looked_at(number, PORTAL, page(number))
    for times, verdict in ((4, "PAGE"), (5, "NO PAGE")):
        look: Sequence[Any] | None = None
        for source in range(4):
            judged = await workers.judged(3, PORTAL, source, look, times=times)
            look = judged.look
        assert judged.verdict == verdict


async def test_a_site_that_repeats_itself_in_two_forms_is_believed(workers) -> None:
    """Such as a page for gone products that names the server which made it."""
    chance = random.Random(1)
    result = await crawled(workers, lambda *_: page(chance.choice(["red", "blue"])), pages=100)
    assert not result.refused
    assert result.requests < 100 + 2 * 3 * 3 + 3 * 20


async def test_answers_that_are_not_used_are_forgotten(workers, monkeypatch) -> None:
    monkeypatch.setattr(same_answers, "ANSWERS", 10)
    await workers.judged(-1, PORTAL)
    await workers.judged(-2, page("unused"))
    for number in range(100):
        await workers.judged(number, page(number))
        if number % 5 == 0:
            assert (await workers.judged(1000 + number, PORTAL, "one", ["", "", 3])).first == url(
                -1
            )
    assert (await workers.judged(200, page("unused"))).first == url(200)
    kept = [key async for key in workers.redis.scan_iter(f"{workers.key}answers*{SITE}*")]
    assert len(kept) == 2
    assert sum([await workers.redis.hlen(key) for key in kept]) <= 40


async def test_no_damaged_memory_stops_a_page(workers) -> None:
    await workers.judged(0, PORTAL)
    fields = await workers.redis.hkeys(f"{workers.key}answers:{CRAWL} {SITE} ")
    assert len(fields) == 2
    for field in fields:
        for junk in (b"", b"7", b"[]", b'{"f": 1}', b'{"f": "x", "o": "many", "s": null}'):
            await workers.redis.hset(f"{workers.key}answers:{CRAWL} {SITE} ", field, junk)
            assert (await workers.judged(1, PORTAL)).verdict in {"AGAIN", "UNPROVEN"}


@attrs.define(eq=False)
class Crawled:
    """What a crawl came to."""

    requests: int = 0
    refused: int = 0
    read: dict[int, Any] = attrs.Factory(dict)
    """By page: what was read last."""

    def lost(self, *answers: Any) -> int:
        """Count the pages that were read from one of these answers."""
        return sum(got in answers for got in self.read.values())


async def crawled(
    workers: Fleet,
    answer: Callable[[int, int], Any],
    *,
    sources: int = 10,
    pages: int = 200,
    seed: int = 5,
) -> Crawled:
    """Crawl: *answer* takes a page and a source; a refused source is not asked again."""
    chance, banned, result = random.Random(seed), set[int](), Crawled()
    left: list[tuple[int, int, Any, int]] = [(n, 0, None, -1) for n in range(pages)]
    while left and result.requests < 20 * pages:
        number, times, look, avoided = left.pop(0)
        free = [n for n in range(sources) if n not in banned and n != avoided] or [0]
        source, result.requests = chance.choice(free), result.requests + 1
        got = answer(number, source)
        judged = await workers.judged(number, got, source, look, times=times)
        if judged.verdict == "NO PAGE":
            result.refused += 1
            banned.add(source)
            left.append((number, times, None, source))
        elif judged.verdict == "AGAIN":
            left.insert(3, (number, times, judged.look, source))
        else:
            result.read[number] = got
        for name in await workers.doubtful(is_end=not left):
            times, address = page_of(name)
            left.append((int(address.rpartition("/")[2]), times, None, -1))
    return result


@pytest.mark.parametrize("portal", [PORTAL, LOGIN])
@pytest.mark.parametrize("portals", [1, 3, 5])
async def test_no_page_is_lost_where_several_of_ten_proxies_are_portals_of_one_kind(
    workers, portals, portal
) -> None:
    """Two of them agree, and nothing says which of ten proxies are of one account."""
    for seed in range(8):
        fleet = Fleet(workers.redis, f"{workers.key}{seed}:")
        result = await crawled(
            fleet, lambda n, source: portal if source < portals else page(n), seed=seed
        )
        assert len(result.read) == 200
        assert result.lost(portal) == 0
        assert result.requests < 200 * 1.5


async def test_a_portal_that_shows_the_front_page_costs_no_page_and_few_proxies(workers) -> None:
    """The front page itself was never read again, and each proxy was refused that had it."""
    result = await crawled(workers, lambda n, source: page(n if n and source > 1 else 0))
    assert result.lost(page(0)) == 1, "the front page itself"
    assert result.refused <= 4


async def test_a_proxy_that_answers_itself_now_and_then_is_not_given_up(workers) -> None:
    chance = random.Random(9)
    result = await crawled(
        workers, lambda n, _: PORTAL if chance.random() < 0.2 else page(n), sources=1
    )
    assert result.lost(PORTAL) <= 2
    assert result.requests < 200 * 1.5


async def test_a_shop_whose_pages_have_two_addresses_each_is_looked_at_for_few(workers) -> None:
    result = await crawled(workers, lambda n, _: page(n // 2), pages=300)
    assert not result.refused
    assert result.requests < 300 * 1.3


async def test_no_proxy_is_banned_for_a_page_for_gone_products_that_shows_one_of_many_banners(
    workers,
) -> None:
    chance = random.Random(3)
    result = await crawled(
        workers, lambda n, _: page("gone", chance.randrange(50)) if n % 2 else page(n), pages=600
    )
    assert result.refused <= 5


async def test_a_site_that_leads_each_country_to_another_shop_is_followed(workers) -> None:
    ways = [redirect_of(url(0), 302, f"http://shop.{country}/") for country in ("de", "fr", "it")]
    result = await crawled(workers, lambda _, source: ways[source % 3], pages=300)
    assert not result.refused
    assert result.requests < 300 * 1.5


async def test_a_site_that_leads_to_hundreds_of_others_is_looked_at_for_few_of_them(
    workers,
) -> None:
    """Such as one that compares prices: with one proxy each way out took four requests."""
    result = await crawled(
        workers,
        lambda n, _: redirect_of(url(n), 302, f"http://shop-{n}.example/"),
        sources=1,
        pages=200,
    )
    assert result.requests <= 200 + 10 * 3


async def test_what_one_worker_learned_of_odd_pages_the_fleet_knows_for_a_day(
    workers: Fleet,
) -> None:
    """Each of many workers had each kind of them four times anew."""
    at = workers.redis, workers.key, SITE
    assert await known_of(*at) == {}
    await count(*at, ["cut proved", "beside false"])
    await count(*at, ["cut proved"])
    assert await known_of(*at) == {"cut proved": 2, "beside false": 1}
    assert 0 < await workers.redis.ttl(f"{workers.key}odd:{SITE}") <= DAY_MS / 1000
