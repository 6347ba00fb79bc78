"""Things that are offered in plain words: no cart, no marks, a line that is the price."""

from decimal import Decimal

import pytest

from crawler.extract import Found, extract, parse

_SHOWN = "<img src=/a/12.jpg alt='Red vase'><p>Height 32 cm</p>"


def _read(body: str, lang: str = "en", path: str = "things/12", title: str = "Red vase") -> Found:
    html = f"<html lang={lang}><head><title>{title}</title></head><body><a href=/>Home</a><div>{body}</div></body></html>"
    return extract(
        parse(html.encode(), f"https://maker.example/{path}", "text/html; charset=utf-8")
    )


def _vase(line: str, more: str = _SHOWN, **page: str) -> Found:
    return _read(f"<h1>Red vase</h1>{more}<p>Thrown and glazed by hand.</p><p>{line}</p>", **page)


@pytest.mark.parametrize(
    ("line", "price"),
    [
        ("€ 45", "45"),
        ("45 € each", "45"),
        ("Price: 45 €", "45"),
        ("24 x 36, oil on linen. $1,850", "1850"),
        ("$45 + $8 shipping", "45"),
        ("Price 45 € + postage 5.90 €", "45"),
        ("£240 the pair. Postage within the UK is £12.50.", "240"),
        ("oil on canvas. Price: $1800 plus shipping ($85 within the US). At Cove Gallery.", "1800"),
    ],
)
def test_a_named_and_shown_thing_with_a_price_of_its_own_line_is_a_product(line, price):
    found = _vase(line)
    assert (found.kind, found.fields.get("price")) == ("product", Decimal(price))


def test_measures_a_year_pages_postage_or_a_pack_tell_that_a_thing_is_sold():
    for told in ("<p>Height 32 cm</p>", "<p>Helsinki 1954</p>", "<p>312 pages</p>"):
        assert _vase("€ 45", told).kind == "product", told
    assert _vase("€ 45", "<p>Postage € 5.90</p>").kind == "product"
    assert _vase("€ 45 the pair", "").kind == "product"
    assert _vase("now € 45 instead of € 60", "").kind == "product"
    assert _vase("€ 45", "<img src=/a/12.jpg alt='Red vase'>").kind == "other"  # services are shown


@pytest.mark.parametrize(
    "body",
    [
        "<h1>Guided tour</h1><img src=/a/1.jpg><p>Every Friday.</p><p>€ 8 per person</p>",
        "<h1>Open day</h1><img src=/a/1.jpg><p>12 June, 19:30</p><p>€ 8</p>",
        "<h1>Summer school</h1><img src=/a/1.jpg><p>Three days at the wheel.</p><p>€ 320</p><p>Course fee with lunch</p>",
        "<h1>Red vase</h1><img src=/a/1.jpg><p>At the last fair this small thing made € 320</p>",
        "<h1>Grinding</h1><img src=/a/1.jpg><p>I grind your knife while you wait.</p><p>€ 12</p>",
        "<h1>Room Rose</h1><img src=/a/1.jpg alt='Room Rose'><p>€ 95</p><p>Two nights at least, breakfast included</p>",
        "<h1>Week-end au refuge</h1><p>Deux jours, 25 km.</p><p>60 €</p><p>Complet</p>",
        "<h1>Flat by the sea</h1><img src=/a/1.jpg><p>62 m2, 200 m from the beach.</p><p>185.000 €</p><p>Sold</p>",
        "<h1>Carport</h1><img src=/a/1.jpg><p>6 x 5 m, 2021.</p><p>Baukosten: 9.800 €</p>",
        "<h1>Delivery</h1><img src=/a/1.jpg><p>€ 8</p>",
        "<h1>How it goes</h1><img src=/a/1.jpg><table><tr><td>Courier</td><td>€ 8</td></tr></table>",
        "<h1>Repairs</h1><img src=/a/1.jpg><p>€ 60</p><p>A new bridge is € 90 and the post € 45</p>",
    ],
)
def test_tours_dates_fees_and_lists_are_no_things(body):
    assert _read(body, title="Violin makers").kind != "product"


@pytest.mark.parametrize(
    ("line", "lang"),
    [
        ("€ 650 — Sold, thank you", "en"),
        ("650 € — Vendu", "fr"),
        ("€ 650 (riservato)", "it"),
        ("12.800,00 €, venduta", "it"),
        ("180 € – myyty", "fi"),
        ("Kr. 9.500,- SOLGT", "no"),
    ],
)
def test_a_remark_by_the_price_says_that_a_thing_is_sold(line, lang):
    found = _vase(line, lang=lang)
    assert (found.kind, found.fields.get("availability")) == ("product", "OutOfStock")
    assert found.fields["price"] > 100


def test_the_sentence_before_the_price_says_that_a_thing_is_sold():
    body = "<h1>Pendule</h1><p>Époque Charles X. <b>VENDUE</b></p><p>350 euros</p>"
    found = _read(body, lang="fr", title="Pendule")
    assert (found.kind, found.fields.get("availability")) == ("product", "OutOfStock")


@pytest.mark.parametrize("word", ["Varattu", "MYYTY!", "Reservert", "продано"])
def test_a_line_of_one_word_says_that_a_thing_is_sold_or_kept(word):
    found = _vase(f"120 €</p><p>{word}")
    assert (found.kind, found.fields.get("availability")) == ("product", "OutOfStock")


def test_a_remark_by_the_price_says_how_many_are_left():
    found = _vase("jetzt nur 89,- Euro statt 110,- Euro, noch 2 Stück am Lager", lang="de")
    assert found.fields["availability"] == "InStock"
    assert (found.fields["price"], found.fields["regular_price"]) == (Decimal(89), Decimal(110))


def test_news_with_a_fee_and_something_sold_are_no_product():
    body = "<h1>News</h1><p>Meals at the farm: 22 € per person, full.</p><p>All was sold!</p>"
    assert _read(body, title="News").kind != "product"
    dinner = (
        "<h2>Eventi</h2><p>Cena in vigna, sabato 12 luglio: € 45 vini inclusi. Posti esauriti!</p>"
    )
    assert _read(dinner, lang="it", title="Eventi").kind != "product"
    text = "<h1>Tarifs</h1><p>Colis : 9 € 80. Gratuit à partir de 90 €.</p><p>En cas de rupture de stock nous vous appelons.</p>"
    assert _read(text, lang="fr", title="Tarifs").kind != "product"


def test_a_number_and_the_word_sold_are_enough_where_a_picture_shows_the_thing():
    body = "<h2>Pine dresser</h2>{}<p>Six drawers.</p><p>Ref: OM131</p><p>SOLD</p>"
    shown = _read(body.format(_SHOWN), title="Pine dresser")
    assert (shown.kind, shown.fields["availability"]) == ("product", "OutOfStock")
    assert shown.fields["sku"] == "OM131"


def test_a_number_of_a_letter_and_figures_is_read_whole():
    assert _vase("€ 45</p><p>Item no. K 101").fields["sku"] == "K 101"


def test_a_year_in_a_name_or_an_address_is_no_number():
    body = "<h1>Kalevala (1887)</h1><img src=/a/1.jpg><p>180 €</p>"
    found = _read(body, lang="fi", path="books/kalevala-1887/", title="Kalevala (1887)")
    assert (found.fields["name"], found.fields.get("sku")) == ("Kalevala (1887)", None)


def test_the_word_that_is_left_beside_an_amount_counts_no_pieces():
    line = "Còn 399.000 đ <s>450.000 đ</s></p><p>Hết hàng"
    found = _vase(line, lang="vi").fields
    assert (found["price"], found["regular_price"]) == (Decimal(399000), Decimal(450000))
    assert found["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    ("line", "lang"),
    [
        ("Fiyat: 8.000 TL (SATILDI)", "tr"),
        ("R$ 2.300,00 (encomendado)", "pt"),
        ("5.900 kr.</p><p>Reserveret til 1. juni", "da"),
        ("€ 80</p><p>Reserved until 3 May", "en"),
        ("Cena 480 Kč, prodaná", "cs"),
    ],
)
def test_what_is_kept_for_someone_cannot_be_had(line, lang):
    assert _vase(line, lang=lang).fields.get("availability") == "OutOfStock"


def test_a_word_behind_an_amount_may_say_that_it_was_asked_before():
    found = _vase("Akciós ár: 1 690 Ft (1 990 Ft helyett)", lang="hu").fields
    assert (found["price"], found["regular_price"]) == (Decimal(1690), Decimal(1990))


def test_an_amount_in_a_line_about_an_entrance_speaks_against_a_product():
    body = "<h1>Hírek</h1><p>A Kékfrankos 2020 elfogyott!</p><p>Bormustra, belépő 2 000 Ft.</p>"
    assert _read(body, lang="hu", title="Hírek").kind != "product"
    walk = "<h1>A walk</h1><img src=/a/1.jpg><p>One hour, all ages.</p><p>€25</p>"
    assert _read(walk, title="A walk").kind != "product"


def test_a_thread_of_a_board_is_no_product():
    body = "<h2>Sold: Roberts R200</h2><p>Roberts R200, red, working. £35 plus postage.</p><p>Sold, thanks.</p>"
    assert _read(body, path="viewtopic.php?f=5&t=920").kind != "product"


def test_the_shops_name_before_the_products_in_a_title_is_not_its_name():
    body = (
        "<font size=5>Antiquariaat 't Hofje</font><hr><b>Auteur:</b> Multatuli<br>"
        "<font size=4><b>Max Havelaar</b></font><br><b>Bestelnummer:</b> 1100<br><b>Prijs:</b> € 35,-"
    )
    html = f"<title>Antiquariaat 't Hofje: Max Havelaar</title><body>{body}"
    page = parse(html.encode(), "http://www.antiquariaathofje.nl/b1100.html", "text/html")
    assert extract(page).fields["name"] == "Max Havelaar"


def test_a_thing_for_sale_on_a_board_is_no_product():
    body = "<h2>Bush DAC90A for sale</h2><p>Brown bakelite, 30 cm.</p><p>£45</p><a href=/viewtopic.php?t=7>Reply</a>"
    assert _read(body, path="bush-dac90a-t881.html", title="Bush DAC90A for sale").kind != "product"


def test_what_comes_soon_cannot_be_had_where_that_stands_behind_a_label_or_beside_the_price():
    line = "<dl><dt>Precio</dt><dd>58 €</dd><dt>Stock</dt><dd>Próximamente</dd></dl>"
    assert _vase(line, lang="es").fields["availability"] == "OutOfStock"
    assert _vase("58 €</p><p>Próximamente", lang="es").fields["availability"] == "OutOfStock"


def test_the_price_of_who_holds_a_card_is_told_by_the_words_that_run_on_behind_it():
    boxes = "<span>2 499 ₽</span><span>c Ozon Картой</span> <span>2 799 ₽</span>"
    found = _vase(f"{boxes}</p><button>В корзину</button><p>", lang="ru").fields
    assert found["price"] == Decimal(2799)


def test_the_heading_that_says_the_hosts_name_before_the_products_is_the_shops():
    body = "<h1>Prairie Heirloom Seeds</h1><h2>Ash dibber</h2><p>11 inches.</p><p>Item T-01</p><p>$22.00 postpaid</p>"
    html = f"<title>Prairie Heirloom Seeds: Ash dibber</title><body>{body}"
    page = parse(html.encode(), "https://prairieheirloomseeds.com/dibber.html", "text/html")
    fields = extract(page).fields
    assert (fields["name"], fields["sku"]) == ("Ash dibber", "T-01")


def test_few_figures_of_the_address_that_the_name_has_are_no_number():
    found = _vase("€ 45", path="cars/red-vase-1302/").fields
    assert found["sku"] == "1302"
    html = "<title>Red vase 1302</title><h1>Red vase 1302</h1><p>Height 32 cm</p><p>€ 45</p>"
    page = parse(html.encode(), "https://maker.example/cars/red-vase-1302/", "text/html")
    assert extract(page).fields.get("sku") is None


def test_a_cell_behind_a_label_of_the_stock_may_just_say_yes():
    cells = (
        "<table><tr><th>価格</th><td>38,500円</td></tr><tr><th>在庫</th><td>あり</td></tr></table>"
    )
    assert _vase(cells, lang="ja").fields["availability"] == "InStock"


def test_another_sentence_behind_the_price_is_not_about_it():
    assert _vase("£1,650. Made to order, about six months.").fields["price"] == Decimal(1650)
