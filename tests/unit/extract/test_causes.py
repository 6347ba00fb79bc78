"""What defeated the parser on shops that no rule was written for: one case a cause."""

import json
from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from crawler.extract.shop_number import in_address
from crawler.items import Product
from crawler.stores.rows import product_row

URL = "https://shop.example/p/red-lamp"


def found(body, head="", url=URL, lang="en"):
    html = f'<html lang="{lang}"><head>{head}</head><body>{body}</body></html>'
    return extract(parse(html, url))


def json_ld(**fields):
    node = {"@context": "https://schema.org", "@type": "Product", "name": "Red Lamp", **fields}
    return f'<script type="application/ld+json">{json.dumps(node)}</script>'


def offer(price="12.00", **fields):
    return {"@type": "Offer", "price": price, "priceCurrency": "EUR", **fields}


H1 = "<h1>Red Lamp</h1>"


class TestNumber:
    def test_the_number_under_a_label_goes_before_an_internal_one(self):
        page = found(f"{H1}<p>Item no: AB-12</p>", json_ld(sku="987654321", offers=offer()))
        assert page.fields["sku"] == "AB-12"
        assert page.sources["sku"] == "text"

    def test_the_key_stays_what_it_was(self):
        """A product that is known by its structured number stays the same product."""
        page = found(f"{H1}<p>Item no: AB-12</p>", json_ld(sku="987654321", offers=offer()))
        assert page.fields["external_id"] == "987654321"

    def test_a_barcode_under_a_number_label_is_no_number_of_the_shop(self):
        body = f"{H1}<p>Item no: 4006381333931</p>"
        page = found(body, json_ld(sku="AB-1", gtin13="4006381333931", offers=offer()))
        assert page.fields["sku"] == "AB-1"

    def test_the_shops_own_id_is_its_number_where_it_tells_no_other(self):
        page = found(H1, json_ld(productID="77120", offers=offer()))
        assert (page.fields["sku"], page.sources["sku"]) == ("77120", "json-ld")

    def test_a_form_carries_the_number(self):
        body = f'{H1}<b>12,00 €</b><form><input type="hidden" name="product_id" value="8812">'
        body += "<button>Add to cart</button></form>"
        assert found(body).fields["sku"] == "8812"

    def test_numbers_of_tiles_are_nobodys(self):
        tiles = "".join(f'<a data-product-id="{n}" href="/x{n}">x</a>' for n in (1234, 1235))
        page = found(f"{H1}<b>12,00 €</b><button>Add to cart</button>{tiles}")
        assert "sku" not in page.fields

    @pytest.mark.parametrize(
        "label",
        ["ASIN", "Item number", "Šifra", "Tuotenro", "Product Code", "Anzeige", "Post ID", "Mã SP"],
    )
    def test_labels_of_many_languages_are_read(self, label):
        page = found(f"{H1}<b class=price>12,00 €</b><p>{label}: AB-1234</p>")
        assert page.fields["sku"] == "AB-1234"

    @pytest.mark.parametrize(
        ("path", "number"),
        [
            ("/dp/B08N5WRWNW", "B08N5WRWNW"),
            ("/itm/334455667788", "334455667788"),
            ("/red-lamp-p-48213.html", "48213"),
            ("/red-lamp-48213", "48213"),
            ("/48213-red-lamp.html", "48213"),
            ("/shop?product_id=48213&page=2", "48213"),
            ("/blog/best-lamps-of-2026", None),
            ("/products/red-lamp", None),
            ("/products/red-lamp-2-pieces", None),
            ("/", None),
            ("/%", None),
        ],
    )
    def test_an_address_may_hold_it(self, path, number):
        assert in_address(f"https://shop.example{path}") == number

    @pytest.mark.parametrize(
        ("source", "sku"), [("url", None), ("json-ld", "1234"), ("text", "1234")]
    )
    def test_a_number_of_an_address_tells_no_products_apart(self, source, sku):
        """Twins of one barcode at two addresses are one product, which two SKUs would deny."""
        item = Product(url=URL, name="x", site_id="s", external_id="e", sku="1234")
        item.sources = {"sku": source}
        assert product_row(item, b"").sku == sku


class TestKind:
    STATE = (
        '<script type="application/json">{"products":[{"name":"Red Lamp","price":12.5,"sku":"L1"},'
        '{"name":"Blue Lamp","price":14,"sku":"L2"}]}</script>'
    )

    def test_a_listings_inline_state_is_no_product(self):
        """Its tiles' headings name the state's products; only the page's own may."""
        tiles = "".join(
            f'<div class="tile"><a href="/p/{n}"><h3>{n}</h3></a></div>'
            for n in ("Red Lamp", "Blue Lamp")
        )
        page = found(
            f"<h1>Lamps</h1>{tiles}{self.STATE}",
            "<title>Lamps | Shop</title>",
            url="https://shop.example/lamps",
        )
        assert page.kind != "product"
        assert page.fields == {}

    def test_the_state_of_the_pages_own_product_is_read(self):
        page = found(f"{H1}{self.STATE}")
        assert (page.fields["price"], page.fields["sku"]) == (Decimal("12.5"), "L1")

    def test_a_listing_with_one_products_json_ld_is_no_product(self):
        tiles = "".join(
            f'<div class="product-card"><a href="/p/{n}"><h3>Lamp {n}</h3></a>'
            f'<span class="price">{n},00 €</span></div>'
            for n in range(11, 17)
        )
        page = found(
            f"<h1>Bright rooms</h1>{tiles}",
            "<title>Bright rooms | Shop</title>" + json_ld(name="Oak Desk 80", offers=offer()),
            url="https://shop.example/rooms",
        )
        assert page.kind == "listing"

    def test_an_unavailable_product_without_price_and_button_is_one(self):
        body = f"{H1}<p>Item no: AB-12</p><p>Currently unavailable</p>"
        page = found(body)
        assert page.kind == "product", page.verdict.reasons
        assert page.fields["availability"] == "OutOfStock"
        assert "price" not in page.fields

    def test_a_category_that_is_sold_out_is_none(self):
        page = found("<h1>Lamps</h1><p>Sold out</p>", url="https://shop.example/category/lamps")
        assert page.kind != "product"

    @pytest.mark.parametrize("slug", ["password-notebook", "my-password-organiser-book"])
    def test_a_product_may_have_password_in_its_address(self, slug):
        page = found(
            f"{H1}<b>12 €</b><button>Add to cart</button>", url=f"https://s.example/{slug}"
        )
        assert page.kind == "product"

    @pytest.mark.parametrize(
        "slug", ["forgot-password", "password", "reset_password", "password-reset"]
    )
    def test_a_form_for_a_lost_password_is_none(self, slug):
        page = found("<h1>Password</h1>", url=f"https://s.example/{slug}")
        assert any("form" in reason for reason in page.verdict.reasons)


class TestAvailability:
    def test_a_price_and_a_button_that_works_mean_that_it_can_be_had(self):
        page = found(f"{H1}<button>Add to cart</button>", json_ld(offers=offer()))
        assert page.fields["availability"] == "InStock"

    def test_a_button_that_is_switched_off_means_nothing(self):
        page = found(f"{H1}<button disabled>Add to cart</button>", json_ld(offers=offer()))
        assert "availability" not in page.fields

    def test_one_variant_that_can_be_had_is_enough(self):
        variants = [
            {"@type": "Product", "name": f"Red Lamp {n}", "offers": offer(availability=stock)}
            for n, stock in (("S", "OutOfStock"), ("M", "InStock"))
        ]
        head = json_ld(hasVariant=variants).replace('"Product"', '"ProductGroup"', 1)
        assert found(H1, head).fields["availability"] == "InStock"

    def test_any_variant_of_the_state_counts(self):
        state = (
            '<script type="application/json">{"name":"Red Lamp","price":12,"variants":'
            '[{"available":false},{"available":true}]}</script>'
        )
        assert found(H1 + state).fields["availability"] == "InStock"

    def test_a_hidden_label_names_the_stock_beside_it(self):
        body = f'{H1}<b>12 €</b><span class="sr-only">Availability:</span><p>Auf Lager</p>'
        assert found(body).fields["availability"] == "InStock"


class TestPrice:
    @pytest.mark.parametrize(
        ("html", "price"),
        [
            ('<div class="price"><span>119</span>99 ₽</div>', "119.99"),
            ("<div><span>119</span>99 ₽</div>", "119.99"),
            ('<div class="price">€<span>1.119</span><sup>99</sup></div>', "1119.99"),
            ('<div class="price"><span>11</span>999 ₽</div>', "11999"),
            ('<div class="price"><b>119</b> ₽</div>', "119"),
        ],
    )
    def test_cents_in_an_element_beside_are_no_hundreds(self, html, price):
        page = found(f"{H1}{html}<button>Add to cart</button>")
        assert page.fields["price"] == Decimal(price)

    def test_text_and_meta_elements_outvote_a_stale_price(self):
        head = '<meta property="og:type" content="product">'
        head += '<meta property="product:price:amount" content="10.00">'
        head += '<meta property="product:price:currency" content="EUR">'
        head += json_ld(offers=offer("12.00"))
        page = found(f"{H1}<b class=price>10,00 €</b>", head)
        assert page.fields["price"] == Decimal("10.00")
        assert "regular_price" not in page.fields  # because the page does not show it
        page = found(f"{H1}<b class=price>10,00 €</b><p>Last year: 12.00</p>", head)
        assert page.fields["regular_price"] == Decimal("12.00")

    def test_one_other_price_alone_outvotes_nothing(self):
        head = '<meta property="og:price:amount" content="10.00">'
        page = found(f"{H1}<b class=price>12,00 €</b>", head + json_ld(offers=offer("12.00")))
        assert page.fields["price"] == Decimal("12.00")

    def test_an_amount_that_the_page_repeats_is_the_price(self):
        body = f"{H1}<p>With card 89,00 €</p><p>99,00 €</p><p>Other seller</p><p>99,00 €</p>"
        assert found(body + "<button>Add to cart</button>").fields["price"] == Decimal("99.00")

    def test_an_old_price_in_german_is_none(self):
        body = f"{H1}<p>Früher 488,90 €</p><p>399,00 €</p><button>Kaufen</button>"
        assert found(body, lang="de").fields["price"] == Decimal("399.00")


def test_a_plain_picture_beside_the_heading_is_the_products():
    body = f'<div><img src="/logo.png"></div><main><div>{H1}<img src="/a/12.jpg"></div>'
    page = found(body + "<b>12 €</b><button>Add to cart</button></main>")
    assert page.fields["images"] == ["https://shop.example/a/12.jpg"]


def test_a_key_out_of_an_address_is_readable():
    page = found(
        f"{H1}<b>12 €</b><button>Add to cart</button>", url="https://s.example/p/l%C3%A1mpa"
    )
    assert page.fields["external_id"] == "lámpa"


def test_a_choice_that_is_sold_out_is_not_the_product():
    body = f"{H1}<b class=price>12,00 €</b><ul><li>S - Sold out</li><li>M</li></ul>"
    assert found(body + "<button>Add to cart</button>").fields["availability"] == "InStock"
    gone = (
        f"{H1}<b class=price>12,00 €</b><p>Sold out (back in May)</p><button>Add to cart</button>"
    )
    assert found(gone).fields["availability"] == "OutOfStock"


def test_a_heading_that_leads_to_the_front_page_is_the_shops_name():
    body = "<h1><a href='/'>Woodshop</a></h1><h2>Red Lamp</h2><p>12,00 €</p><button>Add to cart</button>"
    assert found(body, "<title>Red Lamp | Woodshop</title>").fields["name"] == "Red Lamp"


def test_a_box_for_the_price_that_says_sold_tells_the_stock():
    page = found(f"{H1}<p class=price>Sold</p><p>Ref. 145.022</p>")
    assert (page.kind, page.fields["availability"]) == ("product", "OutOfStock")


def test_a_number_that_the_address_holds_is_the_pages_own():
    body = (
        f"{H1}<p>Currently unavailable</p><table><tr><th>Item no</th><td>884213</td></tr></table>"
    )
    assert found(body, url="https://shop.example/offer/884213-red-lamp").kind == "product"
    assert found(body, url="https://shop.example/offer/red-lamp").kind != "product"


@pytest.mark.parametrize(("now", "regular"), [("12.00", Decimal("15.5")), ("11.00", None)])
def test_the_price_before_is_read_from_the_state_of_a_page_that_shows_none(now, regular):
    """Scripts draw the page; the state is believed where its price is the one that is known."""
    held = {
        "props": {"product": {"name": "Red Lamp", "price": now, "listPrice": 15.5, "sku": "L1"}}
    }
    state = f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(held)}</script>'
    stock = "https://schema.org/InStock"
    page = found(f"{H1}{state}", json_ld(offers=offer(availability=stock)))
    assert page.fields["price"] == Decimal("12.00")
    assert page.fields.get("regular_price") == regular
