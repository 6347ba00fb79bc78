"""Which pages from a proxy are requested again, because they may be cut or mixed up."""

from __future__ import annotations

import pytest
from scrapy import Request

from crawler.access.proxies.odd_pages import OddPages

SITE, URL = "shop.example", "http://shop.example/p/1"
WHOLE = b"<html><link rel=canonical href=/p/1><h1>Lamp</h1></html>"
OTHER = WHOLE.replace(b"/p/1", b"/p/2")


def cut(size: int) -> bytes:
    return b"<html>" + b"x" * size


@pytest.fixture
def pages() -> OddPages:
    """What a worker knows of a site whose pages end, and name themselves."""
    found = OddPages()
    for _ in range(20):
        assert not found.why_again(Request(URL), SITE, WHOLE)
    return found


def answers(pages: OddPages, *bodies: bytes) -> list[bool]:
    """Which answers to one request have it sent again."""
    request = Request(URL)
    return [bool(pages.why_again(request, SITE, body)) for body in bodies]


def test_a_page_that_is_cut_or_of_another_address_is_requested_until_it_is_whole(
    pages: OddPages,
) -> None:
    assert answers(pages, cut(9000), cut(500), OTHER, WHOLE) == [True, True, True, False]


@pytest.mark.parametrize("odd", [cut(3000), OTHER])
def test_a_page_that_stays_so_is_the_sites(pages: OddPages, odd: bytes) -> None:
    assert answers(pages, odd, odd, odd, odd) == [True, True, True, False]


def test_no_page_is_requested_without_an_end(pages: OddPages) -> None:
    assert answers(pages, *(cut(1000 * n) for n in range(1, 8))).count(True) == 5


@pytest.mark.parametrize("odd", [cut(3000), OTHER])
def test_a_site_whose_pages_are_all_so_is_asked_twice_two_times_only(odd: bytes) -> None:
    pages = OddPages()
    assert answers(pages, odd, odd) == answers(pages, odd, odd) == [True, False]
    assert answers(pages, odd) == [False]


def test_few_such_pages_of_a_site_do_not_excuse_others(pages: OddPages) -> None:
    for _ in range(3):
        answers(pages, *[cut(3000)] * 4)
    assert answers(pages, cut(3000)) == [True]
    for _ in range(4):
        answers(pages, *[cut(3000)] * 4)
    assert answers(pages, cut(3000)) == [False]


@pytest.mark.parametrize(
    ("page", "is_odd"),
    [
        (b'<link href="https://www.shop.example/p/1/?a=1" rel="canonical"></html>', False),
        (b"<link rel=canonical href=http://other.example/p/9>", False),
        (b"<link rel=canonical href=http://[>", False),
        (b"<link rel=stylesheet href=/p/9>", False),
        (b"<link rel='canonical' href='/P/%31'>", False),
        (b"<link rel='canonical' href='/p/1&#50;'>", True),
    ],
)
def test_only_a_canonical_link_to_another_page_of_the_site_is_odd(
    page: bytes, is_odd: bool
) -> None:
    assert answers(OddPages(), page) == [is_odd]
