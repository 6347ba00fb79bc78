"""Pages with the prices of a shop's levels of membership, its name as a product's, or signs below."""

from decimal import Decimal

import pytest

from tests.unit.extract.bodies import BUY, H1, found

DATA = """<div itemscope itemtype="http://schema.org/Product"><meta itemprop="name" content="Red Lamp">
<div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><meta itemprop="price"
content="4.07"><meta itemprop="priceCurrency" content="USD"></div></div>"""


def _rows(*labels: str) -> str:
    prices = ("3.95", "3.83", "3.71")
    rows = (
        f"<li><b>{label}</b><p class=price>US ${price}</p></li>"
        for label, price in zip(labels, prices, strict=True)
    )
    return f"<li><b>Price:</b><s>US $4.07</s></li>{''.join(rows)}"


@pytest.mark.parametrize(
    "labels",
    [
        ("Bronze Price:", "Silver Price:", "Gold Price:"),
        ("Member price", "VIP price", "Club price"),
    ],
)
def test_the_struck_price_above_those_of_membership_levels_stays_that_of_the_data(labels):
    fields = found(f"{H1}<ul>{_rows(*labels)}</ul>{BUY}{DATA}").fields
    assert fields["price"] == Decimal("4.07")
    assert "regular_price" not in fields


@pytest.mark.parametrize(
    "labels",
    [
        ("Our price:", "Red:", "Blue:"),
        ("1 piece", "10 pieces", "50 pieces"),
        ("Online price:", "Store price:", "Cash price:"),
    ],
)
def test_lower_amounts_that_are_no_levels_are_prices_after_a_reduction(labels):
    fields = found(f"{H1}<ul>{_rows(*labels)}</ul>{BUY}").fields
    assert fields["price"] == Decimal("3.95")
    assert fields["regular_price"] == Decimal("4.07")


@pytest.mark.parametrize("beside", ["Choose your size", "Buy now"])
def test_a_product_that_its_site_is_named_after_keeps_its_heading(beside):
    head, url = "<title>River Cakes</title>", "https://rivercakes.example/buy"
    price = f"<div><h1>{beside}</h1><p class=price>$24.00</p>{BUY}</div>"
    body = f"<h1>River Cakes Box</h1><p>Baked daily.</p>{price}"
    assert found(body, head, url).fields["name"] == "River Cakes Box"


@pytest.mark.parametrize(
    "price", ["<p class=prise><b>870</b><br>руб</p>", "<div><div>870</div><div>€</div></div>"]
)
def test_a_number_whose_currency_stands_below_it_in_its_box_is_an_amount(price):
    assert found(f"{H1}{price}{BUY}").fields["price"] == Decimal(870)


def test_a_number_and_the_currency_of_another_box_are_no_amount():
    body = f"{H1}<div><div>870</div></div><div><p><span>€</span></p></div>{BUY}"
    assert "price" not in found(body).fields


@pytest.mark.parametrize(
    "body",
    [
        "<p>Made in<br>2014<br>EUR</p>",
        "<ul><li>10</li><li>$</li><li>€</li></ul>",
        "<table><tr><td>42</td><td>$</td><td>90</td></tr></table>",
    ],
)
def test_a_number_and_a_currency_beside_other_texts_of_their_box_are_no_amount(body):
    assert "price" not in found(f"{H1}{body}{BUY}").fields


@pytest.mark.parametrize("rows", [("Gold price:",), ("Gold price:", "Silver price:")])
def test_prices_by_material_are_prices(rows):
    prices = "".join(
        f"<li><b>{n}</b><p class=price>US ${n.count('G') * 9 + 3}.00</p></li>" for n in rows
    )
    assert found(f"{H1}<ul>{prices}</ul>{BUY}").fields["price"] == Decimal(12)


@pytest.mark.parametrize(
    ("lang", "members"),
    [
        ("en", "Prime members: {}"),
        ("pt", "Preço de membro: {}"),
        ("id", "Harga member {}"),
        ("fi", "Jäsenhinta {}"),
    ],
)
def test_what_members_pay_is_not_the_price_in_whose_line_it_stands_first(lang, members):
    line = members.format("1.214,00 €" if lang != "en" else "€1,214.00")
    price = "1.234,00 €" if lang != "en" else "€1,234.00"
    body = f"<h1>Nova X200</h1><p>{line}</p><div>{price}</div><button>Add to cart</button>"
    assert found(body, lang=lang).fields["price"] == Decimal("1234.00")
