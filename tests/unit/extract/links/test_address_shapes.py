"""Whatever form a shop gives to its addresses, its products, categories and pages are followed."""

from __future__ import annotations

import pytest

from crawler.extract import extract, find_links, parse

SHOP = "https://shop.example"
NAMES = ["Oak Chair", "Pine Table", "Red Lamp", "Blue Sofa", "Green Rug", "Wool Throw"]
TILE = '<li class=card><a href="{url}"><img src="/{n}.jpg"><h3>{name}</h3></a><b>€ {n}9,90</b>'
ROW = '<tr><td><a href="{url}">{name}</a></td><td>€ {n}9,90</td></tr>'
BARE = '<div><a href="{url}"><img src="/{n}.jpg"></a><br><a href="{url}">{name}</a></div>'


def followed(path: str, body: str) -> set[str]:
    """Return what is followed from a page with a menu and a foot, without the shop's origin."""
    menu = '<nav class=menu><a href="/">Start</a><a href="/garden">Garden</a></nav>'
    foot = '<footer><a href="/contact">Contact</a><a href="/terms">Terms</a></footer>'
    page = parse(f"<html lang=en><title>Living</title>{menu}{body}{foot}", f"{SHOP}{path}")
    extract(page)
    return {link.url.removeprefix(SHOP) for link in find_links(page)}


def listing(addresses: list[str], tile: str = TILE) -> str:
    tiles = "".join(
        tile.format(url=url.replace("&", "&amp;"), name=name, n=n)
        for n, (url, name) in enumerate(zip(addresses, NAMES, strict=True), 1)
    )
    return f"<h1>Living</h1><ul>{tiles}</ul>"


def numbered(form: str) -> list[str]:
    slugs = [name.lower().replace(" ", "-") for name in NAMES]
    return [form.format(slug=slug, n=n, code=f"AB{n}7") for n, slug in enumerate(slugs, 3)]


@pytest.mark.parametrize("tile", [TILE, ROW, BARE])
@pytest.mark.parametrize(
    "form",
    [
        "/product/detail?code={code}",
        "/product/view?p={slug}",
        "/products/show?handle={slug}",
        "/product-detail?model={code}",
        "/product/info?no={n}",
    ],
)
def test_products_that_one_script_shows_are_no_variants_of_each_other(form, tile):
    addresses = numbered(form)
    assert {*addresses} <= followed("/living", listing(addresses, tile))


def test_variants_of_one_product_among_others_are_followed_once():
    swatches = "".join(f'<a href="/product/lamp?colour={n}">{n}</a>' for n in range(4))
    found = followed("/living", listing(numbered("/product/{slug}")) + swatches)
    assert len([path for path in found if path.startswith("/product/lamp")]) == 1


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_colours_in_the_tiles_of_few_products_are_no_products(count):
    """A category of four products with six colours each took 28 requests instead of 4."""
    colours = ("red", "blue", "green", "black", "white", "pink")
    tiles = "".join(
        f'<li class=card><a href="/product/oak-{n}"><img src="/{n}.jpg"><h3>Oak {n}</h3></a>'
        f"<b>€ {n}9,90</b>"
        + "".join(f'<a href="/product/oak-{n}?colour={name}">{name}</a>' for name in colours)
        for n in range(count)
    )
    found = followed("/living", f"<ul>{tiles}</ul>")
    assert {path for path in found if "oak" in path} == {f"/product/oak-{n}" for n in range(count)}


@pytest.mark.parametrize("look", ["quick_view={n}", "view=quick&id={n}", "colour=red{n}"])
def test_a_further_link_beside_the_price_of_a_tile_is_no_product(look):
    beside = f'<div><s>€ 99,90</s> <b>€ {{n}}9,90</b><a href="/living?{look}">Look</a></div>'
    found = followed("/living", listing(numbered("/{slug}"), TILE + beside))
    assert {*numbered("/{slug}")} <= found
    assert not any("?" in path for path in found)


def test_an_article_whose_title_has_an_amount_is_no_product():
    title = '<div class=post><h2><a href="/2026/05/gifts-{n}">Gifts under $5{n}</a></h2><p>Ideas'
    posts = "".join(title.format(n=n) for n in range(6))
    assert not any("gifts" in path for path in followed("/living", posts))
    latest = '<p>Free shipping over $50</p><a href="/2026/05/our-story">Our story</a>'
    assert "/2026/05/our-story" not in followed("/living", latest)
    assert "/2026/05/our-lamp" in followed("/living", latest.replace("story", "lamp") + "<p>$50.00")


@pytest.mark.parametrize("form", ["/living?show={slug}", "/shop?view={slug}", "/2024/05/{slug}"])
def test_a_row_with_a_price_and_one_link_is_a_products_whatever_its_address_says(form):
    addresses = numbered(form)
    assert {*addresses} <= followed("/living", listing(addresses, ROW))


@pytest.mark.parametrize("name", ["price_to", "max", "filter"])
def test_a_filter_by_price_is_no_tile(name):
    boxes = "".join(f'<li><a href="/living?{name}={n}0">Under € {n}0.00</a>' for n in range(1, 7))
    found = followed("/living", f"<ul>{boxes}</ul>" + listing(numbered("/{slug}")))
    assert not any(name in path for path in found)


def test_a_product_named_by_a_parameter_of_the_listing_itself_is_followed():
    addresses = numbered("/living?product={slug}")
    assert {*addresses} <= followed("/living", listing(addresses, BARE))


@pytest.mark.parametrize(
    "switch", ["currency=EUR", "___store=default", "setlang=en", "SetCurrency=978"]
)
def test_a_switch_that_each_link_of_a_shop_has_costs_no_page(switch):
    """Such a link led to nothing: it was taken for the switch itself."""
    addresses = numbered("/{slug}")
    found = followed("/living", listing([f"{path}?{switch}" for path in addresses]))
    assert {*addresses} <= found
    assert not any(switch in path for path in found)


def test_a_switch_that_the_page_itself_has_stays():
    addresses = numbered("/{slug}?currency=EUR")
    assert {*addresses} <= followed("/living?currency=EUR", listing(addresses))


def test_links_that_only_switch_the_currency_are_not_followed():
    names = ("EUR", "USD", "GBP", "SEK")
    switches = "".join(f'<a href="/living?currency={name}">{name}</a>' for name in names)
    back = "".join(f'<a href="/money?currency={name}&back=%2Fliving">{name}</a>' for name in names)
    found = followed("/living", switches + back + listing(numbered("/{slug}")))
    assert not any("currency" in path or "money" in path for path in found)
    assert "/living" not in found


@pytest.mark.parametrize(
    "order", ["sort=name", "order=new&amp;dir=asc", "limit=all", "view=grid", "style=plain"]
)
def test_a_category_whose_link_names_an_order_is_followed_without_the_order(order):
    menu = "".join(f'<li><a href="/{name}?{order}">{name}</a>' for name in ("chairs", "rugs"))
    assert {"/chairs", "/rugs"} <= followed("/", f"<ul>{menu}</ul>")


@pytest.mark.parametrize("home", ["/", "/home"])
def test_a_page_that_a_script_shows_by_its_name_is_followed(home):
    menu = "".join(
        f'<td><a href="/index.php?show={name}">{name}</a>' for name in ("chairs", "rugs")
    )
    assert {"/index.php?show=chairs", "/index.php?show=rugs"} <= followed(home, menu)


def test_categories_in_a_filters_box_of_the_front_page_are_followed():
    menu = "".join(f'<li><a href="/{name}">{name}</a>' for name in ("chairs", "rugs"))
    box = f'<div class="filter-sidebar"><ul>{menu}</ul></div>'
    assert {"/chairs", "/rugs"} <= followed("/", box)
    assert not {"/chairs", "/rugs"} & followed("/living", box)


def pager(address: str, first: str, at: int, *, step: int) -> str:
    links = [
        f'<a href="{address.format(n=(n - 1) * step if step else n) if n > 1 else first}">{n}</a>'
        for n in range(1, 9)
        if n != at
    ]
    return f"<p align=center>{' '.join(links)}</p>"


@pytest.mark.parametrize("at", [1, 2, 7])
@pytest.mark.parametrize(
    "form",
    [
        "?o={n}",
        "?s={n}",
        "?limitstart={n}",
        "?row={n}",
        "?page%5Boffset%5D={n}",
        "?sort=a&start={n}",
    ],
)
def test_a_pager_of_numbers_that_counts_products_is_followed_by_any_name(form, at):
    own = "/living" + (form.format(n=12 * (at - 1)) if at > 1 else "")
    body = listing(numbered("/{slug}")) + pager(f"/living{form}", "/living", at, step=12)
    assert f"/living{form.format(n=12 * at)}" in followed(own, body)


def test_numbers_that_choose_a_size_or_a_filter_turn_no_page():
    sizes = "".join(f'<a href="/living?o={n}">{n}</a> ' for n in (24, 48, 96))
    people = "".join(f'<a href="/living?seats={value}">{n}</a> ' for n, value in ((2, 9), (4, 11)))
    found = followed("/living", listing(numbered("/{slug}")) + sizes + people)
    assert not any("?" in path for path in found)


@pytest.mark.parametrize(
    "query", ["size=24&amp;page=2", "sort=price&amp;page=2", "q=&amp;page=2", "sort=a&amp;start=12"]
)
def test_the_first_pages_link_to_the_next_one_may_name_an_order(query):
    link = f'<p><a href="/living?{query}">Next »</a></p>'
    found = followed("/living", listing(numbered("/{slug}")) + link)
    assert f"/living?{query.replace('&amp;', '&')}" in found


def test_a_listing_of_many_products_is_read_to_its_end_where_the_pager_counts_products():
    """The limit is one of pages, and a page's number was taken for one where products are counted."""
    pages = '<a href="/living?start={n}">Next</a>'
    found = followed("/living?start=5016", listing(numbered("/{slug}")) + pages.format(n=5040))
    assert "/living?start=5040" in found
    found = followed("/living?page=5040", listing(numbered("/{slug}")) + pages.format(n=5041))
    assert "/living?start=5041" not in found
