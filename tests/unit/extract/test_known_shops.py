"""Single pages in the manner of shops that the rules were not written for: evidence that a person uses."""

from __future__ import annotations

from decimal import Decimal

from crawler.extract import parse
from crawler.extract.default import extract
from crawler.extract.fields import Fields


def read(
    body: str, title: str = "Oak Lamp | Shop", url: str = "https://a.example/p/oak-lamp"
) -> Fields:
    html = f'<html lang="en"><head><title>{title}</title></head><body>{body}</body></html>'
    return extract(parse(html.encode(), url, "text/html; charset=utf-8")).fields


def test_an_amount_with_words_does_not_hide_which_of_two_before_it_was_the_price_before():
    fields = read(
        "<h1>Oak Lamp</h1><div><div>€249.00</div><div>€189.00</div><div>In your box <b>€171.00</b>"
        "</div></div><button>Add to cart</button>"
    )
    assert (fields["price"], fields["regular_price"]) == (Decimal("189.00"), Decimal("249.00"))


def test_what_holders_of_the_shops_card_pay_is_not_the_price():
    fields = read(
        '<h1>Oak Lamp</h1><div class="price">$159.00</div><div>5% off: $151.05 with Anna\'s Rewards '
        "Credit Card</div><button>Add to cart</button>"
    )
    assert fields["price"] == Decimal("159.00")
    assert "regular_price" not in fields


def test_what_is_saved_behind_the_price_before_does_not_hide_it():
    fields = read(
        '<h1>Oak Lamp</h1><p class="price">£89.99</p><p><span>Was £109.99</span><span>Save £20.00'
        "</span></p><button>Add to basket</button>"
    )
    assert (fields["price"], fields["regular_price"]) == (Decimal("89.99"), Decimal("109.99"))


def test_a_number_in_brackets_behind_the_name_that_the_address_tells_is_the_shops():
    body = (
        "<h1>Oak Lamp <span>(71862)</span></h1><p>£89.99</p><button>Add to basket</button>"
        "<table><tr><td>Model No</td><td>OL-7N</td></tr></table>"
    )
    fields = read(body, url="https://a.example/p/oak-lamp/71862")
    assert (fields["name"], fields["sku"]) == ("Oak Lamp", "71862")
    other = read(body.replace("71862", "1200mm"), url="https://a.example/p/oak-lamp/71862")
    assert (other["name"], other["sku"]) == ("Oak Lamp (1200mm)", "OL-7N")


def test_a_shops_initials_and_a_number_sign_label_its_own_number():
    fields = read(
        "<h1>Oak Lamp</h1><div>OH #OKLP5 • MFR #4147C002 |</div><p>$89.99</p><button>Add to cart</button>"
    )
    assert (fields["sku"], fields["mpn"]) == ("OKLP5", "4147C002")


def test_of_two_main_headings_that_the_title_says_in_a_row_the_first_is_the_maker():
    fields = read(
        "<div><h1>Glowy</h1><h1>Oak Table Lamp</h1><p>$89.99</p></div><button>Add to cart</button>",
        title="Buy Glowy Oak Table Lamp - Lamps | Shop",
    )
    assert (fields["name"], fields["brand"]) == ("Oak Table Lamp", "Glowy")


def test_a_picture_with_which_the_name_begins_and_that_leads_to_its_page_is_the_makers_mark():
    body = (
        '<h1>Glowy Oak Lamp</h1><a href="/c/browse/glowy"><img src="g.png" alt="Glowy"></a>'
        "<p>$89.99</p><button>Add to cart</button>"
    )
    assert read(body, title="Glowy Oak Lamp | Shop")["brand"] == "Glowy"
    assert "brand" not in read(
        body.replace('alt="Glowy"', 'alt="Seal"'), title="Glowy Oak Lamp | Shop"
    )


def test_a_box_of_a_line_that_says_no_more_than_in_stock_tells_the_stock():
    fields = read(
        "<h1>Oak Lamp</h1><p>£89.99</p><div><strong>Delivery</strong><span>In stock</span>"
        "<span>FREE on orders over £50 of all goods</span></div><button>Deliver</button>"
    )
    assert fields["availability"] == "InStock"
