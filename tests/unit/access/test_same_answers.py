"""What an answer that came through a proxy is compared by."""

from __future__ import annotations

import pytest

from crawler.access.proxies.same_answers import answer_of, redirect_of

URL = "http://shop.example/p/lamp-7"


@pytest.mark.parametrize(
    "page",
    [
        "<html><h1>Welcome</h1><p>It is {time}. <input type=hidden value={token}> Room?",
        "<!doctype html><title>Blocked</title> We block {url} <a href='/why?{url}'>Why?</a>",
        "<html><h1>Log in</h1> Session {token} <script>var t = '{token}'</script>",
    ],
)
def test_a_portal_is_the_same_at_each_time_and_address(page: str) -> None:
    first = page.format(time="12:30:07", token="a8f0" * 8, url=URL)
    second = page.format(time="14:02:59", token="7be1" * 8, url=f"{URL}8?page=2")
    one, two = answer_of(URL, first.encode()), answer_of(URL, second.encode())
    assert one.words == two.words
    assert one.bytes != two.bytes


@pytest.mark.parametrize("page", ["<html><h1>{}</h1>", '{{"name": "{}"}}', "\x00\x01{}"])
def test_two_products_are_not_the_same(page: str) -> None:
    lamp, chair = (answer_of(URL, page.format(name).encode()) for name in ("Lamp", "Chair"))
    assert lamp.words != chair.words


def test_a_page_with_many_links_is_compared_by_its_bytes() -> None:
    """Comparing the words of each page of a shop took a twelfth of its CPU."""
    link, gone = "<a href=/p/{0}>Lamp</a>", "<html><h1>Lamps at 12:30</h1>{}</html>"
    for links, is_by_words in ((10, True), (60, False)):
        one, two = (gone.format("".join(map(link.format, range(n, n + links)))) for n in (0, 100))
        same = answer_of(URL, one.encode()).words == answer_of(URL, two.encode()).words
        assert same is is_by_words


def test_html_instead_of_a_file_is_looked_at_the_first_time() -> None:
    page = b"<!DOCTYPE html><h1>Welcome</h1>"
    for name in ("robots.txt", "sitemap.xml", "sitemap.xml.gz?x=1"):
        assert answer_of(f"http://shop.example/{name}", page).first_looks > 1000
    assert answer_of(URL, page).first_looks == 0
    assert answer_of("http://shop.example/robots.txt", b"User-agent: *").first_looks == 0


@pytest.mark.parametrize("location", ["", "http://["])
def test_what_leads_nowhere_is_no_redirect(location: str) -> None:
    assert redirect_of(URL, 302, location) is None
    assert redirect_of(URL, 200, "/login") is None
