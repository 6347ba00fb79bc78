"""What crawls of whole shops, each from its front page, taught of prices, makers and ways."""

import json
from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse
from crawler.extract.site import Site
from tests.unit.extract.bodies import BUY, H1, found

SHOP = "https://shop.example"


@pytest.mark.parametrize(
    ("lang", "retail", "members"),
    [
        ("ru", "Розничная цена", "Цена по карте клуба"),
        ("en", "Price", "Club card price"),
        ("de", "Preis", "Mitgliederpreis"),
        ("fr", "Prix", "Prix adhérent"),
        ("sv", "Pris", "Medlemspris"),
        ("es", "Precio", "Precio con tu tarjeta"),
        ("ja", "価格", "会員価格"),
    ],
)
def test_a_price_below_the_words_for_members_is_not_the_price(
    lang: str, retail: str, members: str
) -> None:
    prices = f"<div>{retail}</div><div>45,50 €</div><div>{members}</div><div>43,20 €</div>"
    page = f"<html lang={lang}>{H1}<div class=prices>{prices}</div>{BUY}"
    fields = extract(parse(page, f"{SHOP}/p/1")).fields
    assert (fields["price"], fields.get("regular_price")) == (Decimal("45.50"), None)


@pytest.mark.parametrize("saving", ["60", "59,50"])
def test_a_retail_price_with_the_saving_from_a_higher_one_is_the_price(saving: str) -> None:
    prices = (
        "<div>Розничная цена</div><div class=price>156,50 руб.</div>"
        f"<div class='price discount'>216 руб.</div><div>Экономия {saving} руб.</div>"
    )
    page = f"<html lang=ru>{H1}<div class=prices>{prices}</div>{BUY}"
    assert extract(parse(page, f"{SHOP}/p/1")).fields["price"] == Decimal("156.50")


LD = (
    '<script type="application/ld+json">{"@type":"Product","name":"Lamp","brand":{"name":"%s"},'
    '"offers":{"price":9.5,"priceCurrency":"EUR"}}</script>'
)


@pytest.mark.parametrize(
    ("stated", "brand"),
    [("Lamps & More", "Felco"), ("The Lamp House", "Felco"), ("Acme", "Acme")],
)
def test_the_shops_own_name_as_brand_gives_way_to_the_maker_that_the_page_shows(
    stated: str, brand: str
) -> None:
    head = '<meta property="og:site_name" content="The Lamp House">'
    rows = "<table><tr><th>Brand<td>Felco<tr><th>Colour<td>red</table>"
    body = f"{LD % stated}{head}<h1>Lamp</h1><p class=price>€9.50</p>{BUY}{rows}"
    page = parse(f"<html lang=en>{body}", "https://www.lampsmore.example/p/1")
    assert extract(page).fields["brand"] == brand


def test_a_number_beside_the_link_to_its_maker_is_not_that_of_a_listings_row() -> None:
    """A sold product was read as a listing, because other products' numbers stand below it."""

    def tile(n: int) -> str:
        return (
            f"<div class=item><a href=/p/{n}/><img src=/{n}.jpg></a><a href=/p/{n}/>Lamp {n}</a>"
            f"<div>SKU: 77{n}</div><div class=price>€{n}.00</div></div>"
        )

    own = "<div><div>SKU: <b>7701</b></div><div>Brand: <a href=/brands/felco/>Felco</a></div></div>"
    prices = "<div class=price>€9.50</div><div>Club price</div><div class=price>€9.00</div>"
    others = f"<div><h3>On the same shelf</h3><div>{''.join(map(tile, range(12, 17)))}</div></div>"
    sold = "<div class=stock>Out of stock</div>"
    result = found(f"<h1>Lamp Ada</h1><div>{own}<div>{prices}</div>{sold}</div>{others}")
    assert result.fields["sku"] == "7701"
    assert not [reason for reason in result.verdict.reasons if "row that links" in reason]


def state(address: str) -> str:
    return f'<script id=x type="application/json">{{"total":12,"nextPage":"{address}"}}</script>'


@pytest.mark.parametrize(
    ("address", "followed"),
    [("/api/lamps?page=2", True), ("/lamps?page=1", False), ("/blog/lamps-of-the-year", False)],
)
def test_the_next_page_in_a_listings_state_is_followed_where_no_link_turns_the_page(
    address: str, followed: bool
) -> None:
    tiles = "".join(f"<div><a href=/product/lamp-{n}>Lamp {n}</a> €9.50</div>" for n in range(6))
    page = parse(f"<html><h1>Lamps</h1>{tiles}{state(address)}", f"{SHOP}/lamps")
    turning = [link.url for link in find_links(page) if link.kind == "pagination"]
    assert turning == ([f"{SHOP}{address}"] if followed else [])


def test_a_pager_needs_no_state() -> None:
    tiles = "".join(f"<div><a href=/product/lamp-{n}>Lamp {n}</a> €9.50</div>" for n in range(6))
    pager = "<nav class=pagination><a href=?page=2>2</a></nav>"
    page = parse(f"<html><h1>Lamps</h1>{tiles}{pager}{state('/api/x?page=2')}", f"{SHOP}/lamps")
    turning = [link.url for link in find_links(page) if link.kind == "pagination"]
    assert turning == [f"{SHOP}/lamps?page=2"]


def test_a_label_behind_a_struck_price_is_not_that_of_the_next_one() -> None:
    """The price of 149 was taken for the one before, and the sum of free postage for the price."""
    bar = "<header><div><p>Free shipping</p><p>over $200</p></div></header>"
    old = 'data-hook=formatted-primary-price style="text-decoration:line-through"'
    prices = (
        f"<div><span {old}>$189.00</span><span>Regular price</span>"
        "<span data-hook=formatted-secondary-price>$149.00</span><span>Sale price</span></div>"
    )
    fields = found(f"{bar}<main><div>{H1}{prices}{BUY}</div></main>").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("149.00"), Decimal("189.00"))


def test_a_name_that_praises_quick_dispatch_does_not_outweigh_sold_out() -> None:
    name = "[Ships today] Linen Lamp"
    rows = f"<table><tr><th>Name<td>{name}<tr><th>Price<td>€20.00</table>"
    sold = "<div><span class=btnEm>SOLD OUT</span></div>"
    assert found(f"<h1>{name}</h1>{rows}{sold}").fields["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    ("maker", "expected"),
    [
        ("<p class=detail__maker>Sailor</p>", "Sailor"),
        ("<p class=coffee-maker>Sailor</p>", None),
        ('<div class=product-manufacturer><a href="#">Sailor</a></div>', "Sailor"),
    ],
)
def test_a_field_of_the_product_is_called_maker_and_may_have_a_link_to_nowhere(
    maker: str, expected: str | None
) -> None:
    page = f"<div>{H1}{maker}<p class=price>€9.50</p>{BUY}</div>"
    assert found(page).fields.get("brand") == expected


def test_a_picture_in_a_link_to_another_products_number_is_not_the_products() -> None:
    """`product.php?id=33` was taken for a view of `product.php?id=49`."""
    news = '<table><tr><td><a href="product.php?id=33"><img src=33.jpg alt="Red Lamp"></a></table>'
    own = '<a href="product.php?id=49&view=2"><img src=49.jpg alt="Red Lamp (sale)"></a>'
    body = f"{news}<h1>Red Lamp (sale)</h1>{own}<p class=price>€9.50</p>{BUY}"
    images = found(body, url=f"{SHOP}/product.php?id=49").fields["images"]
    assert images[0] == f"{SHOP}/49.jpg"


def test_a_state_in_a_template_is_read_with_the_references_of_its_cache() -> None:
    """VTEX writes the state as the bare text of a script, and references by type and id."""
    price = {"type": "id", "generated": True, "id": "$Product:ada.priceRange"}
    cache = {
        "Product:ada": {"productName": "Red Lamp", "brand": "Lumo", "priceRange": price},
        "$Product:ada.priceRange": {"lowPrice": 12.5},
    }
    script = f"<script>{json.dumps(cache)}</script>"
    state = f'<template data-type="json" data-varname="__STATE__">{script}</template>'
    result = found(f"{H1}<p class=price>$12.50</p>{BUY}{state}")
    assert result.fields["brand"] == "Lumo"
    assert result.offered["state"]["price"] == Decimal("12.5")


def goods(name: str, price: str, foot: str, link: str = "#top") -> str:
    return (
        f"<article id={name.lower()}><img src=/{name}.jpg alt={name}><h3>{name} honey</h3>"
        f"<p>From our own <a href={link}>hives</a>.</p><p class=price>{price} kr.</p>{foot}</article>"
    )


CART = "<button>Læg i kurv</button>"
ONE_PAGE = goods("Spring", "55,00", CART) + goods("Heather", "85,00", CART)


def listed(boxes: str, site: type[Site] = Site) -> list[tuple[str | None, ...]]:
    menu = "<nav><a href=#shop>Køb</a><a href=#about>Om os</a></nav>"
    about = "<section id=about><h2>Om os</h2><p>Fri fragt over 400 kr.</p></section>"
    body = f"{menu}<h1>Bees</h1><section id=shop><h2>Køb honning</h2>{boxes}</section>{about}"
    page = parse(f"<html lang=da><title>Bees</title><body>{body}", f"{SHOP}/")
    found = site().products(page, extract(page))
    return [(x.external_id, x.name, str(x.price), x.currency, x.availability) for x in found]


def test_all_goods_of_a_shop_of_one_page_are_read() -> None:
    """Twelve goods with buy buttons, and the crawl ended without a row."""
    sold = goods("Summer", "65,00", "<p>Udsolgt</p>")
    assert listed(ONE_PAGE + goods("Lime", "75,00", CART) + sold) == [
        ("spring", "Spring honey", "55.00", "DKK", "InStock"),
        ("heather", "Heather honey", "85.00", "DKK", "InStock"),
        ("lime", "Lime honey", "75.00", "DKK", "InStock"),
        ("summer", "Summer honey", "65.00", "DKK", "OutOfStock"),
    ]


@pytest.mark.parametrize(
    "third",
    [
        "",
        goods("Lime", "75,00", ""),
        goods("Lime", "75,00", CART, link="/p/lime"),
        goods("Spring", "75,00", CART),
        goods("Lime", "75,00", CART).replace("<img", "<i"),
    ],
    ids=["two are few", "nothing buys it", "it has a page", "a name twice", "it is a plan"],
)
def test_boxes_that_may_be_tiles_or_a_price_list_are_no_goods(third: str) -> None:
    assert listed(ONE_PAGE + third) == []


def test_a_site_file_that_names_its_product_pages_has_no_goods_on_others() -> None:
    class Bees(Site):
        product_pages = "/p/"

    assert listed(ONE_PAGE + goods("Lime", "75,00", CART), Bees) == []


@pytest.mark.parametrize(
    ("box", "path"),
    [("<b>9 € / month</b>", "/"), ("<b>9 €</b>", "/pricing"), ("<b>9 €</b>", "/cart")],
)
def test_plans_and_carts_are_no_goods_of_a_page(box: str, path: str) -> None:
    names = ("Basic", "Team", "Pro")
    cells = (
        f"<div><img src=/a.svg><h3>{n}</h3><p class=price>{box}</p><button>Buy now</button></div>"
        for n in names
    )
    body = f"<h1>Choose</h1>{''.join(cells)}"
    page = parse(f"<html lang=en><title>A</title><body>{body}", f"{SHOP}{path}")
    assert not list(Site().products(page, extract(page)))


def category_page(boxes: str, beside: str = "") -> list[tuple[str, str]]:
    body = f"<nav><a href=/oils.html>Oils</a></nav><h1>Soaps</h1>{beside}{boxes}"
    page = parse(f"<html lang=en><title>Soaps</title><body>{body}", f"{SHOP}/soaps.html")
    site = Site()
    return [(item.name, str(item.price)) for item in site.products(page, site.extract(page))]


def soap(name: str, price: str) -> str:
    return (
        f"<section id={name}><img src=/{name}.jpg><h2>{name} soap</h2><p>Ref. S-{name}</p>"
        f"<p class=price>${price}</p><p>In stock</p><button>Add to cart</button></section>"
    )


SOAPS = "".join(map(soap, ("rose", "pine", "honey", "clay"), ("8.50", "9.50", "7.00", "6.50")))


def test_a_category_whose_goods_have_no_pages_is_not_read_as_its_first_one() -> None:
    """`Soaps` at 8.50 was the only row of six soaps, at a confidence of .99."""
    assert category_page(SOAPS) == [
        ("rose soap", "8.50"),
        ("pine soap", "9.50"),
        ("honey soap", "7.00"),
        ("clay soap", "6.50"),
    ]


SIZES = "".join(map(soap, ("50g", "75g", "100g", "200g"), ("8.50", "9.50", "12.00", "20.00")))


@pytest.mark.parametrize(
    ("boxes", "beside"),
    [
        (SOAPS, "<p class=price>$20.00</p><button>Add to cart</button>"),
        ("".join(map(soap, ("1x", "3x", "6x"), ("8.50", "24.00", "45.00"))), ""),
        (SIZES, ""),
        (SOAPS, "<p class=price>$8.50</p><button class=cart><svg></svg></button>"),
        (SOAPS, "<a href=/p/soap-dish-1003>Dish</a>"),
    ],
    ids=["the set is sold, too", "three packs", "sizes", "a button without words", "a product"],
)
def test_boxes_beside_what_a_page_sells_are_not_its_products(boxes: str, beside: str) -> None:
    rows = category_page(boxes, beside)
    assert [name for name, _ in rows] == ["Soaps"]


def test_goods_whose_boxes_are_counted_are_known_by_their_names() -> None:
    """`id=item-1` was that of another thing on the shop's next page."""
    boxes = "".join(
        goods(name, "55,00", CART).replace(f"id={name.lower()}", f"id=item-{n}")
        for n, name in enumerate(("Spring", "Heather", "Lime"))
    )
    assert [row[0] for row in listed(boxes)] == ["spring-honey", "heather-honey", "lime-honey"]


@pytest.mark.parametrize(
    "text", ["<p>Designer: Ann Smith</p>", "<table><tr><td>Designer<td>Ann Smith</table>"]
)
def test_a_designer_is_not_the_maker_of_what_the_shop_itself_makes(text: str) -> None:
    body = f"{LD % 'Ikea'}<h1>Lamp</h1><p class=price>€9.50</p>{BUY}{text}"
    page = parse(f"<html lang=en>{body}", "https://www.ikea.example/p/lamp")
    assert extract(page).fields["brand"] == "Ikea"


def test_goods_may_be_quotes() -> None:
    tiles = "".join(f"<div><a href=/quote/be-{n}>Be {n}</a> €9.50</div>" for n in range(6))
    page = parse(f"<html lang=en><h1>Wall art</h1>{tiles}<a href=/quote?id=7>?</a>", f"{SHOP}/wall")
    links = {link.url for link in find_links(page)}
    assert links == {f"{SHOP}/quote/be-{n}" for n in range(6)}


def test_a_price_on_request_in_a_tile_is_not_that_of_the_category() -> None:
    """Sorted by price, a category began with a tile "Log in to see prices", and became a product."""

    def item(name: str, price: str) -> str:
        picture = f"<a href=/{name}><img src=/{name}.jpg></a>"
        title = f"<h2 class=product-title><a href=/{name}>{name}</a></h2>"
        return f"<div class=product-item>{picture}{title}<span class=price>{price}</span></div>"

    ask = item("waders-gude", "Log in to see prices")
    rest = "".join(item(f"waders-{n}", f"${n}.00") for n in range(20, 25))
    body = f"<h1>Waders</h1><div class=item-grid>{ask}{rest}</div>"
    result = found(body, url=f"{SHOP}/waders")
    assert (result.kind, result.verdict.product) == ("listing", 0)


def test_a_remark_in_brackets_is_no_price_of_a_sold_thing() -> None:
    link = "<a href=/recipes/cake>maple cake</a> ($4 a serving)."
    body = f"{H1}<p>Sold out until spring</p><p>Good with {link}</p><p>SKU MH-103</p>"
    assert "price" not in found(body).offered["text"]
