"""Links to what a shop offers about one product are left out by its number, in any language."""

from __future__ import annotations

from itertools import starmap

import pytest

from crawler.extract import extract, find_links, parse

SHOP = "https://shop.example"


def links(body: str, path: str) -> set[str]:
    page = parse(f"<html lang=pl><title>A</title><body>{body}", SHOP + path)
    extract(page)
    return {link.url.removeprefix(SHOP) for link in find_links(page)}


def product(body: str) -> str:
    return (
        f"<ul><li><a href=/kategoria.php?k=12>Farby</a></ul><h1>Farba</h1><p>Kod produktu: KR-77</p>"
        f"<p class=price>12,00 z\u0142</p><button>Do koszyka</button>{body}"
    )


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("/towar.php?id=1003", "/zapytaj.php?id=1003"),
        ("/urun/hali-usak-1003", "/yazdir/1003"),
        ("/1003-farba.html", "/schowek/1003"),
        ("/farby/akryl", "/merken?art=KR-77"),
    ],
)
def test_what_carries_the_number_of_a_product_is_not_followed_from_its_page(
    path: str, link: str
) -> None:
    """Print views, forms and lists of three kinds cost 126 of 180 requests of a shop of 35."""
    body = product(f"<a href={link}>x</a><a href={link.replace('1003', '1010')}&b=1>other</a>")
    assert link not in links(body, path)
    assert "/kategoria.php?k=12" in links(body, path)


@pytest.mark.parametrize(
    "link",
    [
        "<a href=/zapytaj.php?id=1010>Inny</a>",
        "<a href=/seria.php?nr=1003>1003</a>",
        "<nav><a href=/dzial/1003>Farby</a></nav>",
    ],
    ids=["another number", "the link's text is the number", "a menu"],
)
def test_other_links_of_a_products_page_are_followed(link: str) -> None:
    assert len(links(product(link), "/towar.php?id=1003")) == 2


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("/c/1024/lamp-77", "/c/1024/vase-78"),
        ("/artykul.php?dzial=1024&nr=1003", "/artykul.php?dzial=1024&nr=1010"),
        ("/artykul.php?dzial=1024&nr=1003", "/lista.php?dzial=1024"),
        ("/serie/1024", "/serie/1024/czesc-1"),
    ],
    ids=["a folder's number", "a category's parameter", "the category", "a page below"],
)
def test_what_names_something_else_as_well_is_followed(path: str, link: str) -> None:
    assert link in links(product(f"<a href={link}>x</a>"), path)


def test_a_print_view_without_the_category_of_its_product_is_left_out() -> None:
    other = "<a href=/artykul.php?nr=1010&dzial=1024>Inny</a>"
    body = f"{other}<a href=/obraz.php?nr=1003>x</a><a href=/lista.php?dzial=1024>y</a>"
    found = links(product(body), "/artykul.php?nr=1003&dzial=1024")
    assert "/obraz.php?nr=1003" not in found
    assert "/lista.php?dzial=1024" in found


def tile(name: str, number: int, foot: str) -> str:
    picture = f"<a href=/{name}><img src=/b/RW-{number}_s.jpg><b>{name}</b></a>"
    return f"<li>{picture}<p>{number},00 z\u0142</p>{foot}</li>"


NAMES = (("rack-a", 130), ("rack-b", 133), ("rack-c-75", 136), ("rack-d", 139))


def test_what_carries_the_number_of_a_tile_is_not_followed() -> None:
    foot = "<a href=/vergleich?add=RW-{0}>Vergleichen</a><a href=/merk/RW-{0}>Merken</a>"
    tiles = "".join(tile(name, number, foot.format(number)) for name, number in NAMES)
    found = links(f"<h1>Racks</h1><ul>{tiles}</ul><a href=/hilfe?nr=7>Hilfe</a>", "/racks/")
    assert found == {"/rack-a", "/rack-b", "/rack-c-75", "/rack-d", "/hilfe?nr=7"}


def test_the_only_tile_of_a_listings_last_page_is_read_alike() -> None:
    picture = "<a href=/towar.php?id=1045><img src=/f/1045.jpg></a>"
    tile = f"<div>{picture}<h3>Farby</h3><s>9</s><a href=/schowek.php?dodaj=1045>+</a></div>"
    assert links(f"<h1>Farby</h1>{tile}", "/kategoria.php?k=12&strona=3") == {"/towar.php?id=1045"}


def test_each_product_of_a_box_is_followed_though_no_address_tells_what_it_is() -> None:
    def pair(name: str, number: int) -> str:
        return (
            f"<a href=/x?i={number}><img src=/b/{number}.jpg>{name}</a><p>{number},00 z\u0142</p>"
        )

    found = links(f"<h1>Racks</h1><div>{''.join(starmap(pair, NAMES))}</div>", "/racks/")
    assert found == {f"/x?i={number}" for _, number in NAMES}


@pytest.mark.parametrize(
    ("path", "others"),
    [
        ("/shop24/farba", ["/shop24/kit", "/shop24/lak"]),
        ("/c/115/farba", ["/c/115/kit", "/c/115/"]),
        ("/farba-1003", ["/farba-1003/mat", "/farba-1003/polysk"]),
        ("/i?Itemid=101&art=5", ["/j?Itemid=101&art=6", "/k?Itemid=101&kat=4"]),
        ("/x?i=5&w=ab12cd34", ["/vase.php?i=6&w=ab12cd34", "/lak.php?i=7&w=ab12cd34"]),
        ("/c/115/3", ["/c/116/3"]),
        ("/towar.php?id=5", ["/dzial.php?id=5", "/dzial.php?id=6"]),
        ("/farba-a-40", ["/farba-b-40", "/kit-40"]),
    ],
    ids=["shop", "category", "variant", "menu", "visit", "number in a category", "short", "size"],
)
def test_numbers_of_other_things_do_not_tie_a_link_to_a_product(
    path: str, others: list[str]
) -> None:
    """All links of a shop below `/shop24/` were left out of each product's page."""
    assert links(product("".join(f"<a href={x}>x</a> " for x in others)), path) >= set(others)


@pytest.mark.parametrize(
    ("path", "categories"),
    [
        ("/x/115/", ["/x/115/216", "/x/115/217", "/x/115/218"]),
        ("/i?shop=100&k=20", ["/kat.php?shop=100&k=21", "/kat.php?shop=100&k=22"]),
        ("/shop24/", ["/shop24/racks", "/shop24/tables", "/shop24/chairs"]),
    ],
    ids=["category", "shop by a value", "shop by a folder"],
)
def test_all_categories_of_a_listing_are_followed_though_they_share_a_number(
    path: str, categories: list[str]
) -> None:
    """The first of them was taken for a product, and the others for what is offered about it."""
    box = "".join(f"<a href={x}>x</a> " for x in categories)
    tiles = "".join(tile(name, number, "") for name, number in NAMES)
    assert links(f"<div>{box}</div><ul>{tiles}</ul>", path) >= set(categories)


def test_products_whose_category_has_a_number_are_followed_without_prices() -> None:
    row = "".join(f"<td><a href=/c115/{name}><img src=/b/{name}.jpg></a>" for name, _ in NAMES)
    expected = {f"/c115/{name}" for name, _ in NAMES}
    assert links(product(f"<table><tr>{row}</table>"), "/c115/farba") >= expected
    tiles = "".join(tile(name, number, "") for name, number in NAMES[:3])
    assert links(f"<table><tr>{row}</table><ul>{tiles}</ul>", "/c115") >= expected


def test_variants_and_the_category_of_a_tile_are_followed() -> None:
    def odd_tile(name: str, number: int) -> str:
        foot = f"<a href=/red-{name}-{number}>Red</a><a href=/{number}-{name}>Old</a>"
        return tile(f"{name}-{number}", number, foot + "<a href=/l?c=115>Racks</a>")

    menu = "<div><a href=/l?c=115>Racks</a> <a href=/l?c=116>Tables</a></div>"
    found = links(f"{menu}<ul>{''.join(starmap(odd_tile, NAMES))}</ul>", "/")
    assert {"/l?c=115", "/red-rack-a-130", "/130-rack-a"} <= found


def test_what_also_stands_outside_of_a_tile_is_followed() -> None:
    tiles = "".join(tile(n, i, f"<a href=/serie?nr={i}>Serie</a>") for n, i in NAMES)
    pictures = tiles.replace("RW-", "")
    box = "<p>A <a href=/serie?nr=130>series</a> of oak.</p>"
    found = links(f"<h1>Racks</h1><ul>{pictures}</ul>{box}", "/racks/")
    assert "/serie?nr=130" in found
    assert "/serie?nr=133" not in found
