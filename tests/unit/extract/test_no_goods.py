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
