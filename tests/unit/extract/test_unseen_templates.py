"""What the parser got wrong on pages and series of templates that nobody had tried: one case a cause."""

import json
from decimal import Decimal
from typing import Any

import pytest

from crawler.extract import Found, extract, parse
from crawler.extract.money.amounts import find_prices
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.stock.behind_price import may_be_sold
from crawler.extract.visible.fact_labels import label_of

BUY = "<button>Add to cart</button>"
PRICE = "<p class=price>$40.00</p>"


def found(body: str, title: str = "Oak Lamp", data: dict[str, Any] | None = None) -> Found:
    node = {"@context": "https://schema.org", "@type": "Product", **(data or {})}
    head = f'<script type="application/ld+json">{json.dumps(node)}</script>' if data else ""
    html = f"<html lang=en><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return extract(parse(html, "https://shop.example/p/oak-lamp"))


def test_a_cyrillic_letter_before_figures_begins_a_code_and_is_no_rouble() -> None:
    assert [str(money.value) for money in find_prices("Арт. Р402, 3 310 р")] == ["3310"]
    body = "<h1>Лампа</h1><div>Арт. Р402</div><div>3 310 руб.</div><button>Купить</button>"
    fields = found(body, title="Лампа").fields
    assert (fields["price"], fields["sku"]) == (Decimal(3310), "Р402")


@pytest.mark.parametrize("label", ["OE #", "CAS #", "VIN #"])
def test_the_number_of_a_register_or_of_another_maker_is_not_the_shops(label: str) -> None:
    assert label_of(label) is None
    body = f"<h1>Oak Lamp</h1>{PRICE}{BUY}<table><tr><th>{label}</th><td>8E0-151</td></tr></table>"
    assert found(body).fields.get("sku") is None


def test_a_number_ends_before_the_stars_behind_it() -> None:
    body = f"<h1>Oak Lamp</h1><div>Code: 88103 <span>★ 4.6 (31)</span></div>{PRICE}{BUY}"
    assert found(body).fields["sku"] == "88103"


def test_the_logo_of_the_maker_is_no_picture_of_a_product_that_is_called_after_it() -> None:
    logo = '<a href="/acme/"><img src="/logos/a.png" alt="Acme"></a>'
    picture = '<img src="/lamp.jpg" alt="Acme Oak Lamp">'
    body = f"<div><h1>Acme Oak Lamp</h1>{logo}{picture}{PRICE}{BUY}</div>"
    images = found(body, title="Acme Oak Lamp").fields["images"]
    assert images == ["https://shop.example/lamp.jpg"]


def test_the_logo_of_the_shop_is_no_picture_of_a_product_that_is_called_after_it() -> None:
    logo = '<div class="header"><a href="/"><img src="/marks/a.png" alt="Acme"></a></div>'
    picture = '<img src="/lamp.jpg" alt="Picture of Acme Oak Lamp">'
    fields = found(f"{logo}<h1>Acme Oak Lamp</h1>{picture}{PRICE}{BUY}").fields
    assert fields["images"] == ["https://shop.example/lamp.jpg"]


def test_the_picture_beside_a_name_that_no_picture_has_is_not_the_logo_of_the_maker() -> None:
    logo = '<a href="/brands/acme"><img src="/marks/acme.jpg" alt="Acme"></a>'
    body = f"<div><h1>Oak Lamp</h1>{logo}<img src='/lamp.jpg' alt=''>{PRICE}{BUY}</div>"
    assert found(body).fields["images"] == ["https://shop.example/lamp.jpg"]


_OFFER = {"@type": "Offer", "price": "40", "priceCurrency": "USD", "availability": "InStock"}


def test_data_without_a_picture_leave_it_to_the_one_that_is_called_after_the_product() -> None:
    body = f'<h1>Oak Lamp</h1><img src="/lamp.jpg" alt="Oak Lamp">{PRICE}{BUY}'
    fields = found(body, data={"name": "Oak Lamp", "offers": _OFFER}).fields
    assert fields["images"] == ["https://shop.example/lamp.jpg"]


@pytest.mark.parametrize("value", ["SKU", "sku", "MPN"])
def test_the_name_of_a_property_is_no_number(value: str) -> None:
    body = f"<h1>Oak Lamp</h1><p>SKU: OL-12</p>{PRICE}{BUY}"
    fields = found(body, data={"name": "Oak Lamp", "sku": value, "offers": _OFFER}).fields
    assert fields["sku"] == "OL-12"


def test_a_box_for_the_name_behind_the_maker_is_known_in_a_title_with_both() -> None:
    body = f"""<div><span class=productBrand><a href="/acme">Acme</a></span>
      <span class=productTitle>Oak Lamp 40 W</span>{PRICE}{BUY}</div>
      <section><h3>You may also like</h3><a href="/p/shade">Shade</a><div class=price>$9.00</div>
      <a href="/p/bulb">Bulb</a><div class=price>$3.00</div></section>"""
    fields = found(body, title="Acme Oak Lamp 40 W best price today - The Lamp Corner").fields
    assert (fields["name"], fields["brand"]) == ("Oak Lamp 40 W", "Acme")
    assert fields["price"] == Decimal("40.00")


def test_a_box_is_the_name_where_the_title_has_it_behind_the_text_right_before() -> None:
    body = f"""<div><a class=a4 href="/acme">Acme</a><div class=a5>Oak Lamp</div>
      <div class=a6>$40.00</div>{BUY}<img src="/lamp.jpg" alt="Oak Lamp"></div>"""
    fields = found(body, title="Acme Oak Lamp - The House of Old and New Lamps").fields
    assert (fields["name"], fields["brand"]) == ("Oak Lamp", "Acme")
    assert fields["images"] == ["https://shop.example/lamp.jpg"]


def test_a_word_of_a_name_in_boxes_of_words_is_not_the_name() -> None:
    words = "<div>Acme</div><div>Oak</div><div>Lamp</div>"
    body = f"<div>{words}<div class=a6>$40.00</div>{BUY}</div>"
    fields = found(body, title="Acme Oak Lamp - The House of Old and New Lamps").fields
    assert fields.get("name") != "Oak"


def test_a_heading_about_other_products_names_none() -> None:
    body = f"""<div><p>Oak Lamp</p>{PRICE}{BUY}</div><section><h3>Related products</h3>
      <span>Shade</span><div class=price>$9.00</div></section>"""
    assert found(body, title="Shop").fields.get("name") != "Related products"


_INSTEAD = """<div><h3>{title}</h3><a href="/p/shade">Shade</a> <b>$9.00</b> <i>In stock</i> {buy}
  <a href="/p/bulb">Bulb</a> <b>$3.00</b> <i>In stock</i> {buy}</div>"""


@pytest.mark.parametrize("title", ["At hand instead", "What others took"])
@pytest.mark.parametrize("notice", ["", "<button>Notify me when available</button>"])
def test_what_can_be_had_instead_does_not_make_a_sold_out_product_available(
    title: str, notice: str
) -> None:
    notice = f"<div>Out of stock</div>{notice}"
    body = f"<h1>Oak Lamp</h1>{PRICE}{notice}{_INSTEAD.format(title=title, buy=BUY)}"
    assert found(body).fields["availability"] == "OutOfStock"


def test_a_heading_between_a_sold_out_choice_and_the_buy_button_does_not_part_them() -> None:
    choices = "<div>Out of stock: 40 W</div><h3>60 W</h3><p>In stock</p>"
    assert found(f"<h1>Oak Lamp</h1>{PRICE}{choices}{BUY}").fields["availability"] == "InStock"


@pytest.mark.parametrize(
    ("address", "text", "brand"),
    [
        ("/brand/12-acme", "Acme", "Acme"),
        ("/brand/acme-12", "Acme", "Acme"),
        ("/brand/acme.html", "Acme", "Acme"),
        ("/winery/acme-hills", "Acme Hills", "Acme Hills"),
        ("/brand/12-acme", "Lamps", None),
        ("/brand/12", "Acme", None),
    ],
)
def test_a_link_to_a_makers_page_may_have_the_makers_number(
    address: str, text: str, brand: str | None
) -> None:
    body = f'<div><h1>Oak Lamp</h1><p><a href="{address}">{text}</a></p>{PRICE}{BUY}</div>'
    assert found(body).fields.get("brand") == brand


@pytest.mark.parametrize(
    ("text", "brand"),
    [("Acme", "Acme"), ("All our brands", None), ("More lamps", None), ("العطار", None)],
)
def test_a_makers_page_with_a_number_only_is_called_as_its_link_in_a_box_for_brands(
    text: str, brand: str | None
) -> None:
    link = f'<p class=pbrand><a href="/brand/12">{text}</a></p>'
    body = f"<div><h1>Oak Lamp</h1>{link}{PRICE}{BUY}</div>"
    assert found(body).fields.get("brand") == brand


@pytest.mark.parametrize("words", ["maerke", "product-varumarke", "merkki"])
def test_a_class_for_the_maker_is_known_in_the_north(words: str) -> None:
    body = f"<div><h2 class={words}>Acme</h2><h1>Oak Lamp</h1>{PRICE}{BUY}</div>"
    assert found(body, title="Acme Oak Lamp").fields["brand"] == "Acme"


@pytest.mark.parametrize(
    "words", ["Pyydä tarjous", "Indhent tilbud", "Be om tilbud", "Zapytaj o ofertę"]
)
def test_an_offer_on_request_makes_a_product_without_a_price(words: str) -> None:
    body = f"<h1>Oak Lamp</h1><p>Item no.: OL-12</p><p>EAN: 4006381333931</p><p>{words}</p>"
    result = found(body)
    assert result.kind == "product"
    assert "price" not in result.fields


def test_just_short_texts_and_first_statements_may_say_sold() -> None:
    assert may_be_sold("Sold - ask me for another one of this kind")
    assert not may_be_sold("Sold by the piece or in boxes of a dozen")


@pytest.mark.parametrize(
    ("title", "box"),
    [
        ("Shop Lamps and Chairs at Home", "<span class=item-title>Lamps</span>"),
        ("Table and Chair Warehouse", "<span class=item-name>Chair</span>"),
        ("Acme Lamp - The House", "<table><tr><td>Acme</td><td>Lamp</td></tr></table>"),
    ],
)
def test_words_of_the_shops_title_in_other_boxes_do_not_outdo_a_main_heading(
    title: str, box: str
) -> None:
    fields = found(f"<div>{box}</div><h1>Nordlys 40</h1>{PRICE}{BUY}", title=title).fields
    assert fields["name"] == "Nordlys 40"


def test_words_of_the_title_in_one_line_are_no_maker_and_name() -> None:
    line = "<div><span>Copper</span> <span>Kettle</span></div>"
    fields = found(f"{line}{PRICE}{BUY}", title="Copper Kettle | The Store").fields
    assert (fields.get("name"), fields.get("brand")) == ("Copper Kettle", None)


def test_a_part_of_a_word_of_the_title_is_no_name() -> None:
    boxes = "<div class=product-title>Lamp</div><div class=product-name>Oak Shade 12</div>"
    result = found(f"{boxes}{PRICE}{BUY}", title="Buy lampshades like Oak Shade 12 online")
    assert result.fields["name"] == "Oak Shade 12"


def test_a_link_between_two_offers_does_not_make_the_one_with_the_price_sold_out() -> None:
    shop = "<h4>In the shop</h4><p>Out of stock</p>"
    online = '<h4>Online</h4><a href="/shipping">plus shipping</a><p>In stock</p>'
    fields = found(f"<h1>Oak Lamp</h1>{PRICE}{shop}{online}{BUY}").fields
    assert fields["availability"] == "InStock"


@pytest.mark.parametrize(
    "image",
    [
        '<img src="/ico/c.png" alt="Cart">',
        '<a href="/"><img src="/corner.png" alt="Lamp"></a>',
        '<img src="/bag.svg" alt="Art Lamp">',
        '<a href="/c/art-lamp"><img src="/all.jpg" alt="Art Lamp"></a>',
        '<div><img src="/shade.jpg" alt="Art Lamp Shade"><a href="/p/shade">Art Lamp Shade</a></div>',
    ],
)
def test_data_without_a_picture_take_none_of_the_frame_or_of_a_tile(image: str) -> None:
    for name in ("Art", "Art Lamp"):
        body = f"<header>{image}</header><h1>{name}</h1>{PRICE}{BUY}"
        fields = found(body, title=name, data={"name": name, "offers": _OFFER}).fields
        assert not fields.get("images")


@pytest.mark.parametrize("href", ["/img/brand/big.jpg", "/brand/zoom.php?id=3", "/verlag/oak-lamp"])
def test_a_link_to_a_makers_folder_makes_no_logo_of_a_picture(href: str) -> None:
    picture = f'<a href="{href}"><img src="/img/lamp.jpg" alt="Cover"></a>'
    assert found(f"<div><h1>Oak Lamp</h1>{picture}{PRICE}{BUY}</div>").fields["images"]


@pytest.mark.parametrize(
    ("href", "text"),
    [("/bodega/reds", "Reds"), ("/cantina/reds", "Reds"), ("/brands/all.html", "All")],
)
def test_a_link_to_an_aisle_or_to_all_makers_names_none(href: str, text: str) -> None:
    body = f'<div><p><a href="{href}">{text}</a></p><h1>Oak Lamp</h1>{PRICE}{BUY}</div>'
    assert found(body).fields.get("brand") is None


@pytest.mark.parametrize("words", ["energi-maerke", "miljo-maerke", "energia-merkki"])
def test_a_label_of_the_north_is_no_maker(words: str) -> None:
    label = f"<div class={words}>Svanen</div>"
    assert found(f"<div><h1>Oak Lamp</h1>{label}{PRICE}{BUY}</div>").fields.get("brand") is None


@pytest.mark.parametrize("text", ["Р 1 500", "р 1 500", "Цена Р 1 500"])
def test_a_cyrillic_letter_and_a_blank_before_figures_are_roubles(text: str) -> None:
    assert [(str(m.value), m.currency) for m in find_prices(text)] == [("1500", "RUB")]


def test_an_amount_is_no_number() -> None:
    body = f"<h1>Oak Lamp</h1><table><tr><td>Code</td><td>12,50 €</td></tr></table>{BUY}"
    assert found(body).fields.get("sku") is None


@pytest.mark.parametrize(
    "buy",
    [BUY, "<form><input type=submit value='Add to cart'></form>", "<a href=/cart>Buy now</a>"],
)
@pytest.mark.parametrize(
    "ask", ['<a href="/b2b">Request a quote</a>', "<p>Request a quote for a great many of them</p>"]
)
def test_an_offer_for_many_pieces_does_not_take_the_price_of_one(ask: str, buy: str) -> None:
    """In front of the price such a button took it from each page of a shop."""
    fields = found(f"<h1>Oak Lamp</h1><div>{ask}<div>$40.00</div>{buy}</div>").fields
    assert (fields.get("price"), fields.get("availability")) == (Decimal(40), "InStock")


def test_what_stands_behind_a_request_for_a_price_and_a_heading_or_link_costs_something_else() -> (
    None
):
    ask, price = '<a href="/b2b">Request a quote</a>', "<div>$40.00</div>"
    asks = f"<h1>Oak Lamp</h1><p>Item no.: OL-12</p>{ask}"
    other = f"<a href='/p/shade'>Shade</a><div>$9.00</div>{BUY}"
    assert "price" not in found(f"{asks}{other}").fields
    assert "price" not in found(f"{asks}<h3>Good with it</h3>{other}").fields
    assert "price" not in found(f"<h1>Oak Lamp</h1><p>Price on request</p>{price}{BUY}").fields


@pytest.mark.parametrize("value", ["12 × 40", "A100 ® Pro"])
def test_a_sign_within_a_number_does_not_end_it(value: str) -> None:
    body = f"<h1>Oak Lamp</h1><p>Item no.: {value}</p>{PRICE}{BUY}"
    assert found(body).fields.get("sku") in {value, None}


@pytest.mark.parametrize("words", ["brand-menu", "brands"])
def test_a_numbered_link_in_a_menu_of_brands_names_no_maker(words: str) -> None:
    link = f'<p class={words}><a href="/brand/12">Lamps</a></p>'
    assert found(f"<div><h1>Oak Lamp</h1>{link}{PRICE}{BUY}</div>").fields.get("brand") is None


def test_a_label_in_the_box_of_the_amount_before_it_is_not_about_the_next_amount() -> None:
    """A net amount was taken, because the price was called the one before the reduction."""
    old = "<div><del>$50.00</del><span>Regular price</span></div>"
    body = f"<h1>Oak Lamp</h1><div>{old}<strong>$40.00</strong><p>$33.33 net</p></div>{BUY}"
    fields = found(body).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(40), Decimal(50))


@pytest.mark.parametrize("label", ["Prix cour.", "Normaal", "Price"])
def test_a_higher_amount_behind_any_word_and_right_before_a_lower_one_is_the_regular_price(
    label: str,
) -> None:
    fields = found(f"<h1>Oak Lamp</h1><p>{label} $50.00 <b>$40.00</b></p>{BUY}").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(40), Decimal(50))


@pytest.mark.parametrize("text", ["CAS 9012-36-6 MDL", "Tel. 0-800-555 EUR"])
def test_the_last_of_three_numbers_with_hyphens_is_no_amount(text: str) -> None:
    assert list(find_prices(text)) == []
    assert [str(money.value) for money in find_prices("10-20 €")] == ["10", "20"]


@pytest.mark.parametrize(
    ("lang", "text"), [("es", "Estado: Disponible bajo pedido"), ("es", "Sobre pedido: 4 semanas")]
)
def test_an_order_for_later_is_read_behind_the_label_of_a_state(lang: str, text: str) -> None:
    html = f"<html lang={lang}><h1>Oak Lamp</h1>{PRICE}<p>{text}</p><button>Comprar</button></html>"
    assert extract(parse(html, "https://shop.example/p/x")).fields["availability"] == "BackOrder"


@pytest.mark.parametrize("sold", ["<button disabled>Sold out</button>", "<p>Out of stock</p>"])
def test_a_sold_product_above_the_tiles_of_others_is_no_listing(sold: str) -> None:
    tiles = "".join(f'<div><a href="/p/{n}">Lamp {n}</a> <b>$3{n}.00</b></div>' for n in range(4))
    html = f"<html><title>Oak Lamp</title><body><h1>Oak Lamp</h1><p>$40.00</p>{sold}{tiles}</body>"
    page = extract(parse(html, "https://shop.example/shop/oak-lamp"))
    assert (page.kind, page.fields.get("availability")) == ("product", "OutOfStock")
    first = f'<div><a href="/p/9">Lamp 9</a> <b>$9.00</b> {sold}</div>'
    listing = f"<html><title>Lamps</title><body><h1>Lamps</h1>{first}{tiles}</body>"
    assert extract(parse(listing, "https://shop.example/shop/lamps")).kind == "listing"


@pytest.mark.parametrize(
    ("rated", "rating", "count"),
    [
        ("<p>4.3 120 reviews</p>", 4.3, 120),
        ("<div>4.6</div><span>120 ratings</span>", 4.6, 120),
        ("<p>★ 3,6 (120)</p>", 3.6, 120),
        ("<p>4.5 kg</p><p>12 reviews</p>", None, 12),
        ("<p>Size 4.5 (12)</p>", None, None),
        ("<p>0.5 12 reviews</p>", None, 12),
    ],
)
def test_stars_are_read_beside_the_number_of_reviews_without_a_class(
    rated: str, rating: float | None, count: int | None
) -> None:
    fields = found(f"<h1>Oak Lamp</h1>{rated}{PRICE}{BUY}").fields
    assert (fields.get("rating"), fields.get("review_count")) == (rating, count)


@pytest.mark.parametrize("label", ["Brouwerij", "Winery", "Pivovar", "Destillerie"])
def test_who_brews_or_distils_a_product_is_its_maker(label: str) -> None:
    assert found(f"<h1>Oak Ale</h1><p>{label}: Acme</p>{PRICE}{BUY}").fields["brand"] == "Acme"


def test_facts_between_east_asian_signs_are_apart() -> None:
    body = f"<h1>Oak Lamp</h1>{PRICE}{BUY}<p>材質：鋁合金／產地：台灣／國際條碼：4006381333931</p>"
    assert found(body).fields["gtin"] == "4006381333931"


def test_the_number_to_order_by_is_the_shops() -> None:
    assert found(f"<h1>Oak Lamp</h1><p>Order # VH-257</p>{PRICE}{BUY}").fields["sku"] == "VH-257"


def test_the_picture_of_another_product_of_the_same_name_is_not_preferred() -> None:
    other = '<div><a href="/r/9"><img src="/other.jpg" alt="Oak Lamp">Oak Lamp</a> $9.00</div>'
    body = f"<div><img src='/own.jpg' alt='front'><h1>Oak Lamp</h1>{PRICE}{BUY}</div>{other}"
    assert found(body).fields["images"][0] == "https://shop.example/own.jpg"


@pytest.mark.parametrize(
    "steps",
    [
        "<div>{}<svg></svg>{}<svg></svg>{}</div><h1>Oak Lamp</h1>",
        "<div>{} &gt; {} &gt; {}<br><h1>Oak Lamp</h1></div>",
        "<div>{} ＞ {} ＞ {}</div><h1>Oak Lamp</h1>",
    ],
)
def test_breadcrumbs_without_a_class_are_known_by_the_signs_between_them(steps: str) -> None:
    links = [f'<a href="{url}">{text}</a>' for url, text in zip(("/", "/a", "/b"), ("Home", "Light", "Lamps"), strict=True)]  # fmt: skip
    assert found(f"{steps.format(*links)}{PRICE}{BUY}").fields["breadcrumbs"] == ["Light", "Lamps"]
    menu = f"<ul>{''.join(f'<li>{link}<svg></svg></li>' for link in links)}</ul><h1>Oak Lamp</h1>"
    assert "breadcrumbs" not in found(f"{menu}{PRICE}{BUY}").fields


@pytest.mark.parametrize(
    "row",
    [
        "<span>SKU</span><span>: </span><span>ES-123</span>",
        "<span class=label>SKU</span><span class=sep>: </span><span class=value>ES-123</span>",
    ],
)
def test_a_number_is_read_behind_a_colon_in_an_element_of_its_own(row: str) -> None:
    body = f"<h1>Oak Lamp</h1><div>{row}</div>{PRICE}{BUY}<p>Model number: DR-90</p>"
    assert found(body).fields["sku"] == "ES-123"


def test_the_make_of_a_vehicle_in_a_table_with_years_is_no_maker() -> None:
    heads = "<tr><th>Year</th><th>Make</th><th>Model</th></tr>"
    fits = f"<table>{heads}<tr><td>2015</td><td>Ford</td><td>F-150</td></tr></table>"
    brand = '<h2 class="maker"><a href="/b">Acme</a></h2>'
    assert found(f"{brand}<h1>Oak Lamp</h1>{PRICE}{BUY}{fits}").fields["brand"] == "Acme"


def test_a_bare_number_in_a_box_for_the_stock_is_no_price() -> None:
    stock = '<span>In stock</span><p class="availability-amount">(&gt;5 pcs)</p>'
    body = f"<h1>Oak Lamp</h1>{stock}<div class=price>$40.00 $33.33 excl. tax</div>{BUY}"
    assert found(body).fields["price"] == Decimal(40)


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("0 stk på lager", "OutOfStock"),
        ("Rendelésre, 3-4 hét", "BackOrder"),
        ("Víno je vyprodané", "OutOfStock"),
    ],
)
def test_words_for_the_stock_of_more_languages(text: str, stock: str) -> None:
    assert availability_of_text(text) == stock


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("Price after $50 cashback", None),
        ("Shipping from $50.00", None),
        ("$50.00/month", Decimal(50)),
        ("Price: $50.00 with discount", Decimal(50)),
    ],
)
def test_an_amount_behind_words_that_call_it_another_one_is_never_the_price(
    text: str, price: Decimal | None
) -> None:
    """A page whose price stood as a bare number took the cashback, and was certain of it."""
    fields = found(f"<h1>Oak Lamp</h1><p>Item no.: OL-12</p><p>{text}</p>{BUY}").fields
    assert fields.get("price") == price


def test_a_box_for_prices_in_the_plural_holds_a_bare_price() -> None:
    html = "<html lang=nl><h1>Oak Lamp</h1><div class=prijzen><b>488,90</b></div><button>Bestellen</button></html>"
    page = extract(parse(html, "https://shop.example.nl/p/oak-lamp"))
    assert page.fields["price"] == Decimal("488.90")


def test_the_sum_of_a_pack_gives_way_to_the_price_of_the_unit_by_which_it_is_sold() -> None:
    unit, pack = "€ 22.50 / m²", "<p>1 pack = 1.44 m² = € 32.40</p>"
    total = "<p>Your choice: <b>€ 32.40</b></p>"
    body = f"<h1>Oak tile</h1><div class=price>{unit}</div>{pack}{total}{BUY}"
    assert found(body).fields["price"] == Decimal("22.50")
    body = f"<h1>Oak tile</h1><div class=price>€ 32.40</div><p>{unit}</p>{pack}{BUY}"
    assert found(body).fields["price"] == Decimal("32.40")
