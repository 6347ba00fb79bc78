"""What shops with templates of their own do, without structured data: one case a cause."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse

_BUY = "<form><input name=qty><button>Add to cart</button></form>"
_PRICE = "<p class=price>€ 12.00</p>"


def _read(body, path="/lamps/oak", title="Oak lamp", lang="en"):
    html = f"<html lang={lang}><head><title>{title}</title></head><body>{body}</body></html>"
    return extract(parse(html.encode(), f"https://shop.example{path}", "text/html; charset=utf-8"))


def test_a_remark_without_a_blank_before_it_ends_a_currency_with_dots():
    body = "<h1>عود</h1><div><span class=was>240 ر.س</span><span>189 ر.س</span><small>شامل الضريبة</small></div><button>أضف إلى السلة</button>"
    found = _read(body, lang="ar").fields
    assert (found["price"], found["regular_price"]) == (Decimal(189), Decimal(240))


def test_one_thing_in_a_table_of_a_category_is_another_pages():
    row = "<tr><td><a href='detail.php?id=7'><img src=7.jpg></a></td><td><a href='detail.php?id=7'>Oak lamp</a></td><td>12,00 €</td><td><a href='cart.php?add=7'>Add to cart</a></td></tr>"
    assert _read(f"<h1>Lamps</h1><table>{row}</table>", path="/kat.php?id=9").kind != "product"


def test_ranges_that_begin_where_another_ends_are_steps_of_a_filter():
    tile = "<div class=tile><h4><a href=/{n}.html>Lamp {n}</a></h4><p>1{n}.00 €</p><a class=btn>Add to cart</a></div>"
    tiles = "".join(tile.replace("{n}", str(n)) for n in range(3))
    steps = "<label><input type=checkbox> 0 - 50 € (12)</label><label><input type=checkbox> 50 - 100 € (40)</label>"
    found = _read(f"<h1>Lamps</h1><div>{steps}</div><div>{tiles}</div>", title="Lamps")
    assert found.kind != "product"


def test_a_range_of_a_variant_is_no_step():
    body = f"<h1>Oak lamp</h1><p class=price><span>€ 12 - € 24</span></p>{_BUY}"
    assert _read(body).fields["price"] == Decimal(12)


def test_a_label_of_the_price_may_be_followed_by_words():
    body = "<h1>Gebyok kayu</h1><div>Kode: GB-002</div><div>Harga: Hubungi CS</div><button>Beli Sekarang</button>"
    found = _read(body, lang="id", title="Gebyok kayu")
    assert (found.kind, found.fields.get("price")) == ("product", None)


@pytest.mark.parametrize(
    ("line", "brand", "mpn"),
    [
        ("Brand: Acme &nbsp; Mfr Part #: 88-12", "Acme", "88-12"),
        ("Brand: Acme Works MPN: 88-12", "Acme Works", "88-12"),
        ("Brand: Acme Works", "Acme Works", None),
    ],
)
def test_a_makers_name_ends_before_a_further_label(line, brand, mpn):
    found = _read(f"<h1>Oak lamp</h1><div>{line}</div>{_PRICE}{_BUY}").fields
    assert (found["brand"], found.get("mpn")) == (brand, mpn)


@pytest.mark.parametrize(
    ("sign", "stock"),
    [
        ("<div><img src=s.gif alt='SOLD OUT'></div>", "OutOfStock"),
        ("<div><a href=/2>Lamp</a><img src=s.gif alt='SOLD OUT'></div>", None),
        ("<p>SOLD - but I can make one like it, just <a href=/ask>ask</a>.</p>", "OutOfStock"),
        ("<p>Sold - 25 pieces since May, and many more to come.</p>", None),
        ("<p>This book has been sold.</p>", "OutOfStock"),
        ("<p>This model has been sold in 20 countries.</p>", None),
    ],
)
def test_a_sign_or_a_sentence_in_place_of_the_button_says_sold(sign, stock):
    assert _read(f"<h1>Oak lamp</h1>{_PRICE}{sign}").fields.get("availability") == stock


def test_questions_and_their_amounts_are_no_product():
    body = "<h1>अक्सर पूछे जाने वाले सवाल</h1><h3>क्या EMI उपलब्ध है?</h3><p>₹3,000 से ऊपर।</p>"
    assert _read(body, path="/prashn/", lang="hi").kind != "product"


def _table(first_cells, link="/koszyk/dodaj/{n}"):
    rows = "".join(
        f"<tr><td>{cell}</td><td>{n}9,00 zł</td><td><a href={link.format(n=n)}>do koszyka</a></td></tr>"
        for n, cell in enumerate(first_cells, start=1)
    )
    return f"<h2>Sosna</h2><table>{rows}</table>"


def test_rows_of_sizes_that_only_lead_to_the_cart_are_the_products_own():
    found = _read(_table(["C2", "C5 40 cm", "C10"]), lang="pl", title="Sosna")
    assert (found.kind, found.fields["price"]) == ("product", Decimal(19))
    names = ["Sosna czarna", "Sosna górska", "Sosna himalajska"]
    assert _read(_table(names), lang="pl", title="Sosny").kind != "product"
    linked = _table(["C2", "C5", "C10"], link="/roslina/{n}")
    assert _read(linked, lang="pl", title="Sosny").kind != "product"


@pytest.mark.parametrize("path", ["/search.php?kw=lamp", "/szukaj?q=lamp", "/search-results/"])
def test_one_thing_that_a_search_found_is_another_pages(path):
    tile = "<li><a href=/view.php?no=7><img src=7.jpg><b>Oak lamp</b></a><span>€ 12.00</span></li>"
    page = f"<h2>1 result</h2><ul>{tile}</ul>{_BUY}"
    assert _read(page, path=path, title="Search").kind != "product"


def test_a_link_behind_a_label_is_a_fact_and_no_tile():
    body = "<h1>Merlot</h1><h3>Cellar: <a href=/cellar/x>Casa Red</a></h3><p class=prices><b>$ 520.00 USD</b></p><div>Sold out</div>"
    found = _read(body, path="/wine/merlot", title="Merlot")
    assert (found.kind, found.fields["price"]) == ("product", Decimal(520))


def test_a_tile_is_another_things_if_its_address_is_made_of_its_name():
    tile = "<div><a href=/red/gran-lamp><img src=1.jpg><span>Gran Lamp 2018</span></a><span>$ 18.00</span><button>Add to cart</button></div>"
    assert _read(f"<h1>Acme</h1>{tile}", path="/maker/acme", title="Acme").kind != "product"
    zoom = tile.replace("/red/gran-lamp", "/zoom.php?id=57")
    assert _read(f"<h1>Gran Lamp</h1>{zoom}", title="Gran Lamp").kind == "product"


def test_a_sold_thing_with_its_picture_may_have_two_tiles_below_it():
    tiles = "".join(
        f"<a href=/shop/{n}><img src={n}.jpg><div>Lamp {n}</div><div>29 €</div></a>" for n in (1, 2)
    )
    body = f"<img src=o.jpg alt='Oak lamp'><h1>Oak lamp</h1><p><span>68 €</span></p><p>Sold out</p><section><h2>Same series</h2>{tiles}</section>"
    found = _read(body)
    assert (found.kind, found.fields["availability"]) == ("product", "OutOfStock")


def test_a_button_that_orders_ahead_buys_whatever_its_verb():
    body = "<h1>Teekannu</h1><p><span>120 €</span></p><button>Ennakkotilaa</button>"
    found = _read(body, lang="fi", title="Teekannu")
    assert (found.kind, found.fields["availability"]) == ("product", "PreOrder")


@pytest.mark.parametrize(
    ("path", "sku"), [("/bikes/TH-1203/", "TH-1203"), ("/bikes/oak-1203/", "1203")]
)
def test_a_last_part_in_capitals_is_the_number_as_a_whole(path, sku):
    assert _read(f"<h1>Gazelle</h1>{_PRICE}{_BUY}", path=path).fields["sku"] == sku


def test_a_short_name_in_chinese_letters_is_found_by_the_title():
    body = "<table><tr><td><font><b>萩焼 抹茶碗</b></font></td></tr><tr><td>商品コード：hg-003<br>価格：<font size=4><b>24,200円</b></font>（税込）<br><input type=submit value=かごに入れる></td></tr></table>"
    found = _read(body, lang="ja", title="萩焼 抹茶碗 - 陶の里 やきもの通販").fields
    assert (found["name"], found["sku"]) == ("萩焼 抹茶碗", "hg-003")


def test_a_price_to_ask_for_makes_a_product_of_a_pictured_thing():
    body = "<h1>Lathe 8</h1><img src=l.jpg alt='Lathe 8'><a href=#>Ask for Price</a><button>Get Best Quote</button><table><tr><td>Brand</td><td>Acme</td></tr></table>"
    found = _read(body, path="/lathe.html", title="Lathe 8")
    assert (found.kind, found.fields.get("price")) == ("product", None)


@pytest.mark.parametrize(("path", "kind"), [("/nieuws/lamp/", "other"), ("/lamps/a/", "product")])
def test_news_of_other_languages_are_something_to_read(path, kind):
    body = "<h1>Beurt nu € 69,-</h1><p>Laat uw lamp nakijken. Van € 89,- voor € 69,-.</p>"
    assert _read(body, path=path, lang="nl", title="Beurt").kind == kind


@pytest.mark.parametrize(
    "link",
    [
        "<a href=/seeds/melon><img src=1.jpg><span>Диня F1</span></a><b>29 грн</b>",
        "<a href=part.cfm?pn=1><img src=1.jpg></a><a href=part.cfm?pn=1>Диня F1</a><b>29 грн</b>",
    ],
)
def test_the_only_thing_of_a_category_is_another_pages(link):
    tile = f"<div>{link}<button>До кошика</button></div>"
    assert _read(f"<h1>Clause</h1>{tile}", lang="uk", title="Clause").kind != "product"
    own = tile.replace("Диня F1", "Clause").replace("part.cfm", "zoom.cfm")
    assert _read(f"<h1>Clause</h1>{own}", lang="uk", title="Clause").kind == "product"
    numbered = f"<h1>Clause</h1><p>Код товару: AB-12</p>{tile}"
    assert _read(numbered, lang="uk", title="Clause").kind == "product"


@pytest.mark.parametrize("heading", ["วิธีเลี้ยงแวนด้า", "Jak pěstovat orchideje", "Which lamp?"])
def test_a_heading_that_teaches_or_asks_names_no_product(heading):
    body = f"<h1>{heading}</h1><p>ปุ๋ยถุงละ 120 บาท</p>"
    assert _read(body, path="/article/3", title=heading).kind != "product"
    sold = f"<h1>{heading}</h1><p class=price>120 บาท</p>{_BUY}"
    assert _read(sold, path="/article/3", title=heading).kind == "product"


def test_contact_us_right_below_the_heading_stands_for_the_price():
    body = "<img src=1.jpg alt='Barolo'><h1>Barolo</h1><div>{}</div><ul><li>750ml</li></ul>"
    found = _read(body.format("Liên hệ"), path="/vang/barolo", lang="vi", title="Barolo")
    assert (found.kind, found.fields.get("price")) == ("product", None)
    link = body.format("<a href=/lien-he>Liên hệ</a>")
    assert _read(link, path="/vang/barolo", lang="vi", title="Barolo").kind == "other"


def test_a_price_by_agreement_in_the_row_of_the_price_is_on_request():
    rows = "<tr><th>Značka</th><td>Acme</td></tr><tr><th>Stav</th><td>volné</td></tr><tr><th>Cena</th><td><b>dohodou</b></td></tr>"
    body = f"<h1>Křídlo 130</h1><table>{rows}</table><a href=/kontakt>Mám zájem</a>"
    found = _read(body, lang="cs", title="Křídlo 130")
    assert (found.kind, found.fields["availability"]) == ("product", "InStock")


@pytest.mark.parametrize(
    "line", ["הספר נמכר", "Este libro ya fue vendido", "Товар продан", "この商品は売約済です"]
)
def test_a_sentence_says_sold_in_more_languages(line):
    assert _read(f"<h1>Libro</h1>{_PRICE}<p>{line}</p>").fields["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    "amounts",
    [
        "<span class=x>22,00 €</span> <b>18,50 €</b> <i>(24,67 €/l)</i>",
        "<span class=prije>22,00 €</span> <b>18,50 €</b> <i>popust</i>",
        "<span class=antes>22,00 €</span> <b>18,50 €</b> <i>oferta</i>",
    ],
)
def test_a_units_price_or_a_class_leaves_two_amounts_a_pair(amounts):
    found = _read(f"<h1>Chardonnay</h1><p>{amounts}</p>{_BUY}", title="Chardonnay").fields
    assert (found["price"], found["regular_price"]) == (Decimal("18.50"), Decimal(22))


@pytest.mark.parametrize(
    "amounts", ["<del>3 990 Ft</del> helyett <b>3 490 Ft</b>", "3 990 Ft helyett 3 490 Ft"]
)
def test_a_word_behind_the_price_before_is_not_about_the_price_behind_it(amounts):
    body = f"<h1>Kajszibarack</h1><p>Ár: {amounts}</p><button>Kosárba</button>"
    found = _read(body, lang="hu", title="Kajszibarack").fields
    assert (found["price"], found["regular_price"]) == (Decimal(3490), Decimal(3990))


def test_the_text_above_a_name_that_begins_it_is_the_maker():
    body = f"<div><span class=small>Acme Works</span><h1>Acme Works B40 amplifier</h1>{_PRICE}{_BUY}</div>"
    assert _read(body, title="Acme Works B40 amplifier | Shop").fields["brand"] == "Acme Works"
    other = body.replace("<span class=small>Acme Works", "<span class=small>Used things")
    assert "brand" not in _read(other, title="Acme Works B40 amplifier | Shop").fields


def test_a_remark_in_the_heading_says_sold_and_is_no_name():
    body = "<h2>Azulejo de Sevilha <span>VENDIDO</span></h2><p>Ref.: AZ-1 | Preço: <b>220 €</b></p>"
    found = _read(body, lang="pt", title="Azulejo de Sevilha").fields
    assert (found["name"], found["availability"]) == ("Azulejo de Sevilha", "OutOfStock")


def test_a_price_on_request_may_be_one_of_several_statements_of_a_line():
    line = "Ref.: AZ-118 | Época: séc. XVIII | Dimensões: 14 x 14 cm | Preço: sob consulta"
    found = _read(f"<h2>Par de jarras</h2><p>{line}</p>", lang="pt", path="/peca/AZ-118")
    assert (found.kind, found.fields.get("price")) == ("product", None)


def test_a_label_of_both_prices_is_that_of_the_only_amount():
    rows = "<table><tr><td>PVP:</td><td><b>{} €</b></td></tr></table>"
    others = "<h2>Novedades</h2><ul><li><a href=/l/1>Voces</a> (18,00 €)</li></ul>"
    body = f"<h1>Campos</h1>{rows.format('24,00')}<p>a</p><p>b</p><p>c</p>{others}{_BUY}"
    found = _read(body, lang="es", title="Campos").fields
    assert (found["price"], found.get("regular_price")) == (Decimal(24), None)
    both = f"<h1>Campos</h1><p>PVP: 24,00 €</p><p>Precio: 22,00 €</p>{_BUY}"
    found = _read(both, lang="es", title="Campos").fields
    assert (found["price"], found["regular_price"]) == (Decimal(22), Decimal(24))


def test_few_things_of_a_list_and_one_to_ask_for_are_no_product():
    tile = "<div><a href=/{0}><img src={0}.jpg></a><p><a href=/{0}>{1}</a><br>{2}</p></div>"
    things = [("p-201", "CHF 6'800.–"), ("p-202", "verkauft"), ("p-203", "auf Anfrage")]
    tiles = "".join(tile.format(f"objekt/{place}", "Stockuhr", text) for place, text in things)
    body = f"<h1>Pendulen</h1>{tiles}"
    assert _read(body, lang="de-CH", path="/pendulen", title="Pendulen").kind != "product"


def test_a_label_before_two_amounts_of_a_line_leaves_them_a_pair():
    body = f"<h1>Cilindro</h1><p>Prezzo: <i>€ 135,00</i> <b>€ 119,00</b> (IVA inclusa)</p>{_BUY}"
    found = _read(body, lang="it", title="Cilindro").fields
    assert (found["price"], found["regular_price"]) == (Decimal(119), Decimal(135))


def test_a_box_in_the_role_of_a_button_orders_ahead():
    tile = "<a href=/s/{0}><img src={0}.jpg><div>Pot {0}</div><div>$1{0}</div></a>"
    button = "<div class=act role=button>Pre-order</div><div>or 4 payments of $8.00</div>"
    body = f"<div class=name>Oak lamp</div><div class=amt>$32</div>{button}<div>{{}}{{}}</div>"
    found = _read(body.format(tile.format(1), tile.format(2)))
    assert (found.kind, found.fields["availability"]) == ("product", "PreOrder")


def test_a_row_with_a_name_and_an_amount_is_a_lists():
    row = "<tr><td><a href=/artikel/d-08>Universaldübel</a></td><td>8,90 €</td><td><button>In den Warenkorb</button></td></tr>"
    body = f"<h1>Dübel</h1><table>{row}</table>"
    assert _read(body, lang="de", title="Dübel").kind != "product"
    own = f"<h1>Schraube 8 mm</h1><table>{row}</table>".replace("Universaldübel", "Schraube 8 mm")
    assert _read(own, lang="de", title="Schraube 8 mm").kind == "product"


def test_a_wage_by_the_hour_is_no_price():
    body = "<h1>Lagerist (m/w/d)</h1><p>16,50 €/Std., Vollzeit.</p><div>Versand 6,90 € netto.</div>"
    assert _read(body, lang="de", path="/stellen", title="Lagerist").kind != "product"


@pytest.mark.parametrize(
    ("lang", "line"),
    [
        ("tr", "Stoklarımızda kalmamıştır"),
        ("cs", "Již prodáno"),
        ("id", "Barang kosong"),
        ("th", "หมด"),
        ("pl", "Produkt sprzedany"),
    ],
)
def test_more_words_say_sold(lang, line):
    found = _read(f"<h1>Oak lamp</h1>{_PRICE}<p>{line}</p>", lang=lang).fields
    assert found["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("hu", "Ár megegyezés szerint"),
        ("ro", "Solicită preț"),
        ("ar", "تواصل معنا لمعرفة السعر"),
        ("he", "התקשרו לקבלת מחיר"),
        ("ja", "応談"),
        ("hi", "कीमत के लिए संपर्क करें"),
        ("ko", "별도문의"),
        ("pl", "Wycena indywidualna"),
        ("el", "Ρωτήστε για τιμή"),
    ],
)
def test_more_words_ask_for_the_price(lang, words):
    body = f"<h1>Oak lamp</h1><p class=price>{words}</p><p>SKU: AB-123</p>"
    assert _read(body, lang=lang).kind == "product"


@pytest.mark.parametrize(
    ("lang", "line"),
    [
        ("cs", "1 800 Kč / noc."),
        ("sk", "65 € / noc."),
        ("pl", "250 zł / doba."),
        ("ro", "180 lei / noapte."),
        ("hr", "70 € / noć."),
    ],
)
def test_a_price_for_a_night_is_a_services(lang, line):
    body = f"<h1>Oak room</h1><img src=a.jpg alt='Oak room'><p>{line}</p><a href='mailto:a@b.example?subject=x'>Mail</a>"
    assert _read(body, lang=lang, path="/rooms", title="Oak room").kind != "product"
