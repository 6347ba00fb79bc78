"""Pages that sell tickets, courses, dishes or plans, beside products that resemble them."""

from __future__ import annotations

import pytest

from crawler.extract import extract, parse
from crawler.extract.default_parser import Found


def _read(body: str, path: str = "/x/nova", head: str = "") -> Found:
    html = f"<html><head><title>Nova</title>{head}</head><body>{body}</body></html>"
    return extract(parse(html.encode(), f"https://a.example{path}", "text/html"))


def _offer(type_name: str) -> str:
    return (
        '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "'
        + type_name
        + '", "name": "Nova", "offers": {"@type": "Offer", "price": "29", "priceCurrency": "USD"}}'
        "</script>"
    )


@pytest.mark.parametrize(
    ("caption", "kind"),
    [
        ("Buy tickets", "other"),
        ("Comprar entradas", "other"),
        ("Acquista biglietti", "other"),
        ("Tickets kaufen", "other"),
        ("¿Cuál comprar?", "other"),
        ("Faire un don", "other"),
        ("Buy now", "product"),
        ("Buy now: Don Quijote", "product"),
        ("Comprar", "product"),
    ],
)
def test_a_button_for_tickets_or_a_question_buys_nothing(caption: str, kind: str) -> None:
    page = f'<h1>Nova</h1><p>Sat 14 March</p><b>24.00 €</b><a class="btn" href="/go">{caption}</a>'
    assert _read(page).kind == kind


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [
        ("Course", "other"),
        ("TouristTrip", "other"),
        ("MenuItem", "other"),
        ("SoftwareApplication", "other"),
        ("Book", "product"),
        ("VideoGame", "product"),
    ],
)
def test_an_offer_of_a_course_a_trip_a_dish_or_an_application_is_no_product(
    type_name: str, kind: str
) -> None:
    page = "<h1>Nova</h1><div class=price>$29</div><p>Six weeks</p>"
    assert _read(page, head=_offer(type_name)).kind == kind


def test_a_program_with_a_buy_button_is_a_product() -> None:
    page = "<h1>Nova</h1><div class=price>$29</div><button>Add to cart</button>"
    found = _read(page, head=_offer("SoftwareApplication"))
    assert (found.kind, found.fields["price"]) == ("product", 29)


def test_a_page_at_the_address_of_a_price_list_is_no_product() -> None:
    page = "<h1>Nova</h1><div class=price>$29</div><button>Order now</button>"
    assert _read(page, "/pricing").kind == "other"
    assert _read(page, "/x/nova").kind == "product"


def test_a_comparison_of_two_things_is_no_product() -> None:
    page = "<table><tr><td>Price</td><td>899 €</td><td>849 €</td></tr></table>"
    page += "<p>6.2 in, 180 g</p>"
    assert _read(f"<h1>Nova S30 vs Tera 12</h1>{page}").kind == "other"


def test_a_pledged_sum_is_no_price() -> None:
    page = "<h1>Nova</h1><p><b>$48,210</b> pledged of $30,000 goal</p><p>812 backers, 350 g</p>"
    assert _read(page).kind == "other"


def test_a_price_with_tax_paid_is_a_price() -> None:
    page = "<h1>Nova</h1><p class=price>€98,000 <small>tax paid</small></p>"
    found = _read(f"{page}<button>Contact broker</button>")
    assert (found.kind, found.fields["price"]) == ("product", 98000)


@pytest.mark.parametrize(
    ("price", "caption", "kind"),
    [
        ("599 Kč/měsíc", "Objednat", "other"),
        ("599 Kč", "Objednat", "product"),
        ("599 Kč/měsíc", "Přidat do košíku", "product"),
    ],
)
def test_a_contract_with_a_price_per_month_is_ordered_without_a_cart(
    price: str, caption: str, kind: str
) -> None:
    page = f'<h1>Nova 1000</h1><p class="price">{price}</p><a class="btn" href="/o">{caption}</a>'
    assert _read(page, "/tarify/nova-1000").kind == kind


def test_a_price_for_hours_is_a_services_at_an_address_like_a_products() -> None:
    page = '<h1>Sesja rodzinna</h1><p>Czas: 2 godziny</p><p class="cena">650 zł</p>'
    assert _read(page, "/oferta/sesja-rodzinna").kind == "other"
    page = '<h1>Stolik Nova</h1><p>Czas na relaks</p><p class="cena">650 zł</p>'
    assert _read(page, "/oferta/stolik-nova").kind == "product"


def test_an_estimate_is_no_bid() -> None:
    page = "<h1>Commode</h1><p>Lot 41 · Estimation 800 - 1 200 €</p>"
    page += "<p>Enchère actuelle : <b>620 €</b></p><button>Enchérir</button>"
    assert _read(page).fields["price"] == 620


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Bilet normalny", "other"),
        ("Season ticket 2027", "other"),
        ("Skipass giornaliero", "other"),
        ("Etui na bilety", "product"),
        ("Ticket to Ride", "product"),
    ],
)
def test_a_ticket_in_a_cart_is_known_by_its_heading(heading: str, kind: str) -> None:
    page = f"<h1>{heading}</h1><div class=price>45,00 €</div><button>Add to cart</button>"
    assert _read(page).kind == kind


@pytest.mark.parametrize("type_name", ["TheaterEvent", "Event", "SportsEvent"])
def test_a_page_that_describes_one_event_is_no_product(type_name: str) -> None:
    page = "<h1>Nova</h1><div class=price>45,00 €</div><input name=qty><button>Add to cart</button>"
    assert _read(page, head=_offer(type_name)).kind == "other"


def test_dates_of_concerts_beside_a_record_do_not_hide_it() -> None:
    page = "<h1>Nova LP</h1><div class=price>22,00 €</div><button>Add to cart</button>"
    assert _read(page, head=_offer("MusicEvent") * 3, path="/item/nova-lp").kind == "product"


@pytest.mark.parametrize(
    ("line", "kind"), [("4 guests", "other"), ("40 acres of land", "other"), ("4 legs", "product")]
)
def test_a_stay_or_land_is_no_product_though_a_button_reserves_it(line: str, kind: str) -> None:
    page = f"<h1>Lake Nova</h1><p>{line}</p><p class=price>$142</p><button>Reserve</button>"
    assert _read(page).kind == kind


def test_a_volume_is_no_flight() -> None:
    page = "<h1>Nova, vol. 2</h1><p class=price>14,00 €</p><p>Vol. 2, 212 pages, 18 x 24 cm</p>"
    assert _read(page).kind == "product"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Saturday 12 December, 7:30 pm", "other"),
        ("Do., 14.01.2027, 20:00 Uhr", "other"),
        ("Vendredi 5 mars 2027 à 20h30", "other"),
        ("Date: 12 December 2026, 19:30", "other"),
        ("2027年2月6日（土）10:00〜16:00", "other"),
        ("Released 12 December 2026", "product"),
        ("Delivered Tuesday 12 December, 8:00 - 18:00", "product"),
        ("Ends Sat 12 Dec 2026, 20:00", "product"),
        ("Closes: 12 December 2026, 20:00", "product"),
        ("2 days 04:12:33", "product"),
    ],
)
def test_a_line_of_a_day_and_its_time_is_an_events(line: str, kind: str) -> None:
    page = f"<h1>Nova Quartet</h1><p>{line}</p><p class=price>18,00 €</p>"
    assert _read(f"{page}<button>Add to basket</button>").kind == kind


@pytest.mark.parametrize(
    ("buttons", "kind"),
    [
        ("<button>Buy</button><button>Sell</button>", "other"),
        ("<a class=btn href=/b>Купить</a><a class=btn href=/s>Продать</a>", "other"),
        ("<button>Buy now</button><a href=/sell>Sell yours</a>", "product"),
    ],
)
def test_what_another_button_sells_is_a_stock_or_a_currency(buttons: str, kind: str) -> None:
    assert _read(f"<h1>Nova</h1><b class=price>$142.37</b>{buttons}").kind == kind


def test_a_pictured_thing_that_other_owners_sell_is_a_product() -> None:
    page = "<h1>Nova 90</h1><img src=n.jpg alt='Nova 90'><b class=price>$142</b>"
    assert _read(f"{page}<button>Buy</button><button>Sell</button>").kind == "product"


@pytest.mark.parametrize(
    ("delivery", "kind"), [("Delivery in 35-45 min", "other"), ("Delivery in 3-5 days", "product")]
)
def test_a_dish_that_a_restaurant_delivers_is_no_product(delivery: str, kind: str) -> None:
    page = f"<h1>Nova</h1><p class=price>11.95 €</p><button>Add to order</button><p>{delivery}</p>"
    assert _read(page).kind == kind


def test_an_amount_by_use_is_no_price() -> None:
    page = "<h1>Nova Mail</h1><p>$99/month</p><p>$0.10 per 1k emails</p><button>Buy now</button>"
    assert _read(page).offered["text"]["price"] == 99


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/events/nova", "other"),
        ("/kurse/nova", "other"),
        ("/vacatures/nova", "other"),
        ("/nova/events-tent", "product"),
    ],
)
def test_a_folder_of_events_courses_or_jobs_counts_against_a_product(path: str, kind: str) -> None:
    page = "<h1>Nova</h1><p class=price>45,00 €</p><a class=btn href=/q>Reserve</a>"
    assert _read(page, path).kind == kind


@pytest.mark.parametrize(
    ("link", "kind"),
    [
        ("<a rel='sponsored' href=https://b.example/1>Get deal</a>", "other"),
        ("<a rel='nofollow' href=/redirect/12>Idź do okazji</a>", "other"),
        ("<a rel='nofollow' href=/nova-2>Nova 2</a>", "product"),
    ],
)
def test_an_advertisers_link_in_place_of_a_button_is_another_shops_offer(
    link: str, kind: str
) -> None:
    assert _read(f"<h1>Nova</h1><b class=price>$199</b> <s>$249</s> {link}").kind == kind


@pytest.mark.parametrize(("head", "kind"), [("Spende", "other"), ("Preis", "product")])
def test_a_sum_in_a_column_of_donations_is_no_price(head: str, kind: str) -> None:
    page = "<h1>Neue Orgel</h1><p>ID 4821-B</p><table><tr><th>Von</th>"
    page += f"<th>{head}</th></tr><tr><td>Basar</td><td>3.200 €</td></tr></table>"
    assert _read(page).kind == kind


@pytest.mark.parametrize(("label", "kind"), [("Dygn", "other"), ("Pris", "product")])
def test_an_amount_for_a_period_is_a_rent(label: str, kind: str) -> None:
    page = f"<h1>Golvslip</h1><table><tr><td>{label}</td><td>395 kr</td></tr></table>"
    assert _read(f"{page}<button>Boka</button>").kind == kind


def test_a_wage_beside_a_number_is_no_price() -> None:
    page = "<h1>Warehouse Operative</h1><p>Ref: WH-2214</p><p><b>{}</b></p>"
    assert _read(page.format("£12.60 per hour")).kind == "other"
    assert _read(page.format("£12.60 per piece")).kind == "product"


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Nova 5 review: great, but loud", "other"),
        ("Nova 5 im Test", "other"),
        ("Eladó 2 szobás lakás, Szeged", "other"),
        ("Appartement 3 pièces à vendre", "other"),
        ("Nova 5 test strips", "product"),
        ("Doll house for sale", "product"),
    ],
)
def test_a_heading_of_a_test_or_of_a_home_names_no_product(heading: str, kind: str) -> None:
    page = f"<h1>{heading}</h1><p class=price>399 €</p><button>Send message</button>"
    assert _read(page).kind == kind


def test_the_upper_end_of_an_estimate_is_no_regular_price() -> None:
    page = "<h1>Jug</h1><p>Estimate: £150 - £200</p><p>Current bid: <b>£120</b></p>"
    found = _read(f"{page}<button>Place bid</button>")
    assert (found.fields["price"], found.fields.get("regular_price")) == (120, None)


def test_a_boat_whose_seller_shows_his_number_is_a_product() -> None:
    page = "<h1>Ryds 435</h1><p class=price>38 000 kr</p><button>Visa telefonnummer</button>"
    assert _read(page).kind == "product"


def test_a_price_on_request_in_its_box_is_a_products_at_such_an_address() -> None:
    page = "<h1>Poltrona</h1><img src=p.jpg><p class=prezzo>Prezzo su richiesta</p>"
    page += "<button>Richiedi informazioni</button>"
    assert _read(page, "/prodotto/poltrona").kind == "product"
    assert _read(page, "/restauro").kind == "other"


def test_a_stove_is_described_by_its_power() -> None:
    page = "<h1>Ofen Nova</h1><img src=o.jpg alt='Ofen Nova'><p>{}</p><p>UVP ab 2.390,00 €</p>"
    assert _read(page.format("Leistung 6 kW")).kind == "product"
    assert _read(page.format("Leistung mit Herz")).kind == "other"


def test_a_number_in_capitals_follows_its_short_label() -> None:
    page = "<h1>Lampe</h1><p>{}</p><b>129,00 €</b><button>Ajouter au panier</button>"
    assert _read(page.format("Réf. EGF")).fields["sku"] == "EGF"
    assert "sku" not in _read(page.format("Réf. NON DISPONIBLE")).fields


def test_the_words_of_a_name_in_the_address_are_no_number() -> None:
    page = "<h1>Akácméz 500 g</h1><b>2 490 Ft</b><button>Kosárba</button>"
    assert "sku" not in _read(page, "/termek/akacmez-500g/").fields


def test_a_statement_behind_any_dash_may_begin_sold() -> None:
    page = "<h1>Hunter</h1><p>Blade 105 mm</p><p>AU$420</p><p><b>SOLD</b> – ask for another</p>"
    assert _read(page).fields["availability"] == "OutOfStock"


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
    assert _read(page, head=_offer("Service")).kind == "other"


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


def test_the_figures_of_a_name_in_other_letters_are_no_number() -> None:
    page = "<h1>Акациев мед 500 г</h1><b>14,50 лв.</b><button>Добави в количката</button>"
    assert "sku" not in _read(page, "/produkt/med-500").fields


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
