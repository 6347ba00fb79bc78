"""A proxy's own answer with status 200 is no page of the site, and a site may repeat itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from crawler.access.proxies.same_answers import Asked, Judged, SameAnswers, digest_of

SITE, PORTAL = "shop.example", b"<h1>Welcome to the hotel</h1>"


def url(number: int) -> str:
    return f"http://{SITE}/p/{number}"


def judged(
    answers: SameAnswers,
    number: int,
    body: bytes,
    source: str = "one",
    look: list[Any] | None = None,
    *,
    site: str = SITE,
) -> Judged:
    asked = Asked(site=site, url=url(number), source=source, look=look, page=url(number))
    return answers.judge(asked, digest_of(body))


def looked_at(answers: SameAnswers, number: int, first: bytes, second: bytes) -> list[Judged]:
    """Judge a page's answer, and what another proxy answers then."""
    before = judged(answers, number, first)
    return [before, judged(answers, number, second, "two", before.look)]


def test_pages_of_their_own_and_a_page_that_is_asked_for_twice_are_believed() -> None:
    answers = SameAnswers()
    assert [judged(answers, n, b"%d" % n).verdict for n in (1, 2, 1, 1)] == ["page"] * 4


def test_an_answer_of_several_pages_is_false_where_they_have_others_the_second_time() -> None:
    answers = SameAnswers()
    assert judged(answers, 0, PORTAL).verdict == "page"
    for number in (1, 2, 3):
        again, page = looked_at(answers, number, PORTAL, b"%d" % number)
        assert (again.verdict, again.first, page.verdict) == ("again", url(0), "page")
    assert judged(answers, 4, PORTAL).verdict == "no page"
    other = judged(answers, 5, PORTAL, site="other.example")
    assert other.verdict == "page", "that site is another one"


def test_a_site_that_repeats_itself_is_asked_again_for_few_pages_only() -> None:
    """Such as the empty end of a listing, or an answer of a script: `[]`."""
    answers, fetched = SameAnswers(), 0
    for number in range(20):
        result, source = None, 0
        while result is None or result.verdict != "page":
            look = result.look if result is not None else None
            result = judged(answers, number, b"[]", f"proxy {source}", look)
            source, fetched = source + 1, fetched + 1
    assert 20 + 3 <= fetched <= 20 + 5


def test_a_fleet_of_one_proxy_believes_it_in_the_end() -> None:
    answers, fetched = SameAnswers(), 0
    for number in range(20):
        result = None
        while result is None or result.verdict != "page":
            look = result.look if result is not None else None
            result, fetched = judged(answers, number, b"[]", "one", look), fetched + 1
    assert fetched <= 20 + 3 * 3 + 3


def test_the_same_answer_from_the_same_source_is_no_witness() -> None:
    """One of several proxies of an ended account was asked again, and all were believed."""
    answers = SameAnswers()
    judged(answers, 0, PORTAL)
    again = judged(answers, 1, PORTAL)
    assert judged(answers, 1, PORTAL, "one", again.look).verdict == "again"
    assert judged(answers, 1, PORTAL, "two", again.look).verdict == "page"


def test_a_look_that_gets_a_page_returns_all_that_were_read_from_the_other_answer() -> None:
    answers = SameAnswers()
    judged(answers, 0, PORTAL)
    looked_at(answers, 1, PORTAL, PORTAL)
    _, page = looked_at(answers, 2, PORTAL, b"2")
    assert set(page.doubtful) == {url(0), url(1)}
    _, page = looked_at(answers, 3, PORTAL, b"3")
    assert not page.doubtful, "they are requested once"


def test_a_look_speaks_against_an_answer_in_another_worker_too() -> None:
    """With many workers hardly a look came back to the one that had asked."""
    here, there = SameAnswers(), SameAnswers()
    judged(here, 0, PORTAL)
    for number in (1, 2, 3):
        again = judged(here, number, PORTAL)
        page = judged(there, number, b"%d" % number, "two", again.look)
        assert list(page.doubtful) == [url(0)]
    assert judged(there, 4, PORTAL).verdict == "no page"


def test_a_site_that_repeats_itself_in_two_forms_is_believed() -> None:
    """Such as a page for gone products that names the server which made it."""
    answers, fetched, chance = SameAnswers(), 0, random.Random(1)
    for number in range(100):
        result, source = None, 0
        while result is None or result.verdict != "page":
            assert result is None or result.verdict == "again", "no proxy is banned for it"
            look = result.look if result is not None else None
            body = b"gone, says server %d" % chance.randrange(2)
            result = judged(answers, number, body, f"proxy {source}", look)
            source, fetched = source + 1, fetched + 1
    assert fetched < 100 + 2 * 3 * 3 + 3 * 20


def test_a_look_that_reaches_no_page_of_the_spider_leaves_the_others_to_the_next() -> None:
    answers = SameAnswers()
    judged(answers, 0, PORTAL)
    again = judged(answers, 1, PORTAL)
    missing = Asked(site=SITE, url=url(1), source="two", look=again.look)
    assert answers.weigh(missing) == []
    _, page = looked_at(answers, 2, PORTAL, b"2")
    assert list(page.doubtful) == [url(0)]


@pytest.mark.parametrize("portals", [1, 3, 5])
def test_no_page_is_lost_where_several_of_ten_proxies_are_portals_of_one_kind(portals: int) -> None:
    """Two of them agree, and nothing says which of ten proxies are of one account."""
    for seed in range(20):
        assert lost_of(portals, workers=2, choose=random.Random(seed).choice) == set()


def lost_of(portals: int, *, workers: int, choose: Callable[[Any], Any]) -> set[int]:
    """Crawl 200 pages; return those that were read from the portal alone."""
    fleet = [SameAnswers() for _ in range(workers)]
    banned: set[int] = set()
    waiting: list[tuple[int, list[Any] | None, int]] = [(n, None, -1) for n in range(200)]
    read: dict[int, bytes] = {}
    while waiting:
        number, look, avoided = waiting.pop()
        proxy = choose([p for p in range(10) if p != avoided and p not in banned])
        body = PORTAL if proxy < portals else b"%d" % number
        result = judged(choose(fleet), number, body, f"proxy {proxy}", look)
        if result.verdict == "page":
            read[number] = body
        elif result.verdict == "again":
            waiting.append((number, result.look, proxy))
        else:
            banned.add(proxy)
            waiting.append((number, None, proxy))
        waiting += [(int(page.rpartition("/")[2]), None, -1) for page in result.doubtful]
    return {number for number, body in read.items() if body == PORTAL}


def crawled(
    body_of: Callable[[int, int], bytes], *, sources: int = 6, pages: int = 300, known: str = ""
) -> tuple[int, int, dict[int, bytes]]:
    """Crawl by a worker: requests, pages whose answer was taken for a proxy's, what was read last.

    *body_of* takes a page and a source; *known*: the address by which the fleet knows a page.
    """
    answers, chance, read, requests, refused = SameAnswers(), random.Random(5), {}, 0, 0
    left: list[tuple[int, list[Any] | None, int]] = [(n, None, -1) for n in range(pages)]
    while left and requests < 20 * pages:
        number, look, avoided = left.pop(0)
        source = chance.choice([n for n in range(sources) if n != avoided or sources == 1])
        body, requests = body_of(number, source), requests + 1
        asked = Asked(
            site=SITE, url=url(number), source=f"{source}", look=look, page=f"0 {url(number)}"
        )
        if known and body != PORTAL and not answers.knows(SITE, digest_of(body)):
            answers.learn(asked, digest_of(body), f"0 {url(number)}{known}")
        result = answers.judge(asked, digest_of(body))
        refused += result.verdict == "no page"
        if result.verdict == "page":
            read[number] = body
        else:
            left.insert(3 if result.look else len(left), (number, result.look, source))
        again = [name.rpartition("/")[2] for name in result.doubtful if name.startswith("0 ")]
        left += [(int(number), None, -1) for number in again if number.isdecimal()]
    return requests, refused, read


def test_pages_that_a_crawl_before_had_at_other_addresses_speak_against_a_portal() -> None:
    """The fleet knew each page by that address: no page spoke against it, and most were lost."""
    requests, _, read = crawled(lambda n, source: b"%d" % n if source else PORTAL, known="?ref=1")
    assert not [n for n, body in read.items() if body == PORTAL]
    assert requests < 300 * 1.6, "those that it had through other proxies are asked for once"


@pytest.mark.parametrize("sources", [1, 6])
def test_a_shop_whose_pages_have_two_addresses_each_is_looked_at_for_few(sources: int) -> None:
    requests, refused, _ = crawled(lambda n, _: b"%d" % (n // 2), sources=sources)
    assert not refused
    assert requests < 300 * 1.3


def test_no_proxy_is_banned_for_a_page_for_gone_products_that_shows_one_of_many_banners() -> None:
    chance = random.Random(3)

    def body_of(number: int, _: int) -> bytes:
        return b"gone %d" % chance.randrange(50) if number % 2 else b"%d" % number

    _, refused, _ = crawled(body_of, pages=1000)
    assert refused <= 5
