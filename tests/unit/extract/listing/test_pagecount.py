"""The page count of a listing, from its links and from its words."""

from __future__ import annotations

import pytest

from crawler.extract import find_links, parse
from crawler.extract.listing.further_pages import MAX_PAGES, further_pages

BASE = "https://shop.example/tents"


def pages(links: list[str], text: str = "", url: str = BASE) -> list[str]:
    pager = "".join(f'<a href="{link}">{i}</a>' for i, link in enumerate(links, 2))
    html = f'<html><body><p>{text}</p><div class="pagination">{pager}</div></body></html>'
    page = parse(html, url)
    return further_pages(page, find_links(page))


def test_the_last_link_tells_all_between() -> None:
    assert pages(["?page=2", "?page=3", "?page=6"]) == [f"{BASE}?page={n}" for n in (4, 5)]


def test_numbers_in_the_path() -> None:
    found = pages(["/tents/page/2/", "/tents/page/5/"])
    assert found == [f"{BASE}/page/{n}/" for n in (3, 4)]


@pytest.mark.parametrize(
    "text",
    [
        "Page 1 of 5",
        "<b>10.10</b>Page 1 of 5<i>next</i>",
        "Seite 1 von 5",
        "1-20 of 100 results",
        "1–20 von 1.00",
        "1 to 20 of 97",
    ],
)
def test_words_tell_where_no_link_does(text: str) -> None:
    expected = [f"{BASE}?page={n}" for n in (3, 4, 5)]
    assert pages(["?page=2"], text) == ([] if "1.00" in text else expected)


def test_addresses_that_count_products() -> None:
    found = pages(["?start=24", "?start=48", "?start=120"])
    assert found == [f"{BASE}?start={n}" for n in (72, 96)]


@pytest.mark.parametrize(
    ("links", "url"),
    [
        ([], BASE),
        (["?page=2", "?page=9"], f"{BASE}?page=3"),
        (["?page=2", f"?page={MAX_PAGES + 2}"], BASE),
        (["/tents/red", "/tents/blue"], BASE),
    ],
)
def test_no_guess_without_a_pager_from_later_pages_or_without_end(
    links: list[str], url: str
) -> None:
    assert pages(links, url=url) == []


def test_a_further_page_of_a_listing_asks_for_no_others() -> None:
    assert pages(["?page=3", "?page=9"], url=f"{BASE}?page=2") == []
