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
        ("Thursday 8 April, 12.30pm, Town Hall", "other"),
        ("La 13.2.2027 klo 10.00", "other"),
        ("Lør 13. mars kl. 18.00", "other"),
        ("13.2.2027 10.00", "product"),
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
    page = (
        f"<h1>Golvslip</h1><img src=g.jpg><table><tr><td>{label}</td><td>395 kr</td></tr></table>"
    )
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


def test_the_only_tile_of_a_category_is_no_product_of_its_page() -> None:
    tile = "<h1>Pollen</h1><img src=p.jpg alt=Pollen><p><a href=/{}>Raw pollen</a></p><b>55 lei</b>"
    tile += "<p>250 g</p>"
    assert _read(tile.format("pollen/raw"), "/pollen").kind == "other"
    assert _read(tile.format("pollen"), "/pollen").kind == "product"


def test_a_subscription_s_price_a_month_stands_near_its_heading() -> None:
    page = "<h1>World snack box</h1><img src=s.jpg><p>$25.00/month</p>"
    page += "<p>Ships on the 5th of each month</p><button>Add to cart</button>"
    assert _read(page, "/box").kind == "product"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Win this gaming PC", "other"),
        ("Gewinnen Sie ein E-Bike", "other"),
        ("Window film", "product"),
        ("Vinci tray", "product"),
    ],
)
def test_a_place_in_a_draw_is_no_product(name: str, kind: str) -> None:
    page = f"<h1>{name}</h1><p class=price>1.99 €</p><input type=number name=qty value=1>"
    assert _read(f"{page}<button>Add to basket</button>", "/product/x").kind == kind


@pytest.mark.parametrize(("rel", "kind"), [("sponsored", "other"), ("nofollow", "product")])
def test_an_advertisers_link_sells_nothing_in_an_article(rel: str, kind: str) -> None:
    page = "<h1>Trail 38</h1><p>Preis: 159,95 Euro</p><p>Gewicht: 1.240 g</p><h2>Fazit</h2>"
    page += f'<a rel="{rel}" href="https://b.example/t38">Jetzt kaufen</a>'
    assert _read(page, "/rucksack-trail-38").kind == kind


def test_an_activity_is_no_product_though_structured_data_call_it_one() -> None:
    page = "<h1>Nova</h1><p>From $29</p><button>Select date</button>"
    assert _read(page, "/activities/nova", _offer("Product")).kind == "other"
    assert _read(page, "/lamps/nova", _offer("Product")).kind == "product"


@pytest.mark.parametrize(
    "line",
    [
        "Salary: £24,000",
        "Salaire : 1 850 €",
        "Salario: 1.300 €",
        "時給：1,200円",
        "Gehalt: 2.600 €",
    ],
)
def test_an_amount_that_is_a_wage_is_no_price(line: str) -> None:
    body = f"<h1>Cook</h1><p>Ref: 5512</p><p>{line}</p><a class=btn href=/go>Reserve now</a>"
    assert _read(body, "/offer/5512").kind == "other"
    priced = body.replace(line, line.partition(":")[2] or line[3:])
    assert _read(priced, "/offer/5512").kind == "product"


def test_a_wage_below_its_label_is_no_price() -> None:
    body = "<h1>Cook</h1><p>Ref: 5512</p><dl><dt>Salary</dt><dd>£24,000</dd></dl>"
    assert _read(body, "/offer/5512").kind == "other"


@pytest.mark.parametrize(("caption", "kind"), [("Donate", "other"), ("Ask us", "product")])
def test_meta_elements_price_no_gift_whose_only_button_takes_it(caption: str, kind: str) -> None:
    head = (
        '<meta property="og:type" content="product">'
        '<meta property="product:price:amount" content="35">'
    )
    body = f"<h1>Give a goat</h1><p>£35.00</p><button>{caption}</button>"
    assert _read(body, "/give/goat", head).kind == kind


def test_a_sold_out_product_stays_one_above_a_button_that_takes_a_donation() -> None:
    body = (
        "<h1>Nova poster</h1><p class=price>£35.00</p><p class=stock>Out of stock</p>"
        "<button>Donate</button>"
    )
    assert _read(body, "/p/nova").kind == "product"


def test_a_reduced_price_above_a_link_to_another_shops_deal_is_no_product() -> None:
    body = (
        "<h1>Nova for €24.50</h1><p>MegaStore has it for €24.50 instead of €49.</p>"
        '<a href="/visit/4411" rel="nofollow">{}</a>'
    )
    assert _read(body.format("Go to deal"), "/deals/nova-4411").kind == "other"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("2 bed flat to rent in Leeds", "other"), ("Dog insurance", "other"), ("Nova", "product")],
)
def test_data_of_a_home_or_an_insurance_is_no_products(name: str, kind: str) -> None:
    head = (
        _offer("Product").replace("Nova", name).replace('"29",', '"29","availability":"InStock",')
    )
    body = f"<h1>{name}</h1><p>From £29 a month</p><button>Ask us</button>"
    assert _read(body, "/x/1", head).kind == kind
