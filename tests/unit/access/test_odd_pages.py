"""Which pages from a proxy are requested again, because they may be cut or mixed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from scrapy import Request

from crawler.access.proxies.odd_pages import Weighed, is_asked_again, odd_of, weigh

SHOP = "http://shop.example"
Known = Counter[str]


def page(path: str, end: str = "</html>") -> bytes:
    return f"<html><link rel=canonical href={path}><h1>Lamp</h1>{end}".encode()


def cut(size: int) -> bytes:
    return b"<html>" + b"x" * size


WHOLE, OTHER = page("/p/1"), page("/p/2")


def ask(known: Known, path: str, answer: Callable[[int], bytes]) -> tuple[int, Weighed]:
    """Request a page until it is believed; return how often, and what it was taken for."""
    request = Request(SHOP + path)
    for times in range(1, 20):
        odd = odd_of(request.url, answer(times))
        if odd is None and not is_asked_again(request):
            return times, Weighed()
        weighed = weigh(request, odd, known)
        known.update(weighed.counts)
        if not weighed.again:
            return times, weighed
    raise AssertionError("it is requested for ever")


@pytest.mark.parametrize("answers", [[cut(9000), cut(500), OTHER, WHOLE], [OTHER, OTHER, WHOLE]])
def test_a_page_that_is_cut_or_of_another_address_is_requested_until_it_is_whole(
    answers: list[bytes],
) -> None:
    times, weighed = ask(Known(), "/p/1", lambda n: answers[n - 1])
    assert (times, weighed.doubt) == (len(answers), "")


@pytest.mark.parametrize("odd", [cut(3000), OTHER])
def test_a_page_that_stays_so_is_the_sites(odd: bytes) -> None:
    assert ask(Known(), "/p/1", lambda _: odd)[0] == 4


def test_no_page_is_requested_without_an_end() -> None:
    times, weighed = ask(Known(), "/p/1", lambda n: cut(1000 * n))
    assert (times, weighed.doubt) == (6, "a page that is cut off")


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ("/p/lamp-{}", ""),  # never closes <html>
        ("/v/{}-red", "</html>"),  # a variant in another folder
        ("/p/lamp-{}/red", "</html>"),
        ("/lamps/lamp-{}", "</html>"),
    ],
)
def test_what_a_sites_way_costs_is_bound(path: str, end: str) -> None:
    """A tenth of a shop's pages were variants, and each was requested four times."""
    known = Known()
    times = [
        ask(known, path.format(n), lambda _, n=n: page(f"/p/lamp-{n}", end))[0] for n in range(2000)
    ]
    assert sum(times) - len(times) <= 60
    assert set(times[1000:]) == {1}


@pytest.mark.parametrize(
    ("path", "end"),
    [("/p/{}", ""), ("/v/{}", "</html>"), ("/p/{}-red", "</html>"), ("/lamps/{}", "</html>")],
)
def test_a_sites_way_hides_no_mixed_up_cache(path: str, end: str) -> None:
    """Where no page closed <html>, none was known to be another product's."""
    known = Known()
    for n in range(100):
        ask(known, path.format(n), lambda _, n=n: page(f"/p/{n}", end))
    mixed_up = page("/p/700", end)
    times, _ = ask(known, "/p/7", lambda n: mixed_up if n < 4 else page("/p/7", end))
    assert times == 4


def test_no_way_of_a_site_is_learned_from_a_proxy_that_changes_pages() -> None:
    known = Known()
    for n in range(100):
        odd = page(f"/p/{n + 500}")
        answers = [odd] * 4 if n % 5 == 0 else [odd, page(f"/p/{n}")]  # one of five stays so
        assert ask(known, f"/p/{n}", lambda k, found=answers: found[k - 1])[0] == len(answers)


def test_a_mixed_up_cache_is_found_although_the_site_has_such_pages() -> None:
    """Of the pages of another address some are looked at, and one that is not so tells."""
    known = Known()
    for n in range(20):
        ask(known, f"/p/red-{n}", lambda _, n=n: page(f"/p/{n}"))
    for n in range(1000, 1100):
        ask(known, f"/p/{n}", lambda k, n=n: page(f"/p/{n + 1 if k == 1 else n}"))
    assert known["beside false"]
    assert ask(known, "/p/1", lambda n: OTHER if n < 3 else WHOLE)[0] == 3


@pytest.mark.parametrize(
    "answer",
    [lambda n, k: page(f"/visit-{n}{k}/p/1"), lambda n, k: cut(1000 * k)],
)
def test_pages_that_the_site_makes_anew_each_time_cost_no_more(
    answer: Callable[[int, int], bytes],
) -> None:
    known = Known()
    times = [ask(known, f"/p/{n}", lambda k, n=n: answer(n, k))[0] for n in range(1000)]
    assert sum(times) - len(times) <= 6 * 50
    assert set(times[700:]) == {1}


def test_pages_of_variants_that_a_cache_mixes_up_are_looked_at() -> None:
    """Each names another page, so that no answer is free of odds."""
    known = Known()
    for n in range(100):
        ask(known, f"/v/{n}-red", lambda k, n=n: page(f"/p/{n + 1 if k == 1 and n > 50 else n}"))
    assert known["elsewhere false"]


def test_only_a_page_unlike_most_of_its_site_is_called_cut() -> None:
    assert not ask(Known(), "/p/1", lambda _: cut(3000))[1].doubt
    assert ask(Known(whole=20), "/p/1", lambda _: cut(3000))[1].doubt == "a page that is cut off"


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
    assert (odd_of(SHOP + "/p/1", page) is not None) == is_odd
