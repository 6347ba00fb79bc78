"""Remarks about a product's price and stock: its tax, another currency, what cannot be ordered."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from tests.unit.extract.bodies import BUY, H1, URL, found

PRICE = "<p class=price>$40.00</p>"


@pytest.mark.parametrize(
    ("net", "gross"),
    [
        ("excl. VAT", "incl. VAT"),
        ("excl. VAT | each", "incl. 8.1% VAT"),
        ("exkl. MwSt. | pro Stück", "inkl. 8.1% MwSt."),
    ],
)
def test_a_net_price_with_its_remark_below_gives_way_to_the_one_with_tax(
    net: str, gross: str
) -> None:
    amounts = f"<div>€9.85</div><div>{net}</div><div>€10.65 {gross}</div>"
    assert found(f"{H1}{amounts}{BUY}").fields["price"] == Decimal("10.65")


def test_a_remark_below_two_amounts_makes_none_of_them_net() -> None:
    amounts = "<span>€100.00</span><span class=x>€119.00</span><p>incl. VAT</p>"
    assert found(f"{H1}<div>{amounts}</div>{BUY}").fields["price"] == Decimal("100.00")


def test_a_conversion_behind_a_sign_in_a_box_of_its_own_is_no_price() -> None:
    amounts = (
        "<div class=details-price><div class=details-price-wrapper><del>22,00 лв.</del>"
        "<span class=price-new>17,60 лв.</span> <span class=eur>/ 9,00 €</span></div></div>"
    )
    read = found(f"{H1}<div>by <a href=/x>Acme</a></div>{amounts}{BUY}").fields
    assert (read["price"], read["currency"]) == (Decimal("17.60"), "BGN")
    assert read["regular_price"] == Decimal("22.00")


def test_what_is_out_of_stock_without_a_button_cannot_be_ordered() -> None:
    facts = "<dl><dt>Availability:</dt><dd>Special order, 4-6 weeks</dd>{}</dl>"
    gift = "<dt>Gift wrapping:</dt><dd>Options available</dd>"
    sold = "<p>Out of stock</p><input type=submit value='Sold out' disabled>"
    for rows in (facts.format(""), facts.format(gift)):
        assert found(f"{H1}{PRICE}{rows}{sold}").fields["availability"] == "OutOfStock"
        assert found(f"{H1}{PRICE}{rows}{BUY}").fields["availability"] == "BackOrder"


@pytest.mark.parametrize("path", ["", "/topic/14112/leak"])
def test_a_thread_of_a_forum_is_no_product(path: str) -> None:
    post = (
        "<h1>Leak</h1><div>I paid £59 inc VAT, in stock next day. Fine.</div><button>Reply</button>"
    )
    body = post if path else f"<div class=forum-topic-page>{post}</div>"
    assert found(body, url=f"https://a.example{path or '/p/leak'}").kind == "other"


def test_a_reduction_right_behind_an_amounts_sign_is_no_amount() -> None:
    price = "<div><s>17,70€</s><span>15,93€</span><span>10%</span></div>"
    assert found(f"{H1}{price}{BUY}").fields["price"] == Decimal("15.93")


@pytest.mark.parametrize(("words", "lang"), [("statt", "de"), ("Før", "nb"), ("was", "en")])
def test_the_price_before_stands_above_the_heading(words: str, lang: str) -> None:
    body = "<div><div class=x>{} 28,50 €</div>{}</div><p class=price>23,90 €</p>{}"
    read = found(body.format(words, H1, BUY), lang=lang).fields
    assert (read["price"], read["regular_price"]) == (Decimal("23.90"), Decimal("28.50"))
    assert "regular_price" not in found(body.format("from", H1, BUY)).fields
    postage = body.replace("28,50 €", "28,50 € Versand")
    assert "regular_price" not in found(postage.format("statt", H1, BUY), lang="de").fields


def test_an_amount_in_a_box_called_before_is_the_price_before() -> None:
    price = "<div class=price><span class=before>219,95</span><span>179,95 kr.</span></div>"
    read = found(f"{H1}{price}{BUY}", lang="da").fields
    assert (read["price"], read["regular_price"]) == (Decimal("179.95"), Decimal("219.95"))


def test_a_yen_sign_is_read_in_a_japanese_page_of_ascii_alone() -> None:
    meta = '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">'
    page = f"<html><head>{meta}</head><body>{H1}<b>\\4,180</b> (tax in){BUY}</body></html>"
    read = extract(parse(page.encode("ascii"), URL, "text/html")).fields
    assert (read["price"], read["currency"]) == (Decimal("4180"), "JPY")


def test_what_may_be_sold_out_is_a_rule_and_not_the_products_stock() -> None:
    rule = "<p>Items sold out online may be available in store.</p>"
    assert found(f"{H1}{PRICE}{rule}{BUY}").fields["availability"] == "InStock"
