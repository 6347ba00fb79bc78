"""Further pages of a listing that scripts or buttons load, without a link of a pager."""

from __future__ import annotations

import pytest

from crawler.extract import find_links, parse
from crawler.extract.links.own_pages import own_pages
from crawler.extract.listing.announced import announced

SHOP = "https://shop.example"
LISTING = f"{SHOP}/c/lamps"
TILES = "".join(f'<a href="/p/lamp-{n}"><img src="/{n}.jpg">Lamp {n}</a>' for n in range(4))


def further(html: str, url: str = LISTING) -> list[str]:
    page = parse(TILES + html, url)
    return [link.url.removeprefix(SHOP) for link in own_pages(page, find_links(page))]


@pytest.mark.parametrize(
    "html",
    [
        '<div hx-get="/c/lamps?page=2" hx-trigger="revealed"></div>',
        '<div hx-get="?page=2"></div>',
        '<turbo-frame id="page_2" src="/c/lamps?page=2" loading="lazy"></turbo-frame>',
        '<div data-scroll-url-value="/c/lamps?page=2"><button>Show</button></div>',
        """<div x-data="{ next: '/c/lamps?page=2', busy: false }"></div>""",
        '<script>var state = {"next": "\\/c\\/lamps?page=2"}</script>',
        '<form action="/c/lamps"><button name="page" value="2">2</button></form>',
    ],
)
def test_a_page_that_a_script_or_a_button_loads_is_a_further_page(html: str) -> None:
    """39 of 60 products were lost, and no line said so."""
    assert further(html) == ["/c/lamps?page=2"]
    assert further(html, f"{LISTING}?page=2") == [], "the page itself"


@pytest.mark.parametrize(
    "html",
    [
        "<p>/c/lamps?page=1</p>",
        "<p>/c/lamps?page=2&amp;colour=red</p>",
        "<p>/c/rugs?page=2</p>",
        '<form action="/c/lamps" method="post"><button name="page" value="2">2</button></form>',
        f"<button name='page' value='{'9' * 5000}'>2</button>",
        '<a href="/c/lamps?page=2">2</a><p>/c/lamps?page=3</p>',
    ],
)
def test_another_listings_page_and_those_beside_a_pager_are_none(html: str) -> None:
    assert further(html) == []


@pytest.mark.parametrize(
    ("here", "source", "expected"),
    [
        ("/c/lamps/", '{"next": "/c/lamps/page/2/"}', "/c/lamps/page/2/"),
        ("/c/lamps/page/2/", '{"next": "\\/c\\/lamps\\/page\\/3\\/"}', "/c/lamps/page/3/"),
        ("/lamps.html", '{"next": "/lamps-page-2.html"}', None),
        ("/c/lamps", '<a href="/c/lamps/oak-page">Oak</a>', None),
    ],
)
def test_a_page_number_in_the_path_counts_as_well(
    here: str, source: str, expected: str | None
) -> None:
    assert further(f"<script>{source}</script>", f"{SHOP}{here}") == [expected] * bool(expected)


def test_a_script_s_pager_has_no_button_for_the_page_itself() -> None:
    buttons = "".join(f'<button wire:click="gotoPage({n})">{n}</button>' for n in (2, 3))
    page = parse(f"{TILES}<span>1</span>{buttons}", LISTING)
    notice = announced(page, find_links(page))
    assert notice is not None
    assert notice.pages == 3


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("""<button hx-get="/lamps/more" hx-vals='{"ab": 12, "of": "all"}'>Load more</button>""",
         ["/lamps/more?ab=12&of=all"]),
        ('<div hx-get="/lamps/more?ab=12" hx-trigger="intersect once"></div>',
         ["/lamps/more?ab=12"]),
        ("""<div hx-get="/lamps/more" hx-trigger="revealed" hx-vals='js:{ab: n()}'></div>""", []),
        ('<button hx-get="/basket/count">Basket</button>', []),
        ('<div hx-get="https://other.example/x" hx-trigger="revealed"></div>', []),
    ],
)  # fmt: skip
def test_htmx_asks_with_its_values_for_what_follows_a_listing(
    html: str, expected: list[str]
) -> None:
    assert further(html) == expected
