"""What an answer is: the case table of the detection rules, traps for them included."""

from __future__ import annotations

import gzip
import timeit

import pytest

from crawler.access import block_signatures
from crawler.access.detect import Page, judge
from tests.measuring import within_cpu
from tests.unit.access.detect_pages import PRICE, REFUSALS, WORDS, html, page
from tests.unit.access.detect_traps import WALLS

URL = "http://shop.example/sitemap.xml.gz"
CASES = [*REFUSALS, *WALLS]


@pytest.mark.parametrize(("name", "seen", "verdict", "rule"), CASES, ids=[c[0] for c in CASES])
def test_each_page_of_the_case_table_is_told_apart(
    name: str, seen: Page, verdict: str, rule: str
) -> None:
    finding = judge(seen)
    assert (finding.verdict, finding.rule) == (verdict, rule), name


def test_the_table_covers_sixty_pages_and_more() -> None:
    assert len({case[0] for case in CASES}) == len(CASES) >= 60


@pytest.mark.parametrize("piece", [b"<", b"<!--", b"<script>", b"<title>", b" "])
def test_a_hostile_page_is_judged_as_fast_as_another(piece: bytes) -> None:
    hostile = page(200, (b'<div id="root"></div>' + piece * 40_000)[:16_000])
    with within_cpu(0.1):
        judge(hostile)


@pytest.mark.alone
@pytest.mark.parametrize("expected", [(), (b'itemprop="price"',)])
def test_an_ordinary_page_costs_next_to_nothing(expected: tuple[bytes, ...]) -> None:
    """The limit is 0.1 ms; five times that keeps a busy machine from failing the test."""
    ordinary = page(200, html(body=WORDS * 14 + PRICE), expected=expected)
    assert len(ordinary.body) > 19_000
    best = min(timeit.repeat(lambda: judge(ordinary), number=50, repeat=5)) / 50
    assert best < 0.0005
    print(f"{best * 1e6:.0f} us")


SITEMAP = gzip.compress(b"".join(b"<url><loc>/p/%d</loc></url>" % n for n in range(9000)))


def test_a_packed_sitemap_that_is_not_whole_is_broken() -> None:
    """I10: the addresses behind the damage were missing, and nothing told of it."""
    middle = len(SITEMAP) // 2
    damaged = SITEMAP[:middle] + b"\0" * 9 + SITEMAP[middle + 9 :]
    told = {"content-type": "application/gzip"}
    for body, verdict in (
        (SITEMAP, "ok"),
        (SITEMAP + SITEMAP + b"\0" * 9, "ok"),
        (SITEMAP[:middle], "broken"),
        (damaged, "broken"),
    ):
        assert judge(Page(status=200, url=URL, headers=told, body=body)).verdict == verdict


def test_each_mark_shows_by_a_sign() -> None:
    """A page without a sign is not searched for marks."""
    for mark in block_signatures.BODY:
        assert any(sign in needle for needle in mark.needles for sign in block_signatures.SIGNS), (
            mark
        )


def test_a_whole_packed_sitemap_is_no_garbage_whatever_type_the_server_gives_it() -> None:
    for url, verdict in ((URL, "ok"), (f"{URL}?v=2", "ok"), ("http://shop.example/p/1", "broken")):
        as_page = Page(status=200, url=url, headers={"content-type": "text/html"}, body=SITEMAP)
        assert judge(as_page).verdict == verdict, url
