"""What shops without structured data show besides their products: columns with offers, filters, carts."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from crawler.extract.stock.availability import availability_of_text


def _read(body, *, path="/p/lamp-12", title="Oak lamp", lang="en", site="https://shop.example"):
    html = f"<html lang={lang}><head><title>{title}</title></head><body>{body}</body></html>"
    return extract(parse(html.encode(), f"{site}{path}", "text/html; charset=utf-8"))


_OFFER = (
    "<td><b>Special</b><br><a href=product_info.php?products_id=57><img src=57.jpg alt='Red lamp'></a><br>"
    "<a href=product_info.php?products_id=57>Red lamp</a><br><s>€ 59.00</s><br><span>€ 39.00</span></td>"
)


@pytest.mark.parametrize("place", ["before", "behind"])
def test_an_offer_in_a_column_is_no_price_of_a_page_that_has_none(place):
    own = "<td><h1>Terms</h1><p>All prices include tax.</p></td>"
    cells = f"{own}{_OFFER}" if place == "behind" else f"{_OFFER}{own}"
    found = _read(f"<table><tr>{cells}</tr></table>", path="/conditions.php", title="Terms")
    assert (found.kind, found.fields.get("price")) == ("other", None)


def test_an_offer_in_a_column_leaves_the_products_own_price():
    own = "<td><h1>Oak lamp</h1><p>€ 12.00</p><button>Add to cart</button></td>"
    found = _read(f"<table><tr>{own}{_OFFER}</tr></table>")
    assert found.fields["price"] == Decimal("12.00")
    assert "regular_price" not in found.fields


def test_a_picture_that_leads_to_its_large_copy_makes_no_tile():
    body = (
        "<h1>Oak lamp</h1><div><a href=zoom.php?id=57><img src=57.jpg alt='Oak lamp'><br>Enlarge</a>"
        "<p>€ 12.00</p><button>Add to cart</button></div>"
    )
    assert _read(body).fields["price"] == Decimal("12.00")


def test_a_linked_maker_above_a_price_makes_no_tile():
    body = (
        "<div><a href=/brands/acme><img src=acme.png alt=Acme></a> <a href=/brands/acme>Acme</a>"
        "<p>€ 12.00</p><button>Add to cart</button></div><h1>Oak lamp</h1>"
    )
    assert _read(body).fields["price"] == Decimal("12.00")


def test_a_linked_name_and_an_amount_in_a_column_before_the_heading_are_another_products():
    column = "<div><a href=/hose-25m>Garden hose</a><br><span>€ 19.00</span></div>"
    body = f"{column}<div><h1>Bark by the pallet</h1><p>Item no.: B-12</p><p>{{}}</p></div>"
    assert "price" not in _read(body.format("Ask us"), path="/bark").fields
    assert _read(body.format("€ 7.00"), path="/bark").fields["price"] == Decimal("7.00")


def test_an_amount_before_the_heading_is_no_price_of_what_is_sold_on_request():
    body = (
        "<p>Of the week: hammer</p><p>$21.99</p><h1>Wood stove</h1><p>Item # VC-2550</p><p>{}</p>"
    )
    assert "price" not in _read(body.format("Please call for price"), lang="en-US").fields
    assert _read(body.format("In stock"), lang="en-US").fields["price"] == Decimal("21.99")


def test_two_rows_of_other_products_are_no_price():
    tile = "<td><a href=/item/{0}><img src={0}.jpg></a><br><a href=/item/{0}>Thing {0}</a><br>{0}.50 €</td>"
    row = "<table class={}><tr>" + tile.format(11) + tile.format(12) + "</tr></table>"
    body = f"<h1>Server rack</h1><p>Code: R-100</p><p>Delivery in a week</p>{row.format('a')}{row.format('b')}"
    assert "price" not in _read(body, path="/rack").fields


def test_steps_of_a_filter_are_no_prices():
    tiles = "".join(
        f"<div class=card><a href=/p/{n}><img src={n}.jpg>Game {n}</a><p class=price>R$ {n},90</p></div>"
        for n in (19, 29, 39, 49)
    )
    steps = "<h5>Preço</h5><ul><li>Até R$ 50,00</li><li>R$ 50,00 a R$ 100,00</li></ul><h5>Marca</h5><ul><li>Acme</li></ul>"
    found = _read(f"<h1>Jogos</h1><aside>{steps}</aside>{tiles}", path="/c/jogos", lang="pt-BR")
    assert found.kind == "listing"


def test_a_range_beside_no_bound_is_the_price_of_variants():
    found = _read(
        "<h1>Oak lamp</h1><ul><li>€ 10.00 to € 20.00</li></ul><button>Add to cart</button>"
    )
    assert found.fields["price"] == Decimal("10.00")


@pytest.mark.parametrize(
    "path",
    [
        "/carrinho",
        "/shopping_cart.php",
        "/?mode=cart",
        "/index.php?page=shop.cart",
        "/ostoskori",
        "/winkelmandje",
        "/kosar",
        "/kosarica",
        "/gio-hang",
    ],
)
def test_a_cart_is_no_product(path):
    body = "<h1>Your things</h1><table><tr><td>Oak lamp</td><td>Ref.: L-12</td><td>€ 12.00</td></tr></table>"
    assert _read(body, path="/things").kind == "product"
    assert _read(body, path=path).kind == "other"


def test_a_link_of_the_menu_asks_nothing_of_a_page_without_a_heading():
    menu = "<a href=/ask>Message seller</a><div class=pname>Repairs</div>"
    rows = "<table><tr><td>Check</td><td>€ 15.00</td></tr><tr><td>Cleaning</td><td>€ 35.00</td></tr></table>"
    assert _read(f"{menu}{rows}", path="/pages.aspx?id=4", title="Service").kind == "other"


def test_a_thing_on_request_is_a_product_where_its_picture_and_a_button_say_so():
    body = "<h1>Cargo bike</h1><img src=b.jpg alt='{}'><p>Price on request</p><a href=/ask>Request a quote</a><table><tr><td>Brand</td><td>Acme</td></tr></table>"
    assert _read(body.format("Cargo bike"), path="/bike").kind == "product"
    assert _read(body.format("Our workshop"), path="/bike").kind == "other"


def test_a_button_that_reserves_a_place_makes_no_product():
    body = "<h1>Pottery course</h1><p>{}</p><p>Saturdays</p><a href=/ask>Reserve</a>"
    assert _read(body.format("€ 55 per person, tea included."), path="/courses").kind == "other"


@pytest.mark.parametrize(("text", "price"), [("Ref.: KM12", "32.90"), ("Ref.: A-1", "32.90")])
def test_a_word_glued_to_figures_is_no_currency(text, price):
    body = f"<h1>Kit</h1><p>{text}</p><strong class=h2>R$ 32,90</strong><button>Comprar</button>"
    found = _read(body, lang="pt-BR").fields
    assert (found["price"], found["currency"]) == (Decimal(price), "BRL")


def test_convertible_marks_are_read_in_their_country():
    found = _read("<h1>Lampa</h1><p class=price>KM12,50</p>", lang="bs-BA", site="https://a.ba")
    assert (found.fields["price"], found.fields["currency"]) == (Decimal("12.50"), "BAM")


def test_of_texts_in_large_letters_the_one_that_the_title_speaks_of_is_the_name():
    body = (
        "<font size=6>Miller's Hardware</font><table><tr><td><font size=4><b>Acme 16 oz. Straight Claw Hammer"
        "</b></font><br>Item # E3-16S<br><b>Our Price: $21.99</b><br>In Stock</td></tr></table>"
    )
    for title in ("Acme 16 oz. Hammer - Miller's Hardware", "Miller's Hardware"):
        found = _read(body, title=title, lang="en-US", site="http://millershardware.example")
        assert found.fields["name"] == "Acme 16 oz. Straight Claw Hammer"


def test_a_row_of_the_brand_goes_before_one_of_the_maker():
    rows = "<tr><th>제조사</th><td>코스맥스</td></tr><tr><th>브랜드</th><td>달빛</td></tr>"
    body = f"<h1>토너</h1><p>19,900원</p><table>{rows}</table><button>장바구니 담기</button>"
    assert _read(body, lang="ko").fields["brand"] == "달빛"


def test_a_box_that_is_called_a_card_is_the_products_where_its_first_link_is_to_a_picture():
    body = (
        "<h1>Oak lamp</h1><div class=card><a href=/big/12.jpg class=fancy><img src=s.jpg alt='Oak lamp'></a>"
        "<p>Item no.: L-12</p><p class=price>€ 12.00</p><p>In stock</p><a class=buy href='#'>Buy</a></div>"
    )
    found = _read(body).fields
    assert (found["price"], found["sku"], found["availability"]) == (
        Decimal("12.00"),
        "L-12",
        "InStock",
    )


def test_words_of_the_name_in_an_address_are_no_number():
    body = "<h1>Artek 60 stool</h1><p>€ 145</p><p>In stock</p><button>Add to cart</button>"
    assert "sku" not in _read(body, path="/product/artek-60").fields
    assert _read(body, path="/product/b-20311").fields["sku"] == "b-20311"


def test_a_price_on_request_in_a_box_for_prices_is_a_products():
    body = "<h1>Grass tree</h1><img src=g.jpg alt='Grass tree'><p{}>Price on application</p><a href=/ask>Enquire now</a>"
    assert _read(body.format(" class=price"), path="/grass-tree").kind == "product"
    assert _read(body.format(""), path="/grass-tree").kind == "other"


def test_between_in_french_is_no_entrance():
    body = "<div class=productname>Coffret prestige</div><img src=c.jpg alt='Coffret prestige'><p class=price>49,00 €</p><p>Rupture de stock</p><p>Conserver entre 15 et 18 °C.</p>"
    found = _read(body, path="/coffret", title="Coffret prestige", lang="fr")
    assert (found.kind, found.fields["price"]) == ("product", Decimal("49.00"))


@pytest.mark.parametrize(
    "text",
    ["Op bestelling", "Su ordinazione", "Sipariş üzerine", "Megrendelésre készül", "По поръчка"],
)
def test_words_for_made_to_order_are_a_back_order(text):
    assert availability_of_text(text) == "BackOrder"


@pytest.mark.parametrize(
    "text",
    ["5% korting op bestelling", "10 000 Ft feletti rendelésre", "Подарък по поръчка над 100 лв."],
)
def test_words_about_an_order_are_no_stock(text):
    assert availability_of_text(text) is None


def test_an_amount_in_a_sentence_beside_a_button_that_asks_is_no_offer():
    body = "<h1>Knives</h1><p>{}</p><a href='mailto:a@b.example?subject=x'>Write to us</a>"
    sentence = "We do them by hand. A chef's knife € 18, a small one € 12, sent back for € 6.90."
    assert _read(body.format(sentence), path="/knives").kind == "other"
    assert _read(body.format("€ 18"), path="/knives").kind == "product"


def test_a_service_beside_a_button_that_asks_is_no_product():
    body = "<h1>{}</h1><p>Chef's knife</p><p>€ 18</p><a href='mailto:a@b.example?subject=x'>Anfragen</a>"
    assert _read(body.format("Schleifservice"), path="/x", lang="de").kind == "other"
    assert _read(body.format("Kaffeeservice"), path="/x", lang="de").kind == "product"


@pytest.mark.parametrize("rate", ["Tečaj 1 € = 7,53450 kn.", "Rate: 1 EUR = 7,53450 kn"])
def test_an_exchange_rate_is_no_price(rate):
    body = "<h1>Gloves</h1><div>{}</div><input type=submit value='Dodaj u košaricu'><p>{}</p>"
    found = _read(body.format("4,20 € / par", rate), lang="hr").fields
    assert (found["price"], found["currency"]) == (Decimal("4.20"), "EUR")
    assert "price" not in _read(body.format("", rate), lang="hr").fields


def test_amounts_of_a_donation_are_no_choices_of_a_product():
    amounts = "".join(f"<label><input type=radio name=b> {n} €</label>" for n in (30, 60, 120))
    body = f"<h1>{{}}</h1><form>{amounts}<button>OK</button></form>"
    assert _read(body.format("Jetzt spenden"), path="/hilfe", lang="de").kind == "other"
    assert _read(body.format("Wandbild"), path="/bild", lang="de").kind == "product"


@pytest.mark.parametrize("days", ["6.–10. Juni 2024", "6 - 10 June 2024"])
def test_what_takes_place_on_some_days_is_no_product(days):
    body = "<h1>Yoga in the hills</h1><p>{}</p><p>CHF 890.–</p><a href='mailto:a@b.example?subject=x'>Anmelden</a>"
    assert _read(body.format(days), path="/hills", lang="de-CH").kind == "other"
    assert _read(body.format("Holz, 2024"), path="/hills", lang="de-CH").kind == "product"


def test_what_is_lent_by_the_day_is_no_product():
    body = "<h1>Kanadier</h1><p>{}</p><a href=/anfrage>Jetzt reservieren</a>"
    lent = "Tag: 40 €, Wochenende: 70 €, Woche: 180 €"
    assert _read(body.format(lent), path="/kanadier", lang="de").kind == "other"
    assert _read(body.format("Preis: 40 €"), path="/kanadier", lang="de").kind == "product"


def test_a_price_in_a_table_far_from_the_heading_is_weighed_with_its_button():
    rows = "<tr><td>Årgang</td><td>1972</td></tr><tr><td>Timer</td><td>6.540</td></tr><tr><td>Pris</td><td>kr. 38.500 ekskl. moms</td></tr>"
    body = f"<h1>Tractor 135</h1><table>{rows}</table><a class=btn href=/kontakt>Kontakt sælger</a>"
    assert _read(body, path="/brugt/tractor-135", lang="da").kind == "product"


@pytest.mark.parametrize(
    ("lang", "service", "ask"),
    [("ja", "月3回 30分のレッスン", "お問い合わせ"), ("ko", "기준 2인, 최대 4인", "예약하기")],
)
def test_lessons_and_rooms_of_the_far_east_are_no_products(lang, service, ask):
    body = f"<h1>A-12</h1><p>{{}}</p><p>8,000円</p><a href=/x>{ask}</a>"
    assert _read(body.format(service), path="/x", lang=lang).kind == "other"
    assert _read(body.format("12 cm"), path="/x", lang=lang).kind == "product"


@pytest.mark.parametrize(
    ("lang", "ask"),
    [("lt", "Rašyti pardavėjui"), ("lv", "Rakstīt pārdevējam"), ("et", "Kirjuta müüjale")],
)
def test_an_advertisement_of_the_baltic_is_a_product(lang, ask):
    body = f"<h1>Scott</h1><p>350 €</p><button>{ask}</button>"
    assert _read(body, path="/x", lang=lang).kind == "product"
