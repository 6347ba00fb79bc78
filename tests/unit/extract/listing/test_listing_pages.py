"""Which links turn the page of a listing, and which of a page's links are taken at all."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.extract import find_links, parse

SHOP = "https://shop.example"


def kinds(
    html: str, url: str = f"{SHOP}/c/lamps", lang: str = "en", **options: Any
) -> dict[str, str]:
    page = parse(f"<html lang={lang}><body>{html}</body></html>", url)
    return {link.url.removeprefix(SHOP): link.kind for link in find_links(page, **options)}


def pager(href: str, text: str = "x") -> str:
    return f'<div class="pager"><a href="{href}">{text}</a></div>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a rel="Next" href="/c/more">x</a>', "pagination"),
        ('<a rel="prev" href="/c/more">x</a>', "pagination"),
        ('<a rel="author" href="/c/more">x</a>', "listing"),
        # A number turns the page of this listing only, or within a pager.
        ('<a href="/c/lamps?page=2">x</a>', "pagination"),
        ('<a href="/c/lamps/page/2/">x</a>', "pagination"),
        ('<a href="/c/chairs?page=2">x</a>', "listing"),
        (pager("/c/chairs?page=2", "2"), "pagination"),
        (pager("/c/chairs", "2"), "pagination"),
        (pager("/c/chairs", "Next »"), "pagination"),
        (pager("/c/chairs", "Chairs"), "listing"),
        (pager("/c/lamps?page=2", "Chairs"), "pagination"),
        # Another choice beside the number is another listing.
        ('<a href="/c/lamps?page=2&brand=acme">x</a>', None),
        (pager("/c/lamps?page=2&sort=price"), None),
        (pager("/c/lamps?sort=price", "2"), None),
        ('<a href="/c/lamps?page=two">x</a>', "listing"),
        ('<a href="/c/lamps?page=1234567890">x</a>', "listing"),
    ],
)
def test_a_link_turns_the_page_by_its_number_or_in_a_pager(html: str, expected: str | None) -> None:
    assert list(kinds(html).values()) == ([expected] if expected else [])


def test_the_arrow_of_a_pager_may_be_a_label_alone() -> None:
    arrow = '<div class="pager"><a href="/c/chairs" aria-label="{}"><i></i></a></div>'
    assert kinds(arrow.format("Next")) == {"/c/chairs": "pagination"}
    assert kinds(arrow.format("Chairs")) == {"/c/chairs": "listing"}


def test_a_page_within_a_listing_leads_to_its_others() -> None:
    here = f"{SHOP}/c/lamps/page/3/"
    assert kinds('<a href="/c/lamps/page/4/">x</a><p><a href="/story">x</a></p>', here) == {
        "/c/lamps/page/4/": "pagination", "/story": "other",
    }  # fmt: skip


@pytest.mark.parametrize("number", [1, 2])
def test_only_an_empty_page_behind_the_first_ends_its_listing(number: int) -> None:
    found = kinds('<a rel="next" href="?page=9">x</a>', f"{SHOP}/c/lamps?page={number}")
    assert bool(found) is (number == 1)


@pytest.mark.parametrize(
    ("html", "followed"),
    [
        ('<a href="/story" rel="sponsored">x</a>', False),
        ('<a href="/story" rel="noopener NOFOLLOW">x</a>', False),
        ('<a href="/story" rel="noopener">x</a>', True),
        ('<a href="/story" hreflang="de">x</a>', False),
        ('<a href="/story" hreflang="EN-gb">x</a>', True),
        ('<a href="#story">x</a>', False),
        ('<a href="">x</a>', False),
        ("<a>x</a>", False),
        ('<a href="mailto:a@shop.example">x</a>', False),
        ('<a href="tel:+123">x</a>', False),
        ('<a href="HTTPS://shop.example/story">x</a>', True),
        ('<a href="/c/lamps">x</a>', False),  # this very page
    ],
)
def test_a_link_is_taken_where_it_leads_and_may_be_followed(html: str, followed: bool) -> None:
    assert bool(kinds(html)) is followed


def test_an_address_is_taken_once_and_by_what_says_most_of_it() -> None:
    tile = '<div class="product-card"><a href="/story"><img src="a.png"></a></div>'
    plain, menu = '<a href="/story">x</a>', '<nav><a href="/story">x</a></nav>'
    assert kinds(plain + '<a href="https://shop.example/story">x</a>') == {"/story": "other"}
    # The same text of an address is read once; in another spelling the better reading wins.
    assert kinds(plain + tile.replace("/story", f"{SHOP}/story")) == {"/story": "product"}
    assert kinds(tile + menu.replace("/story", f"{SHOP}/story")) == {"/story": "product"}
    assert kinds(menu + plain.replace("/story", f"{SHOP}/story")) == {"/story": "listing"}
    # What is followed as the next page is that whatever else it was taken for.
    assert kinds(plain + '<a rel="next" href="/story">x</a>') == {"/story": "pagination"}


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        ('<div class="card"><a href="/x"><img></a></div>', "product"),
        ('<div class="card"><h3><a href="/x">x</a></h3></div>', "product"),
        ('<div class="card"><a href="/x">x</a></div>', "other"),
        ('<div class="x"><h3><a href="/x">x</a></h3></div>', "other"),
        ('<nav><div class="card"><a href="/x"><img></a></div></nav>', "listing"),
        ('<div class="footer card"><a href="/x"><img></a></div>', "other"),
        ('<footer><nav><a href="/x">x</a></nav></footer>', "other"),
        ('<ul class="breadcrumb"><li><a href="/x">x</a></li></ul>', "listing"),
        ('<div class="filter"><a href="/x">x</a></div>', None),
        ('<div class="filter"><a href="/products/red-lamp">x</a></div>', "product"),
        ('<div class="filter"><a href="/products/red-lamp?colour=red">x</a></div>', None),
        # The grid of a category whose box is called a filter's, with the category in the address.
        ('<div class="filter"><a href="/products/red-lamp?cat=340">x</a></div>', "product"),
        ('<a href="/view.html?sid=7avi5&p_prodid=HB5&p_header=US">x</a>', "other"),
    ],
)
def test_a_link_is_what_its_surroundings_say(html: str, kind: str | None) -> None:
    assert list(kinds(html).values()) == ([kind] if kind else [])


def test_a_filter_of_the_caller_decides_last() -> None:
    two = '<a href="/story">x</a><a href="/about-you">x</a>'
    assert kinds(two, allowed=lambda url: "story" in url) == {"/story": "other"}
    assert kinds(two, robots="noindex, NoFollow") == {}
    assert len(kinds(two, robots="noindex")) == 2
