"""Markup as shops have it: breadcrumbs, ratings, prices and stock, each in a small page."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crawler.extract import extract, parse
from crawler.extract.visible.product_shown import _is_nearer
from crawler.extract.visible_signs import Visible

URL = "https://shop.example/p/oak-lamp"
NAME = "Oak lamp"


def found(before: str = "", behind: str = "", price: str = "$45.00", url: str = URL) -> Any:
    """Read a page with parts before its heading and behind it."""
    return extract(
        parse(
            f"<html><head><title>{NAME} | Red House</title></head><body>{before}<h1>{NAME}</h1>"
            f'<img src="/i/lamp.jpg" alt="{NAME}"><div class="price">{price}</div>{behind}'
            '<form action="/cart"><button>Add to cart</button></form></body></html>',
            url,
        )
    )


TYPE = "http://data-vocabulary.org/Breadcrumb"


@pytest.mark.parametrize(
    "trail",
    [
        # Each breadcrumb is marked, and none of the boxes around them is named.
        f'<h3><span itemscope itemtype="{TYPE}"><a href="/c">Home things</a></span>'
        f'<span itemscope itemtype="{TYPE}"><a href="/c/lamps">Lamps</a></span></h3>',
        f'<ul><li><span itemtype="{TYPE}"><a href="/c">Home things</a></span></li>'
        f'<li><span itemtype="{TYPE}"><a href="/c/lamps">Lamps</a></span></li></ul>',
        '<ul><li typeof="v:Breadcrumb"><a href="/">Start</a> &gt;</li><li typeof="v:Breadcrumb">'
        '<a href="/c">Home things</a> &gt;</li><li typeof="v:Breadcrumb">'
        '<a href="/c/lamps">Lamps</a> &gt;</li><li>Oak lamp</li></ul>',
        # The sign is in an element behind the link.
        '<p><a href="/">Start</a><span>»</span><a href="/c">Home things</a><span>»</span>'
        '<a href="/c/lamps">Lamps</a></p>',
        '<ul><li><a href="/">Start</a><span> / </span></li><li><a href="/c">Home things</a>'
        '<span> / </span></li><li><a href="/c/lamps">Lamps</a></li></ul>',
        # A list without signs ends in the product's name.
        '<ul><li><a href="/">Start</a></li><li><a href="/c">Home things</a></li>'
        '<li><a href="/c/lamps">Lamps</a></li><li>Oak lamp</li></ul>',
        # A box named a path, whose first link leads to the catalogue.
        '<div class="path"><a href="/c">Home things</a> <i>/</i> <a href="/c/lamps">Lamps</a></div>',
        '<dl id="breadcrumb"><dt><a href="/">Start</a></dt><dt><a href="/c">Home things</a></dt>'
        '<dt><a href="/c/lamps">Lamps</a></dt></dl>',
        '<span class="breadcrumb"><a href="/c">Home things</a> › <a href="/c/lamps">Lamps</a></span>',
        # A link back, signs within the links, and menus within the breadcrumbs.
        '<div class="breadcrumb"><a href="/c/lamps?p=2">Return</a><a href="/">Start</a>'
        '<a href="/c">Home things</a><a href="/c/lamps">Lamps</a></div>',
        '<div class="breadcrumb"><a href="/c">Home things /</a><a href="/c/lamps">Lamps »</a></div>',
        '<ul class="breadcrumb"><li><a href="/c">Home things</a></li><li><a href="/c/lamps">Lamps</a>'
        '<ul><li><a href="/c/beds">Beds</a></li><li><a href="/c/tables">Tables</a></li></ul></li></ul>',
        # A list of entries whose names are missing, or stand for the product alone.
        '<ul itemscope itemtype="http://schema.org/BreadcrumbList">'
        '<li itemprop="itemListElement" itemscope itemtype="http://schema.org/ListItem">'
        '<a href="./c?vt=1" itemprop="item">Home things</a></li>'
        '<li itemprop="itemListElement" itemscope itemtype="http://schema.org/ListItem">'
        '<a href="./c/lamps?vt=1" itemprop="item">Lamps</a></li></ul>',
        '<ul itemscope itemtype="http://schema.org/BreadcrumbList">'
        '<li><a href="/c">Home things</a></li><li><a href="/c/lamps">Lamps</a></li>'
        '<li itemprop="itemListElement" itemscope itemtype="http://schema.org/ListItem">'
        '<span itemprop="name">Oak lamp</span></li></ul>',
    ],
)
def test_breadcrumbs_are_read_by_their_marks_signs_and_place(trail: str) -> None:
    assert found(before=trail).fields["breadcrumbs"] == ["Home things", "Lamps"]


def test_a_menu_is_no_trail_of_breadcrumbs() -> None:
    menu = '<ul><li><a href="/">Home</a></li><li><a href="/c">Lamps</a></li><li>Sale</li></ul>'
    assert "breadcrumbs" not in found(before=menu).fields


@pytest.mark.parametrize(
    ("box", "rating", "count"),
    [
        ('<span class="bv-rating"><i aria-hidden="true">4.4</i></span>', 4.4, None),
        ('<div class="rating-box">5,0</div>', 5.0, None),
        ('<div class="stars">4.8 (178)</div>', 4.8, 178),
        ('<p class="star-rating">(4.68) Average</p>', 4.68, None),
        ('<div class="stars-average">4</div>', 4.0, None),
        ('<div class="rating-count">4</div>', None, None),
        ('<div class="star-rating"><i>1/2 star</i></div>', None, None),
        ('<div class="rating">12.5</div>', None, None),
        # A product without a review has no rating.
        ('<div class="rating">0 out of 5 (0 reviews)</div>', None, 0),
        ('<div class="rating" title="Rated 0 out of 5"></div>', None, None),
    ],
)
def test_a_number_alone_in_a_box_for_the_rating_is_one(
    box: str, rating: float | None, count: int | None
) -> None:
    fields = found(behind=box).fields
    assert fields.get("rating") == rating
    assert fields.get("review_count") == count


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("NZD $100.70", "100.70", "NZD"),
        ("SGD$4.90", "4.90", "SGD"),
        ("CAN$1.23", "1.23", "CAD"),
        ("140,00 pln", "140.00", "PLN"),
        ("chf 150", "150", "CHF"),
        ("2963yen", "2963", "JPY"),
        ("KShs 1,500", "1500", "KES"),
        ("EUR $4.90", "4.90", "USD"),
    ],
)
def test_a_code_before_a_sign_or_in_small_letters_names_the_currency(
    text: str, amount: str, currency: str
) -> None:
    fields = found(price=text).fields
    assert (fields["price"], fields["currency"]) == (Decimal(amount), currency)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("Our price 344.99 - 444.99", "344.99"),
        ("34.12 (40.94 inc VAT)", "40.94"),
        ("15.08.2017", None),
    ],
)
def test_bare_amounts_in_a_box_for_prices(text: str, amount: str | None) -> None:
    assert found(price=text).fields.get("price") == (Decimal(amount) if amount else None)


def test_a_size_that_is_sold_out_is_not_the_product() -> None:
    sizes = "".join(
        f'<li class="stock"><span>{size}</span></li>'
        for size in ('30"', '32"', '38" sold out', "XL sold out")
    )
    assert found(behind=f"<ul>{sizes}</ul>").fields["availability"] == "InStock"


def test_a_product_that_is_sold_out_has_no_price_of_zero() -> None:
    fields = found(behind="<p class=stock>Sold out</p>", price="$0.00").fields
    assert fields["availability"] == "OutOfStock"
    assert "price" not in fields
    assert "currency" not in fields


def test_a_relief_that_is_not_available_is_no_stock() -> None:
    note = "<p>This product is NOT available for VAT relief</p>"
    assert found(behind=note).fields["availability"] == "InStock"


def test_a_link_that_recommends_the_product_makes_no_tile_of_its_price() -> None:
    links = (
        '<table><tr><td><a href="/p/mail/recommend/7133"><img src="/1px.gif"><b>Tell a friend</b>'
        '</a></td></tr><tr><td><div class="price"><span class="label">Price:</span>'
        "<em>$2,399.00</em></div></td></tr></table>"
    )
    page = f"<html><title>{NAME}</title><body><h1>{NAME}</h1>{links}</body></html>"
    assert extract(parse(page, URL)).offered["text"]["price"] == Decimal("2399.00")


def test_a_page_that_has_the_shops_name_alone_is_no_product() -> None:
    page = (
        '<html><head><title>Add a coupon</title><meta property="og:type" content="product">'
        '<meta property="og:title" content="Coupons.example"></head><body><h2>Add a coupon</h2>'
        "<form><button>Buy now</button></form></body></html>"
    )
    assert extract(parse(page, "https://www.coupons.example/add")).kind != "product"
    named = page.replace("Coupons.example", "Oak lamp")
    assert extract(parse(named, "https://www.coupons.example/add")).kind == "product"


def card(number: int, *, is_reduced: bool = False) -> str:
    """Return a tile of a row of other products; a reduced one has other classes."""
    name = "reduced" if is_reduced else "price"
    return (
        f'<a class="card" href="/p/{number}"><img src="/i/{number}.jpg"><b>Lamp {number}</b>'
        f'<span class="{name}">${number}.00</span></a>'
    )


def test_a_price_between_two_rows_of_tiles_is_the_products() -> None:
    rows = [f'<div class="row">{"".join(map(card, range(n, n + 4)))}</div>' for n in (11, 21)]
    own = (
        '<div class="offer"><span class="now price">$45.00</span><button>Add to cart</button></div>'
    )
    page = (
        f"<html><title>{NAME}</title><body><header><h1>{NAME}</h1></header>"
        f"<div>{rows[0]}{own}{rows[1]}</div></body></html>"
    )
    assert extract(parse(page, URL)).fields["price"] == Decimal("45.00")


def test_a_reduced_tile_within_a_row_is_another_products() -> None:
    row = f"{''.join(map(card, range(11, 15)))}{card(9, is_reduced=True)}"
    page = (
        f"<html><title>{NAME}</title><body><h1>{NAME}</h1>"
        f'<div class="row">{row}</div><button>Add to cart</button></body></html>'
    )
    assert "price" not in extract(parse(page, URL)).offered["text"]


def test_a_box_that_alone_has_a_button_is_no_tile_beside_its_neighbours() -> None:
    others = "".join(
        f'<div class="box {name}"><a href="/{name}">{name}</a> <span>${price}</span></div>'
        for name, price in (("editions", "61.00"), ("hotline", "0.14"), ("gifts", "3.90"))
    )
    own = (
        '<div class="box offer"><span class="price">$45.00</span><a href="/help">Delivery</a>'
        '<form action="/cart"><button>Add to cart</button></form></div>'
    )
    page = f"<html><title>{NAME}</title><body><h1>{NAME}</h1><div>{own}{others}</div></body></html>"
    assert extract(parse(page, URL)).fields["price"] == Decimal("45.00")


def test_the_maker_is_the_link_behind_words_in_a_box_for_it() -> None:
    box = '<p><span class="brandLink">More from <a href="/acme">Acme</a></span></p>'
    assert found(behind=box).fields["brand"] == "Acme"


@pytest.mark.parametrize(
    ("host", "kind"), [("www2.example.com", "product"), ("www.example.org", "other")]
)
def test_a_link_to_another_host_of_the_shop_leads_to_no_other_shop(host: str, kind: str) -> None:
    page = (
        f"<html><title>{NAME}</title><body><h1>{NAME}</h1><p>Seller</p><p>Since May</p>"
        f'<a rel="nofollow" href="http://{host}/edit?id=12">Edit the advertisement</a>'
        f'<p class="price">$20.00</p><p>Used <span class="brand">Acme</span></p></body></html>'
    )
    assert extract(parse(page, "https://www.example.com/p/oak-lamp")).kind == kind


@pytest.mark.parametrize("words", ["sku clean", "sku jeans", "product-sku upcoming", "sku"])
def test_a_number_is_no_barcode_by_letters_within_another_word_of_its_class(words: str) -> None:
    fields = found(behind=f'<div><span class="{words}">LMP-12</span></div>').fields
    assert (fields.get("sku"), fields.get("gtin")) == ("LMP-12", None)


@pytest.mark.parametrize("words", ["ean", "product-ean", "ean-code", "eancode", "info ean13 ean"])
def test_a_barcode_is_known_by_a_word_of_its_class(words: str) -> None:
    fields = found(behind=f'<div><span class="{words}">4006381333931</span></div>').fields
    assert fields.get("gtin") == "4006381333931"


@pytest.mark.parametrize(
    ("name", "alt"), [("Box lamp", "x"), ("Vintage linen lamp", "in"), ("Vanity lamp", "i")]
)
def test_an_icon_whose_description_stands_within_the_name_is_not_the_products_picture(
    name: str, alt: str
) -> None:
    page = (
        f'<html><head><title>{name} | Red House</title></head><body><div><img src="/i/lamp.jpg">'
        f'<h1>{name}</h1></div><div class="price">$45.00</div><button>Add to cart</button>'
        f'<p><a href="/go"><img src="/i/go.png" alt="{alt}"></a></p></body></html>'
    )
    assert extract(parse(page, URL)).fields["images"] == ["https://shop.example/i/lamp.jpg"]


def test_a_rating_of_no_review_in_structured_data_is_none() -> None:
    data = (
        '<script type="application/ld+json">{"@type": "Product", "name": "Oak lamp", "aggregateRating":'
        ' {"@type": "AggregateRating", "ratingValue": "0.0", "reviewCount": 0}}</script>'
    )
    fields = found(before=data).fields
    assert (fields.get("rating"), fields.get("review_count")) == (None, 0)


@pytest.mark.parametrize("size", ["large", " ", "5"])
def test_a_name_in_large_letters_is_read_whatever_their_size_is_called(size: str) -> None:
    page = (
        "<html><head><title>Voss, Anna The far shore of the lake</title></head><body><p><b>Voss, Anna</b>"
        f'<br><big size="{size}">The far shore of the lake</big></p><p>Price: $12.00</p>'
        "<button>Add to cart</button></body></html>"
    )
    assert extract(parse(page, URL)).fields["name"] == "The far shore of the lake"


def test_a_word_for_bids_at_the_foot_of_a_page_does_not_stand_before_its_first_line() -> None:
    page = (
        "<html><head><title>Shop</title></head><body><p>Now $20.00</p><p>In the garden</p>"
        "<p>$35.00</p><button>Buy now</button><p>A lamp</p><p>Place a bid</p></body></html>"
    )
    assert extract(parse(page, URL)).fields["price"] == Decimal("20.00")


def test_a_price_of_no_distance_is_nearer_than_any_other() -> None:
    near, far, none = (Visible(price_distance=distance) for distance in (0, 7, None))
    for signs in (near, far):
        signs.fields["price"] = Decimal(12)
    assert _is_nearer(near, far)
    assert not _is_nearer(far, near)
    assert _is_nearer(far, none)
    assert not _is_nearer(none, none)


@pytest.mark.parametrize(
    ("linked", "is_own"),
    [
        ('<a href="/p/oak-lamp-shade"><img src="/i/2.jpg" alt="Oak lamp shade"></a>', False),
        ('<a href="/p/oak-lamp?picture=2"><img src="/i/2.jpg" alt="Oak lamp, lit"></a>', True),
        ('<a href="/i/2.jpg"><img src="/i/small.jpg" alt="Oak lamp, lit"></a>', True),
        ('<img src="/i/2.jpg" alt="Oak lamp, lit">', True),
    ],
)
def test_a_picture_that_links_to_another_product_is_not_this_ones(
    linked: str, is_own: bool
) -> None:
    images = ["https://shop.example/i/lamp.jpg", *["https://shop.example/i/2.jpg"] * is_own]
    assert found(behind=linked).fields["images"] == images
