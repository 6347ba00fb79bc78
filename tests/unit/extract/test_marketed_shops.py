"""What shop systems write around a product: net prices, steps of filters, codes, instalments."""

from decimal import Decimal

import pytest

from tests.unit.extract.bodies import BUY, H1, found

TILE = (
    "<li class=item><a href=/p/lamp-{0}><img src={0}.jpg></a><a href=/p/lamp-{0}>Lamp {0}</a>"
    "<p>Item no. 45671{0}</p><b class=price>$1{0}.50</b><button>Add to cart</button></li>"
)


def tags(price: str, currency: str) -> str:
    """The meta elements of a product with a price."""
    return (
        "<meta property=og:type content=product>"
        f"<meta property=product:price:amount content={price}>"
        f"<meta property=product:price:currency content={currency}>"
    )


@pytest.mark.parametrize("box_class", ["price", "sc-1f"])
def test_the_only_price_of_a_shop_for_firms_is_net(box_class: str) -> None:
    postage = "<p>Shipping: €6.90 up to 31 kg, bulky goods €39.00. Free from €150.00 on.</p>"
    fields = found(f"{H1}<div class={box_class}>€249.00 excl. VAT</div>{BUY}{postage}").fields
    assert fields["price"] == Decimal("249.00")


def test_a_net_price_is_not_preferred_to_one_with_tax_outside_of_boxes() -> None:
    net = "<div class=price>€100.00 excl. VAT</div>"
    fields = found(f"{H1}<p>€125.50 incl. VAT</p>{net}{BUY}").fields
    assert fields["price"] == Decimal("125.50")


def test_a_reduced_net_price_has_the_struck_price_before() -> None:
    price = "<div class=price><del>€299.00</del> €249.00 excl. VAT</div>"
    fields = found(f"{H1}{price}{BUY}<p>Shipping from €6.90 to €39.00.</p>").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("249.00"), Decimal("299.00"))


def test_a_range_from_0_is_a_step_of_a_filter() -> None:
    facet = "<div>By price: $0 - $49.99 (12)</div>"
    page = found(f"<h1>Lamps</h1>{facet}<ul>{''.join(map(TILE.format, '123'))}</ul>")
    assert page.kind == "listing"


def test_the_same_button_in_each_of_three_tiles_buys_no_product_of_the_page() -> None:
    page = found(f"<h1>Lamps</h1><ul>{''.join(map(TILE.format, '123'))}</ul><p>In stock</p>")
    assert page.kind == "listing"


def test_a_box_of_the_full_name_is_no_brand_s_though_its_class_says_so() -> None:
    name = "<h1 class=productNameContainer><span class=productBrand>Red Lamp 40</span></h1>"
    body = f"{name}<p>Brand: <a href=/acme>Acme</a></p><p class=price>$40.00</p>{BUY}"
    assert found(body).fields["brand"] == "Acme"
    assert "brand" not in found(f"{name}<p class=price>$40.00</p>{BUY}").fields


def test_a_brand_in_a_part_of_the_heading_is_read() -> None:
    name = "<h1><span class=product-brand>Acme</span> <span>Red Lamp 40</span></h1>"
    assert found(f"{name}<p class=price>$40.00</p>{BUY}").fields["brand"] == "Acme"


def test_a_code_in_brackets_in_its_own_box_is_the_number() -> None:
    code = "<p><span>Stock code</span> <span>(KM-5)</span></p><p>(9 reviews)</p>"
    assert found(f"{H1}{code}<p class=price>$40.00</p>{BUY}").fields["sku"] == "KM-5"


def test_a_part_of_a_line_may_be_a_label_and_a_number() -> None:
    line = "<div><small>Tax included</small><span>Ref. BOL-B</span></div>"
    assert found(f"{H1}<p class=price>$40.00</p>{line}{BUY}").fields["sku"] == "BOL-B"


def test_a_tile_of_a_product_with_a_shorter_name_is_no_maker_s_logo() -> None:
    tile = "<a href=/products/red-lamp><img src=1.jpg alt='Red Lamp'></a><b class=price>$9.00</b>"
    body = f"<h1>Red Lamp 350 ml</h1><p class=price>$40.00</p>{BUY}<div>{tile}</div>"
    assert "brand" not in found(body).fields


def test_a_payment_and_the_sum_of_instalments_are_no_reduction_of_the_price() -> None:
    rows = "<tr><td>3</td><td>$153.00</td><td>$481.95</td></tr>"
    rows += "<tr><td>6</td><td>$76.50</td><td>$504.90</td></tr>"
    head = "<tr><th>Payments</th><th>Each</th><th>Sum</th></tr>"
    body = f"{H1}<p class=price>$459.00</p>{BUY}<p>Sent today</p><table>{head}{rows}</table>"
    assert "regular_price" not in found(body).fields


def test_the_heading_of_a_menu_is_no_buy_button() -> None:
    dishes = "".join(f"<h3>Dish {n}</h3><p>${n}.50</p>" for n in (9, 14, 4))
    assert found(f"<h1>Order online</h1><h2>Breakfast</h2>{dishes}").kind != "product"


@pytest.mark.parametrize(
    ("url", "shown", "tagged", "price"),
    [
        ("https://a.example/p/lamp", "1 024,00 €", "USD", ("1024.00", "EUR")),
        ("https://a.com.au/p/lamp", "$1,024.00", "USD", ("1024.00", "AUD")),
        # The dollar sign alone does not say whose dollar it is.
        ("https://a.example/p/lamp", "$1,024.00", "CAD", ("1110.50", "CAD")),
    ],
)
def test_meta_elements_may_have_another_visitor_s_currency(
    url: str, shown: str, tagged: str, price: tuple[str, str]
) -> None:
    body = f"{H1}<p class=price>{shown}</p>{BUY}"
    fields = found(body, head=tags("1110.50", tagged), url=url).fields
    assert (f"{fields['price']:.2f}", fields["currency"]) == price


@pytest.mark.parametrize(
    ("lang", "heading"),
    [("de", '1 Ergebnis für "laser"'), ("en", "Search results for: lamp"), ("sv", "Sökresultat")],
)
def test_the_only_result_of_a_search_is_no_product_of_the_page(lang: str, heading: str) -> None:
    page = found(f"<h1>{heading}</h1><div>{TILE.format(1)}</div><p>In stock</p>", lang=lang)
    assert page.kind == "listing"


def test_the_sum_from_which_postage_is_free_is_no_price_though_a_box_is_called_one() -> None:
    postage = "<p class=price_txt>Postage is $4.00, from $100.00 free. Pick-up is free.</p>"
    body = f"{H1}<div class=price>Price on request</div><p>SKU: DK-9</p>{postage}"
    assert "price" not in found(body).fields
    fields = found(f"{H1}<p class=price>$14.50/m2</p>{BUY}{postage}").fields
    assert fields["price"] == Decimal("14.50")


def test_the_brand_behind_its_label_may_be_a_picture() -> None:
    logo = "<a href=/info/7/><img src=7.png alt=Grohe></a>"
    label = f"<div><b class=title>Brand:</b> {logo}</div>"
    assert found(f"{H1}{label}<p class=price>$40.00</p>{BUY}").fields["brand"] == "Grohe"
    unnamed = label.replace(" alt=Grohe", "")
    assert "brand" not in found(f"{H1}{unnamed}<p class=price>$40.00</p>{BUY}").fields


def test_the_brand_s_label_may_stand_in_a_further_box() -> None:
    label = "<div><b><span>Brand:</span></b> <a href=/info/7/><img src=7.png alt=Grohe></a></div>"
    assert found(f"{H1}{label}<p class=price>$40.00</p>{BUY}").fields["brand"] == "Grohe"


def test_meta_elements_have_a_price_of_0_where_the_shop_gives_it_on_request() -> None:
    box = "<p class=price>Price on request</p><p>SKU: DK-9</p>"
    assert "price" not in found(f"{H1}{box}", head=tags("0", "USD")).fields


def test_three_numbers_in_boxes_of_one_row_are_three_statements() -> None:
    row = "<span>Internet # 304455661</span><span>Model # RW-D18K</span><span>SKU # 12 40</span>"
    fields = found(f"{H1}<div>{row}</div><p class=price>$40.00</p>{BUY}").fields
    assert (fields["sku"], fields["mpn"]) == ("12 40", "RW-D18K")


def test_cents_in_a_box_of_their_own_follow_thousands_too() -> None:
    price = "<div class=price><span>$</span><span>1,099</span><span>00</span></div>"
    assert found(f"{H1}{price}{BUY}").fields["price"] == Decimal("1099.00")


def test_a_brand_that_only_the_page_shows_is_read_beside_complete_structured_data() -> None:
    node = (
        '{"@type": "Product", "name": "Red Lamp", "sku": "R-1", "offers": {"@type": "Offer",'
        ' "price": "40", "priceCurrency": "USD", "availability": "InStock"}}'
    )
    head = f"<script type='application/ld+json'>{node}</script>"
    body = f"<a class=product-brand href=/x>Acme</a>{H1}<p class=price>$40.00</p>{BUY}"
    assert found(body, head=head).fields["brand"] == "Acme"


def test_a_sentence_s_amount_above_a_lone_tile_with_a_button_is_no_offer() -> None:
    tile = "<li><a href=/p/lamp-1><img src=1.jpg><h3>Lamp 1</h3></a><b class=price>$11.50</b>"
    body = f"<h1>Ideas</h1><p>A whole room for less than $900.</p><ul>{tile}{BUY}</ul>"
    page = found(body, url="https://shop.example/rooms/")
    assert page.kind != "product"


def test_the_last_breadcrumb_is_not_the_heading_of_a_page_without_one() -> None:
    trail = "<div class=breadcrumbs><a href=/>Home</a> <span>Oval Red Lamp</span></div>"
    name = f"<div class=product-title>Oval Red Lamp</div><p class=price>$40.00</p>{BUY}"
    tiles = "".join(map(TILE.format, "123"))
    body = f"{trail}<div class=sidebar>{name}</div><h2>More</h2><ul>{tiles}</ul>"
    page = found(body, head="<title>Oval Red Lamp - Shop</title>")
    assert (page.kind, page.fields["price"]) == ("product", Decimal("40.00"))


def test_a_small_heading_right_before_the_price_names_the_product() -> None:
    body = f"<font size=5>Welcome all</font><h5>Red Lamp</h5><p class=price>$40.00</p>{BUY}"
    assert found(body).fields["name"] == "Red Lamp"


def test_blanks_of_the_markup_may_surround_a_decimal_sign() -> None:
    price = "<p class=price><span>€</span> <span>74</span>\n <span>,</span>\n <span>90</span></p>"
    assert found(f"{H1}{price}{BUY}").fields["price"] == Decimal("74.90")


@pytest.mark.parametrize(
    ("lang", "heading"),
    [("sv", "Tack för din order!"), ("en", "Thank you for your order"), ("de", "Bestellübersicht")],
)
def test_the_confirmation_of_an_order_is_no_product(lang: str, heading: str) -> None:
    row = "<tr><td>Red Lamp</td><td>10-2290</td><td>219,00 €</td></tr>"
    head = "<tr><th>Article</th><th>Item no</th><th>Price</th></tr>"
    body = f"<h1>{heading}</h1><table>{head}{row}</table><p>Total 298,00 €</p>"
    assert found(body, lang=lang, url="https://shop.example/done").kind != "product"


@pytest.mark.parametrize("gap", ["", " "])
def test_a_stroke_in_place_of_cents_is_a_part_of_its_amount(gap: str) -> None:
    prices = f"<span>€349,-</span>{gap}<span>€299,- <small>Incl. btw</small></span>"
    fields = found(f"{H1}<div>{prices}</div><button>In winkelwagen</button>", lang="nl").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(299), Decimal(349))


def test_a_comparison_of_products_is_no_product() -> None:
    cells = "<th>Price</th><td>$199.00</td><td>$89.00</td>"
    buttons = f"<td>{BUY}</td><td>{BUY}</td>"
    rows = f"<tr>{cells}</tr><tr><th>SKU</th><td>L-1</td><td>L-2</td></tr><tr>{buttons}</tr>"
    body = f"<h1>Compare products</h1><table>{rows}</table>"
    assert found(body, url="https://shop.example/compare?ids=1,2").kind != "product"
