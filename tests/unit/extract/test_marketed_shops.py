"""What shop systems write around a product: net prices, steps of filters, codes, instalments."""

from decimal import Decimal

from tests.unit.extract.bodies import BUY, H1, found

TILE = (
    "<li class=item><a href=/p/lamp-{0}><img src={0}.jpg></a><a href=/p/lamp-{0}>Lamp {0}</a>"
    "<p>Item no. 45671{0}</p><b class=price>$1{0}.50</b><button>Add to cart</button></li>"
)


def test_the_only_price_of_a_shop_for_firms_is_net() -> None:
    postage = "<p>Shipping: €6.90 up to 31 kg, bulky goods €39.00. Free from €150.00 on.</p>"
    fields = found(f"{H1}<div class=price>€249.00 excl. VAT</div>{BUY}{postage}").fields
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


def test_a_payment_and_the_sum_of_instalments_are_no_reduction_of_the_price() -> None:
    rows = "<tr><td>3</td><td>$153.00</td><td>$481.95</td></tr>"
    rows += "<tr><td>6</td><td>$76.50</td><td>$504.90</td></tr>"
    head = "<tr><th>Payments</th><th>Each</th><th>Sum</th></tr>"
    body = f"{H1}<p class=price>$459.00</p>{BUY}<p>Sent today</p><table>{head}{rows}</table>"
    assert "regular_price" not in found(body).fields
