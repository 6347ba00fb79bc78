"""Pages of old shops whose order forms stand apart from names, in boxes and rows of their own."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from crawler.extract.template import Book
from tests.unit.extract.bodies import BUY, H1, found


def test_an_amount_for_several_things_near_the_name_is_passed_over_for_the_box_with_the_price() -> (
    None
):
    both = "<p><span class=price>Price for both: </span><span class=price>$17.98</span></p>"
    tile = (
        "<li class=product-card><a href=/p/{0}>Lamp {0}</a> <span class=price>$3{0}.00</span></li>"
    )
    tiles = f"<ul>{''.join(map(tile.format, range(4)))}</ul>"
    steps = "".join(f"<p>Step {number}</p>" for number in range(60))
    number, row = (
        "<p>Item #601576</p>",
        "<dl class=price-box><dt>Price</dt><dd><span>$8.99</span></dd></dl>",
    )
    fields = found(f"{H1}{number}{both}{tiles}{steps}{row}{BUY}").fields
    assert fields["price"] == Decimal("8.99")


@pytest.mark.parametrize("name", ["unit_price", "unit-price", "price-per-unit"])
def test_the_price_of_a_unit_is_the_products_where_no_other_one_stands(name: str) -> None:
    fields = found(f"{H1}<span class={name}>$39.95</span>{BUY}").fields
    assert fields["price"] == Decimal("39.95")


def test_the_price_of_a_unit_stays_another_amount_beside_the_price() -> None:
    shown = "<span class=price>$39.95</span> <span class=unit-price>$3.99 / 100 g</span>"
    assert found(f"{H1}{shown}{BUY}").fields["price"] == Decimal("39.95")


def test_a_remark_stands_between_the_label_and_the_price() -> None:
    row = "<table><tr><td>UNIT PRICE:</td><td>Custom-Made! $180.00</td></tr></table>"
    assert found(f"{H1}{row}{BUY}").fields["price"] == Decimal("180.00")


def _row_of_list(button: str) -> str:
    link = '<a href="proddetail.asp?prod=JJ-200"><b>Viola-Style Bass</b></a>'
    price = "<div class=prodprice>SALE PRICE: <span class=price>$299.99</span></div>"
    return f"<table><tr><td>Product ID: JJ-200</td><td>{link}</td></tr><tr><td>{price}{button}</td>"


@pytest.mark.parametrize("button", ["<input size=2 name=quant value=1>", ""])
def test_the_only_product_of_a_category_without_a_heading_is_that_of_its_own_page(
    button: str,
) -> None:
    page = f"<html><head><title>Shop Inventory</title></head><body>{_row_of_list(button)}</body>"
    url = "https://shop.example/products.asp?cat=13"
    assert extract(parse(page.encode(), url)).kind != "product"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("sun_shades_for/acura/ilx_2016", "Sun Shades for Acura ILX 2016"),
        ("goods/7", "Photos"),
    ],
)
def test_a_heading_in_a_box_called_header_is_the_products_if_the_address_has_it(
    path: str, name: str
) -> None:
    trail = "<a href=/>Catalog</a> <a href=/sun_shades_for>Sun Shades</a>"
    title = "Sun Shades for Acura ILX 2016"
    body = f"<div class=header>{trail}<h1>{title}</h1></div><p class=price>$39.95</p>{BUY}"
    page = f"<html><head><title>{title}</title></head><body>{body}<h1>Photos</h1></body></html>"
    assert extract(parse(page.encode(), f"https://shop.example/{path}")).fields["name"] == name


def test_a_figure_without_a_sign_is_no_sure_price_on_a_page_that_writes_one() -> None:
    said = "<p class=price-break>To add for the next step ($35.00):</p><p class=price-count>2</p>"
    url = "https://shop.example/product/red-lamp"
    page = f"<html><head><title>Red Lamp</title></head><body>{H1}{said}{BUY}</body></html>"
    result = extract(parse(page.encode(), url))
    assert Book().judge("shop", result).confidence["price"] < 0.95


@pytest.mark.parametrize(("other", "source"), [("<p>Versand 4,90 €</p>", "text"), ("", "url")])
def test_a_bare_price_has_the_currency_of_the_countrys_other_amounts(
    other: str, source: str
) -> None:
    body = f"{H1}<p class=price>69,99</p>{BUY}{other}"
    page = f"<html lang=de><head><title>Red Lamp</title></head><body>{body}</body></html>"
    shown = extract(parse(page.encode(), "https://shop.example.de/red-lamp"))
    assert (shown.fields["currency"], shown.sources["currency"]) == ("EUR", source)
