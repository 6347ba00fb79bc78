"""Facets, tags and brands whose pages show only known products are left out, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.extract.links.choice import Link
from crawler.extract.links.narrowings import MIN_PAGES, Narrowings

SHOP = "https://a.example/shop"


def products(*numbers: int) -> list[Link]:
    return [Link(f"https://a.example/p/lamp-{n}", "product", "") for n in numbers]


def others(*paths: str) -> list[Link]:
    return [Link(f"https://a.example{path}", "other", "") for path in paths]


def shelf(number: int) -> list[int]:
    """Return four of the listing's products, different ones for 60 numbers in a row."""
    return sorted({number % 12, (number // 12 + number + 1) % 12, (number + 5) % 12, 1})


def note(known: Narrowings, path: str, *numbers: int) -> str | None:
    """Count a page to which the shop's listing, or a page that narrows it, links."""
    return known.note("", f"{SHOP}/{path}", products(*numbers), shows=False, root=SHOP)


def with_listing(shown: Sequence[int] = range(12)) -> Narrowings:
    known = Narrowings()
    assert known.note("", f"{SHOP}/", products(*shown), shows=False) is None
    return known


def note_facets(known: Narrowings, count: int, *, first: int = 0) -> list[str]:
    """Count combinations of facets after two facets that lead to each other."""
    for one, other in (("red", "large"), ("large", "red")):
        known.note("", f"{SHOP}/{one}/", combined(one, other), shows=False, root=SHOP)
    for n in range(first, first + count):
        links = combined(f"facet-{n}", "red") + combined("red", f"facet-{n}")
        known.note("", f"{SHOP}/menu/", links, shows=False, root=SHOP)
    places = [note(known, f"red/facet-{n}/", *shelf(n)) for n in range(first, first + count)]
    return [place for place in places if place is not None]


def combined(one: str, other: str) -> list[Link]:
    return [Link(f"{SHOP}/{one}/{other}/", "other", "")]


def test_combinations_of_facets_that_show_no_further_product_are_left_out_at_any_depth() -> None:
    known = with_listing()
    assert note_facets(known, MIN_PAGES) == [f"{SHOP}/*/*"]
    assert known.leaves_out("", f"{SHOP}/large/red/", SHOP)
    assert known.leaves_out("", f"{SHOP}/facet-3/facet-4/facet-5/red/", SHOP)
    assert not known.leaves_out("", f"{SHOP}/facet-99/", SHOP)


def test_later_pages_other_folders_and_other_crawls_are_fetched_all_the_same() -> None:
    known = with_listing()
    note_facets(known, MIN_PAGES)
    for url in (f"{SHOP}/", f"{SHOP}/red/large/page/3/", "https://a.example/sale/red/large/"):
        assert not known.leaves_out("", url, SHOP)
    assert not known.leaves_out("job", f"{SHOP}/red/large/", SHOP)
    assert not known.leaves_out("", f"{SHOP}/red/large/")


def test_the_more_combinations_showed_a_further_product_the_longer_they_are_fetched() -> None:
    known = with_listing()
    note_facets(known, 0)
    for n in range(3):
        note(known, "red/large/", 100 + n)
    assert note_facets(known, 4 * MIN_PAGES - 1) == []
    assert note_facets(known, 1, first=1000) == [f"{SHOP}/*/*"]


def test_a_further_product_lets_a_place_be_fetched_again() -> None:
    known = with_listing()
    note_facets(known, MIN_PAGES)
    note(known, "red/large/", 500)
    assert not known.leaves_out("", f"{SHOP}/red/large/", SHOP)


def test_groups_that_show_best_sellers_of_the_listing_are_fetched_with_all_below_them() -> None:
    """Their subcategories may have the same names, but never come in the other order."""
    known = with_listing()
    for n in range(5 * MIN_PAGES):
        links = (
            products(*shelf(n)) + combined(f"group-{n}", "small") + combined(f"group-{n}", "big")
        )
        known.note("", f"{SHOP}/group-{n}/", links, shows=False, root=SHOP)
        note(known, f"group-{n}/small/", *shelf(n))
    for path in ("group-99/", "group-99/small/", "group-1/big/"):
        assert not known.leaves_out("", f"{SHOP}/{path}", SHOP)


def test_categories_without_a_listing_above_them_are_all_fetched() -> None:
    """The products of a shop whose sitemap is stale may be known but for the last categories'."""
    known = with_listing()
    for n in range(50):
        known.note("", f"https://a.example/c/category-{n}/", products(*shelf(n)), shows=False)
    assert not known.leaves_out("", "https://a.example/c/category-99/")


def test_tags_to_which_products_alone_link_are_left_out_and_menus_are_not() -> None:
    known = with_listing()
    known.note("", "https://a.example/", others("/tag/menu"), shows=False)
    tags = [f"/tag/number-{n}" for n in range(30)]
    known.note("", "https://a.example/p/lamp-1", others("/tag/menu", *tags), shows=True)
    for n, path in enumerate(tags[:MIN_PAGES]):
        known.note("", f"https://a.example{path}", products(*shelf(n)), shows=False)
    assert known.leaves_out("", f"https://a.example{tags[20]}")
    assert not known.leaves_out("", "https://a.example/tag/menu")


def test_pages_without_products_few_products_and_one_box_on_all_prove_nothing() -> None:
    for shelves in ([[]] * 50, [[n] for n in range(12)], [[1, 2, 3, 4]] * 50):
        known = with_listing()
        note_facets(known, 0)
        for numbers in shelves:
            note(known, "red/large/", *numbers)
        assert not known.leaves_out("", f"{SHOP}/red/large/", SHOP)


def test_later_pages_of_a_listing_make_its_products_known() -> None:
    known = with_listing(range(6))
    known.note("", f"{SHOP}/?page=2", products(*range(6, 12)), shows=False, is_later=True)
    note_facets(known, MIN_PAGES)
    assert known.leaves_out("", f"{SHOP}/red/large/", SHOP)


def test_groups_to_which_products_alone_link_are_fetched_if_they_lead_to_further_pages() -> None:
    known = with_listing()
    groups = [f"/c/group-{n}" for n in range(30)]
    known.note("", "https://a.example/p/lamp-1", others(*groups), shows=True)
    for n, path in enumerate(groups[:20]):
        links = products(*shelf(n)) + others(f"{path}/small")
        known.note("", f"https://a.example{path}", links, shows=False)
    assert not known.leaves_out("", f"https://a.example{groups[25]}")
