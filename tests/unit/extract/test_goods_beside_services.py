"""Goods beside services: used cars, packs, rents and dishes that one line sets apart."""

from __future__ import annotations

import pytest

from crawler.extract import Found
from tests.unit.extract.bodies import found

_SERVICE = (
    '<script type="application/ld+json">{"@type": "Service", "name": "Nova", "offers":'
    ' {"@type": "Offer", "price": "29", "priceCurrency": "USD"}}</script>'
)


def _read(body: str, path: str = "/x/nova", head: str = "") -> Found:
    return found(body, head, f"https://a.example{path}")


def test_the_days_of_readings_below_their_heading_hide_no_book() -> None:
    page = "<h1>Nova</h1><p class=price>22,00 €</p><button>Add to basket</button>{}"
    day = "<p>14.01.2027, 20:00 Uhr</p>"
    assert _read(page.format(f"<h3>Readings</h3>{day}")).kind == "product"
    assert _read(page.format(day)).kind == "other"


@pytest.mark.parametrize(
    "line", ["Sa/So 6.–7. März 2027, jeweils 10–16 Uhr", "Draw: Sun 20 Dec 2026, 20:00"]
)
def test_the_days_of_a_course_and_of_a_draw_are_events(line: str) -> None:
    page = f"<h1>Nova</h1><p class=price>22,00 €</p><p>{line}</p><input name=quantity>"
    assert _read(f"{page}<button>Add to basket</button>", "/product/nova").kind == "other"


def test_a_rent_beside_the_price_is_about_another_amount() -> None:
    page = "<h1>Piano</h1><p>Preis: 9.800 €</p><p>{}</p><button>Anfrage senden</button>"
    assert _read(page.format("Miete möglich: 65 € / Monat")).kind == "product"
    assert _read(page.format("Miete pro Monat")).kind == "other"


def test_a_button_for_a_place_in_a_class_is_no_sign_of_a_product() -> None:
    page = "<h1>Knit</h1><p class=price>£95.00</p><p>{}</p><button>Book your place</button>"
    assert _read(page.format("Evening classes, 3 hours"), "/products/knit").kind == "other"


def test_a_used_car_has_a_mileage() -> None:
    page = "<h1>Octavia</h1><p class=price>£13,495</p><p>{}</p><button>Contact dealer</button>"
    assert _read(page.format("Mileage: 54,210")).kind == "product"
    assert _read(page.format("Unlimited mileage")).kind == "other"


def test_a_price_without_tax_may_stand_alone() -> None:
    page = "<h1>Tracteur</h1><p class=prix>6 800 € HT</p><button>Contacter le vendeur</button>"
    assert _read(page).kind == "product"


def test_delivery_in_a_clause_behind_the_price_makes_it_no_postage() -> None:
    page = "<h1>Clock</h1><p>Stock no. 8812</p>"
    page += "<p>Eight day, 210 cm. Price £2,450, delivery by arrangement.</p>"
    assert _read(page).fields["price"] == 2450


@pytest.mark.parametrize(("words", "kind"), [("About 390 EUR", "other"), ("390 EUR", "product")])
def test_an_amount_that_is_about_right_is_no_price(words: str, kind: str) -> None:
    page = "<h1>Orbita 9</h1><p>Available</p><table><tr><td>Price</td><td>{}</td></tr></table>"
    assert _read(page.format(words)).kind == kind


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Pick your plan", "other"),
        ("Unsere Preise", "other"),
        ("Noleggio sci", "other"),
        ("Location kayak demi-journée", "other"),
        ("Location map of Nova", "product"),
    ],
)
def test_a_heading_of_plans_or_of_a_rental_names_no_product(heading: str, kind: str) -> None:
    page = f"<h1>{heading}</h1><p class=price>25 €</p><button>Buy now</button>"
    assert _read(page).kind == kind


def test_suppliers_with_a_button_each_are_no_product() -> None:
    entry = "<h4>Supplier {0}</h4><p>US$ 2.{0}0 - 4.80</p><button>Contact supplier</button>"
    page = "<h1>LED drivers</h1>" + entry.format(1)
    assert _read(page).kind == "product"
    assert _read(page + entry.format(2)).kind == "other"


def test_a_restaurants_dish_is_no_product_by_its_weight() -> None:
    page = "<h1>Солянка</h1><p>300 г</p><b class=price>390 ₽</b><p>Доставка: 40-60 мин</p>"
    assert _read(page).kind == "other"


def test_a_button_buys_for_an_amount() -> None:
    page = "<h1>Nova 90</h1><b class=price>£142</b><button>Buy for £142</button>"
    assert _read(page).fields["availability"] == "InStock"


@pytest.mark.parametrize("line", ["+1.91 %", "전일 대비 +1.2%"])
def test_a_price_that_rises_by_some_per_cent_is_a_quote(line: str) -> None:
    page = f"<h1>BTC/USD</h1><b class=price>$64,210</b><p>{line}</p>"
    assert _read(f"{page}<button>Buy</button>").kind == "other"
    assert _read(page.replace("+1", "-1") + "<button>Buy</button>").kind == "product"


@pytest.mark.parametrize(("deals", "kind"), [(1, "other"), (3, "product")])
def test_one_link_to_a_deal_is_another_shops_offer(deals: int, kind: str) -> None:
    page = "<h1>Castle</h1><span class=price>$59.99</span> <s>$99.99</s>"
    assert _read(page + "<p><a href=https://b.example/x>View deal</a></p>" * deals).kind == kind


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("10 class pass", "other"),
        ("Tour della cantina", "other"),
        ("Weinprobe im Keller", "other"),
        ("Bono 10 clases", "other"),
        ("Aula de surf", "other"),
        ("Group ski lesson, half day", "other"),
        ("Wine tasting glasses", "product"),
        ("Tour de France, the book", "product"),
    ],
)
def test_a_tour_or_a_tasting_in_a_cart_is_known_by_its_heading(heading: str, kind: str) -> None:
    page = f"<h1>{heading}</h1><b class=price>20 €</b><input name=qty>"
    assert _read(f"{page}<button>Add to cart</button>").kind == kind


def test_a_folder_of_services_outweighs_a_cart_without_a_number() -> None:
    page = "<h1>Nova</h1><b class=price>35 €</b><button>Add to cart</button>{}"
    assert _read(page.format(""), "/events/nova").kind == "other"
    assert _read(page.format("<p>SKU: N-12</p>"), "/events/nova").kind == "product"


def test_a_service_of_json_ld_is_no_product() -> None:
    page = "<h1>Nova</h1><b class=price>$29</b><button>Order now</button>"
    assert _read(page, head=_SERVICE).kind == "other"


@pytest.mark.parametrize(
    ("price", "kind"), [("28 € / ημέρα", "other"), ("28 € / day", "other"), ("28 €", "product")]
)
def test_a_price_for_a_day_is_a_rent(price: str, kind: str) -> None:
    page = f"<h1>Panda</h1><b class=price>{price}</b><button>Contact owner</button>"
    assert _read(page).kind == kind


@pytest.mark.parametrize("line", ["2 hectáreas con olivos", "84㎡", "120 m²"])
def test_an_area_of_land_or_of_a_flat_is_no_products(line: str) -> None:
    page = f"<h1>Nova</h1><p>{line}</p><b class=price>48.000 €</b><button>Contactar</button>"
    assert _read(page).kind == "other"


@pytest.mark.parametrize(("part", "kind"), [("Our verdict", "other"), ("Our pledge", "product")])
def test_a_verdict_is_a_tests(part: str, kind: str) -> None:
    page = "<h1>Trail 40</h1><img src=t.jpg alt='Trail 40'><table><tr><td>RRP</td><td>£160.00</td>"
    page += f"</tr><tr><td>Weight</td><td>1.4 kg</td></tr></table><h2>{part}</h2>"
    assert _read(page).kind == kind


def test_an_app_is_known_by_its_downloads() -> None:
    page = "<h1>Wetter Pro</h1><button>3,49 € Kaufen</button><p>{}</p>"
    assert _read(page.format("Über 100.000 Downloads"), "/details/wetter-pro").kind == "other"


def test_a_courier_is_paid_apart_from_the_price() -> None:
    page = "<h1>Singer 201K</h1><img src=s.jpg><div>£145</div><div>Collection or courier £18</div>"
    assert _read(page).kind == "product"


@pytest.mark.parametrize(
    ("name", "slug", "sku"),
    [
        ("Акациев мед 500 г", "med-500", None),
        ("Диван 3-местный", "divan-3", None),
        ("Manubri 2 x 10 kg", "manubri-10kg", None),
        ("Ball valve", "bv-15", "bv-15"),
    ],
)
def test_the_figures_of_a_name_in_the_address_are_no_number(
    name: str, slug: str, sku: str | None
) -> None:
    page = f"<h1>{name}</h1><b>14,50 €</b><button>Add to cart</button>"
    assert _read(page, f"/product/{slug}").fields.get("sku") == sku


def test_a_product_that_json_ld_only_rates_is_a_tests() -> None:
    node = '{"@type": "Product", "name": "Nova", "review": {"@type": "Review"}%s}'
    head = '<script type="application/ld+json">' + node + "</script>"
    page = "<h1>Nova</h1><p>RRP £160.00</p><h2>Our verdict</h2>"
    assert _read(page, head=head % "").kind == "other"
    assert _read(page, head=head % ', "sku": "N-12"').kind == "product"


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Абонемент на 8 занятий", "other"),
        ("Leeds to York season ticket", "other"),
        ("Pay for a crossing", "other"),
        ("Mia & Tom's registry", "other"),
        ("Loan calculator", "other"),
        ("Scientific calculator", "product"),
        ("Frame for concert tickets", "product"),
        ("Lejonkudde", "product"),
    ],
)
def test_a_pass_a_toll_a_list_of_wishes_and_a_reckoner_are_no_products(
    heading: str, kind: str
) -> None:
    page = f"<h1>{heading}</h1><b class=price>20 €</b><button>Add to cart</button>"
    assert _read(page).kind == kind


def test_an_area_that_a_pack_covers_is_no_land() -> None:
    page = "<h1>{}</h1><p>Sows 400 m²</p><b class=price>89 €</b><button>Enquire</button>"
    assert _read(page.format("Grass seed 20 kg")).kind == "product"
    assert _read(page.format("Meadow")).kind == "other"


def test_a_thing_to_view_or_to_visit_a_shop_for_is_a_product() -> None:
    page = "<h1>Nova 480</h1><b class=price>£8,995</b>"
    assert _read(page + "<button>Book a viewing</button>").kind == "product"
    page = "<h1>Tavolo</h1><img src=t.jpg><p>Noce, cm 180 x 80. {}</p><p>€ 1.450,00</p>"
    assert _read(page.format("Visita il nostro negozio")).kind == "product"
    assert _read(page.format("Visita guidata")).kind == "other"


def test_a_dish_is_delivered_in_minutes_whatever_an_order_costs_at_least() -> None:
    page = "<h1>Biryani</h1><p class=price>£11.95</p><button>Add to order</button>"
    page += "<p>Delivery in 35-45 min · Minimum order £15</p>"
    assert _read(page, "/item/biryani").kind == "other"


@pytest.mark.parametrize(
    "price", ["22 € por persona", "£24 per person", "35,00 € p. P.", "850 ₽ за человека"]
)
def test_a_price_for_each_person_is_no_price_of_goods(price: str) -> None:
    page = f"<h1>Nova</h1><b class=price>{price}</b><button>Add to cart</button>"
    assert _read(page).kind == "other"
    assert _read(page.replace(price, price[:4])).kind == "product"


def test_an_order_for_a_month_is_a_contract() -> None:
    page = "<h1>VPS Старт</h1><p class=price>{}</p><button>Заказать</button>"
    assert _read(page.format("390 ₽/мес")).kind == "other"
    assert _read(page.format("390 ₽")).kind == "product"


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Sell your Nova 12", "other"),
        ("Wir kaufen Nova 12", "other"),
        ("Ingresso giornaliero", "other"),
        ("Seller's stamp", "product"),
    ],
)
def test_what_the_site_buys_and_an_entrance_are_no_goods(heading: str, kind: str) -> None:
    page = f"<h1>{heading}</h1><b class=price>310 €</b><button>Add to basket</button>"
    assert _read(page).kind == kind


def test_a_current_bid_names_no_rent() -> None:
    page = "<h1>Vesta case</h1><p>Lot 88</p><p>Current bid £32</p><button>Bid now</button>"
    assert _read(page).kind == "product"


def test_a_button_that_buys_a_file_buys() -> None:
    page = "<h1>Waltz</h1><p>£2.50</p><a class=button href='?add-to-cart=12'>Buy PDF</a>"
    assert _read(page).fields["availability"] == "InStock"


def test_a_heading_that_reckons_a_price_names_no_product() -> None:
    page = "<h1>Flyer A6{}</h1><b class=price>24,90 €</b><button>In den Warenkorb</button>"
    assert _read(page.format(": Preis berechnen")).kind == "other"
    assert _read(page.format(", 100 Stück")).kind == "product"


@pytest.mark.parametrize(
    ("fields", "button", "kind"),
    [
        ("", "<a href=/book>Book</a>", "other"),
        ("", "<button>Add to cart</button>", "product"),
        (', "sku": "N-12"', "<a href=/book>Book</a>", "product"),
    ],
)
def test_a_service_that_json_ld_calls_a_product_has_no_button(
    fields: str, button: str, kind: str
) -> None:
    offer = '"offers": {"@type": "Offer", "price": "28", "priceCurrency": "GBP"}'
    node = f'{{"@type": "Product", "name": "Nova", {offer}{fields}}}'
    head = f'<script type="application/ld+json">{node}</script>'
    page = f"<h1>Nova</h1><p class=price>£28.00</p>{button}"
    assert _read(page, "/services/nova", head).kind == kind
