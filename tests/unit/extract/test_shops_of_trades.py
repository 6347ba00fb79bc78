"""What shops of one trade do: prices by the metre, coins named by an amount, orders in advance."""

from decimal import Decimal

import pytest

from crawler.extract.stock.availability import availability_of_text
from tests.unit.extract.bodies import BUY, H1, found


@pytest.mark.parametrize(
    ("prices", "price", "regular"),
    [
        ("<p>€28.50 / m²</p><p>Three tiles cover one box (€54.72 for the box).</p>", "28.50", None),
        ("<p><s>€32.00/m²</s></p><p>€28.50/m²</p><p>delivery €9.00/box.</p>", "28.50", "32.00"),
        ("<p>€12.00 / yard</p><p class='line-through'>€15.00</p>", "12.00", "15.00"),
        ("<p>€12.00 / yard</p><p>€15.00</p>", "15.00", None),  # 15.00 is the price of a piece
    ],
)
def test_what_is_sold_by_a_unit_has_the_price_of_the_unit(prices, price, regular):
    fields = found(f"{H1}{prices}{BUY}").fields
    assert fields["price"] == Decimal(price)
    assert fields.get("regular_price") == (regular and Decimal(regular))


def test_the_price_of_a_unit_is_none_where_a_box_further_down_has_the_price():
    parts = "<p>Part</p>" * 30
    body = f"{H1}<p>€12.00 / kg</p>{parts}<p class='price'>€15.00</p>{BUY}"
    assert found(body).fields["price"] == Decimal("15.00")


def test_the_tag_of_a_custom_element_names_its_box():
    body = f"{H1}<p>Order now: <old-price>€25.00</old-price></p><p>€20.00</p>{BUY}"
    fields = found(f"{body}<site-footer><p>Out of stock</p><p>€5.00</p></site-footer>").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(20), Decimal(25))
    assert fields["availability"] == "InStock"


def test_a_romanian_year_is_no_amount_of_dinars():
    body = "<h1>Lampa</h1><p>Fabricată din 1985.</p>"
    assert "price" not in found(body, lang="ro").offered["text"]
    serbian = found("<h1>Lampa</h1><p>din 1985</p>", lang="sr", url="https://shop.rs/p/lampa")
    assert serbian.offered["text"]["price"] == Decimal(1985)


def test_a_romanian_rating_is_no_amount_of_dinars():
    body = "<h1>SoundHub</h1><p>Vânzător, 4,8 din 5</p>"
    assert "price" not in found(body, lang="ro").offered["text"]
    serbian = found("<h1>Lampa</h1><p>480 din 2 kom</p>", lang="sr", url="https://shop.rs/p/lampa")
    assert serbian.offered["text"]["price"] == Decimal(480)


def test_the_link_to_the_cart_with_its_count_buys_nothing():
    body = "<a href='/cart'>Add to cart{}</a><p>Red Lamp</p><p>€9.00</p>"
    assert found(body.format(" (1)")).offered["text"].get("availability") is None
    assert found(body.format("")).offered["text"]["availability"] == "InStock"


def test_a_badge_before_the_buy_button_says_that_the_product_is_ordered_ahead():
    badge = "<p><span class='badge'>Pre-order</span></p>"
    assert found(f"{H1}<p>€9.00</p>{badge}{BUY}").fields["availability"] == "PreOrder"
    assert found(f"{H1}<p>€9.00</p>{BUY}{badge}").fields["availability"] == "InStock"


def test_an_amount_in_the_name_is_not_the_price_beside_a_price_box():
    coin = "<h1>5 лева 1892 сребро</h1><dl><dt>Номинал</dt><dd>5 лева</dd></dl>"
    facts = "".join(f"<dt>Вид {letter}</dt><dd>-</dd>" for letter in "абвгдежз")
    price = f"<dl>{facts}<dt>Цена</dt><dd class='price'>61,36 € / 120,01 лв.</dd></dl>"
    assert found(f"{coin}{price}{BUY}", lang="bg").fields["price"] == Decimal("61.36")
    assert found(f"{coin}{BUY}", lang="bg").fields["price"] == Decimal(5)


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("Предварителна поръчка, доставка юни 2026", "PreOrder"),
        ("הזמנה מוקדמת", "PreOrder"),
        ("الطلب المسبق", "PreOrder"),
        ("Išankstinis užsakymas", "PreOrder"),
        ("Forpöntun", "PreOrder"),
        ("Voorbestellen", "PreOrder"),
        ("Na narudžbu, isporuka 10 dana", "BackOrder"),
        ("Po porudžbini 2-4 dana", "BackOrder"),
        ("Pagal užsakymą", "BackOrder"),
        ("Saadaval tellimisel", "BackOrder"),
        ("Na objednávku", "BackOrder"),
        ("Очікується 20.03", "OutOfStock"),
    ],
)
def test_words_for_orders_in_advance(text, stock):
    assert availability_of_text(text) == stock


def test_a_sign_before_an_amount_that_is_another_word_leaves_the_sign_behind():
    prices = "<p>Giá KM: 612.500đ</p>"
    page = found(f"<h1>Đèn</h1>{prices}{BUY}", lang="vi", url="https://shop.vn/p/den")
    assert (page.fields["price"], page.fields["currency"]) == (Decimal(612500), "VND")


def test_a_label_of_the_price_now_may_name_the_discount():
    prices = "<p>시중가: 82,000원</p><p>할인판매가: 73,500원</p>"
    fields = found(f"<h1>라탄 의자</h1>{prices}{BUY}", lang="ko").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(73500), Decimal(82000))


def test_words_name_the_tax_of_rounded_amounts():
    prices = "<p>Rp 4.326.500 belum termasuk PPN</p><p>Rp 5.235.000 Sudah termasuk PPN</p>"
    fields = found(f"<h1>Lampu</h1>{prices}{BUY}", lang="id").fields
    assert fields["price"] == Decimal(5235000)


def test_a_sentence_with_instalments_gives_way_to_the_price_box_above_the_name():
    terms = "<p>od 104,08 € mesačne. Cena dopravy 4,90 €.</p>"
    body = f"<div class='price'>1249,00 €</div><h1>Polica</h1><p>Kód: AB-33667</p>{BUY}{terms}"
    assert found(body, lang="sk").fields["price"] == Decimal("1249.00")


def test_a_unit_before_an_amount_is_not_the_unit_of_the_amount_before():
    price = "<span>147,000 تومان</span><span>هر متر 235,000 تومان</span>"
    boxes = f"<div class='price'><span class='price__old'>165,000 تومان</span>{price}</div>"
    fields = found(f"<h1>صندلی حصیری</h1>{boxes}{BUY}", lang="fa").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(1470000), Decimal(1650000))


def test_facts_of_a_ruled_line_and_of_a_sentence():
    ruled = "<p>Brand <b>Acme</b> · Code <b>AB-64560</b></p>"
    fields = found(f"{H1}{ruled}<p>€9.00</p>{BUY}").fields
    assert (fields["brand"], fields["sku"]) == ("Acme", "AB-64560")
    sentence = "<p>Manufacturer: Kartell. SKU: AB-95887.</p>"
    assert found(f"{H1}{sentence}<p>€9.00</p>{BUY}").fields["brand"] == "Kartell"
    vietnamese = found(f"{H1}<p>Mã SP 87102</p><p>€9.00</p>{BUY}", lang="vi").fields
    assert vietnamese["sku"] == "87102"
    thai = "<p>รหัสสินค้า: N.46442 / แบรนด์: Ferm</p>"
    assert found(f"{H1}{thai}<p>฿900</p>{BUY}", lang="th").fields["sku"] == "N.46442"


def test_a_capital_i_with_a_dot_is_the_letter_i():
    fields = found(f"{H1}<p>İstehsalçı: Domus</p><p>9,00 ₼</p><button>İndi al</button>").fields
    assert (fields["brand"], fields["availability"]) == ("Domus", "InStock")


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("Sắp hết hàng", "InStock"),
        ("Τελευταία 2 τεμάχια", "InStock"),
        ("Последни 2 броя", "InStock"),
        ("Liko 2 vnt.", "InStock"),
        ("Viimased 2 tk", "InStock"),
        ("Atlikums: 8", "InStock"),
        ("Örfá eintök eftir", "InStock"),
        ("Zaloga: 0", "OutOfStock"),
        ("Nuk ka gjendje", "OutOfStock"),
        ("Prece nav pieejama", "OutOfStock"),
        ("Ön siparişe açık", "PreOrder"),
        ("Tellimisel", "BackOrder"),
        ("Tasuta tarne tellimisel", None),
    ],
)
def test_words_for_the_stock(text, stock):
    assert availability_of_text(text) == stock


@pytest.mark.parametrize(
    ("lang", "old", "now", "other", "buy"),
    [
        ("is", "Verð var {} kr.", "Verð nú {} kr.", "Félagsverð {} kr.", "Bæta við körfu"),
        ("hr", "Puna cijena {} €", "Cijena s popustom {} €", "Popust {} €", "Kupite"),
        ("he", "מחיר לפני הנחה ₪{}", "מחיר אחרי הנחה ₪{}", "הנחה ₪{}", "רכישה"),
        ("th", "ราคาก่อนลด ฿{}", "ราคาหลังหักส่วนลด ฿{}", "ค่าขนส่ง ฿{}", "สั่งซื้อ"),
        ("id", "Harga awal Rp {}", "Harga jual Rp {}", "Potongan Rp {}", "Pesan sekarang"),
        ("et", "Tavahind {} €", "Uus hind {} €", "alates {} €/kuu", "Osta kohe"),
        ("lt", "Kaina be nuolaidos {} €", "Nauja kaina {} €", "nuo {} €/mėn.", "Užsakyti"),
        ("lv", "Bija {} €", "Jaunā cena {} €", "12 maksājumi pa {} €", "Grozā"),
        ("ka", "საწყისი ფასი {} ₾", "აქციის ფასი {} ₾", "დანაზოგი {} ₾", "შეძენა"),
        ("sq", "Ishte {} Lekë", "Çmimi me zbritje {} Lekë", "Transporti {} Lekë", "Bli"),
        ("bg", "Базова цена {} €", "Специална цена {} €", "Отстъпка {} €", "Купете"),
        ("el", "Τιμή καταλόγου {} €", "Τιμή μας {} €", "Τιμή μέλους {} €", "Αγορά"),
    ],
)
def test_words_around_amounts(lang, old, now, other, buy):
    prices = f"<p>{other.format(40)}</p><p>{old.format(90)}</p><p>{now.format(75)}</p>"
    fields = found(f"{H1}{prices}<button>{buy}</button>", lang=lang).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(75), Decimal(90))
    assert fields["availability"] == "InStock"


@pytest.mark.parametrize(
    ("lang", "service", "goods"),
    [
        ("et", "Lühtri paigaldus", "Paigaldus lühter"),
        ("hr", "Montaža lustera", "Lampa za montažu"),
        ("lt", "Šviestuvo montavimas", "Montavimas šviestuvo"),
        ("ko", "샹들리에 설치 서비스", "설치 샹들리에"),
    ],
)
def test_a_service_is_no_product(lang, service, goods):
    body = "<h1>{}</h1><img src='/i.jpg' alt='{}'><p>€60.00</p><p>40 x 30 cm</p>"
    url = "https://shop.example/info/light"
    assert found(body.format(service, service), lang=lang, url=url).kind == "other"
    assert found(body.format(goods, goods), lang=lang, url=url).kind == "product"


def test_a_higher_amount_in_brackets_behind_the_price_now_is_the_price_before():
    prices = "<p>Ціна зі знижкою: 560 грн (Роздрібна ціна 700 грн). Закінчується.</p>"
    fields = found(f"<h1>Полиця</h1>{prices}{BUY}", lang="uk").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(560), Decimal(700))


def test_instalments_by_the_month_do_not_make_a_product_a_service():
    terms = "<p>от 0,74 € на месец. Доставка 4,90 €.</p><p>Безплатна доставка над 60 €.</p>"
    body = f"<div class='price'>8,90 €</div><h1>Лампа</h1><button>Купи</button>{terms}"
    fields = found(body, lang="bg").fields
    assert (fields["price"], fields["availability"]) == (Decimal("8.90"), "InStock")


def test_a_sentence_of_its_own_says_what_the_second_amount_is():
    terms = "<p>havi 300 Ft-tól. Ingyenes szállítás 24 000 Ft felett.</p>"
    body = f"<div class='price'>3 560 Ft</div><h1>Lámpa</h1>{BUY}{terms}"
    assert found(body, lang="hu").fields["price"] == Decimal(3560)


@pytest.mark.parametrize(
    ("lang", "lowest", "piece"),
    [
        ("id", "Harga terendah 30 hari terakhir: {} $", "buah"),
        ("vi", "Giá thấp nhất trong 30 ngày: {} $", "cái"),
        ("ar", "أقل سعر خلال 30 يوماً: {} $", "قطعة"),
        ("fa", "کمترین قیمت ۳۰ روز اخیر: {} $", "عدد"),
        ("ka", "ბოლო 30 დღის ყველაზე დაბალი ფასი: {} $", "ცალი"),
        ("hy", "Վերջին 30 օրվա ամենացածր գինը: {} $", "հատ"),
    ],
)
def test_the_lowest_price_and_the_price_of_a_piece(lang, lowest, piece):
    body = f"{H1}<p><s>90 $</s></p><p>{lowest.format(70)}</p><p>75 $</p>{BUY}"
    fields = found(body, lang=lang).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(75), Decimal(90))
    tiers = f"{H1}<p>75 $ / {piece}</p><p>10: 70 $</p><p>100: 60 $</p>{BUY}"
    assert found(tiers, lang=lang).fields["price"] == Decimal(75)


def test_a_number_of_pieces_with_a_price_is_no_stock():
    tiers = "<p>500 kr.</p><p>Frá 10 stk.: 450 kr.</p><p>Ófáanlegt</p><p>6 stk. sett</p>"
    found_fields = found(f"<h1>Lampi</h1><p>Vörunúmer: LX25883</p>{tiers}", lang="is").fields
    assert found_fields["availability"] == "OutOfStock"


_FITS = "<table><tr><th>Make</th><th>Model</th><th>Years</th></tr><tr>{}</tr></table>"


def test_the_make_of_a_vehicle_is_not_the_maker_of_a_part():
    labelled = f"{H1}<p>Brand: Valeo</p><p>€9.00</p>{BUY}{_FITS}"
    any_vehicle = "<td>All</td><td>-</td><td>-</td>"
    assert found(labelled.format(any_vehicle)).fields["brand"] == "Valeo"
    clio = "<td>Renault</td><td>Clio</td><td>2005-2012</td>"
    fields = found(f"{H1}<p>€9.00</p>{BUY}{_FITS.format(clio)}").fields
    assert "brand" not in fields


def test_the_shops_logo_in_a_box_for_brands_is_no_maker():
    logo = "<a class='brandlogo' href='{}'><img src='/logo.svg' alt='Birken'></a>"
    body = f"{logo}{H1}<p>€9.00</p>{BUY}"
    assert "brand" not in found(body.format("/")).fields
    assert found(body.format("/m/birken")).fields["brand"] == "Birken"


def test_a_service_that_is_asked_for_by_a_button_is_no_product():
    body = "<h1>{0}</h1><img src='/i.jpg' alt='{0}'><p>Цена: 15 000 ₸</p><button>{1}</button>"
    url = "https://shop.kz/info/hranenie"
    storage = body.format("Сезонное хранение шин", "Оставить заявку")
    assert found(storage, lang="ru", url=url).kind == "other"
    rack = body.format("Стойка для шин", "Оставить заявку")
    assert found(rack, lang="ru", url=url).kind == "product"


def test_the_words_of_uzbek_shops():
    prices = "<p>Eski narx: <s>2 400 000 so'm</s></p><p>Narxi: 2 150 000 so'm</p>"
    facts = "<p>Mahsulot kodi: QR-15</p><p>Ishlab chiqaruvchi: Toxir</p><p>Mavjud emas</p>"
    fields = found(f"<h1>Rubob</h1>{facts}{prices}", lang="uz", url="https://shop.uz/p/1").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal(2150000), Decimal(2400000))
    assert (fields["sku"], fields["brand"]) == ("QR-15", "Toxir")
    assert fields["availability"] == "OutOfStock"
    ordered = f"<h1>Rubob</h1>{prices}<p>Mavjud</p><button>Savatga qo‘shish</button>"
    assert found(ordered, lang="uz").fields["availability"] == "InStock"


def test_a_price_box_above_the_name_is_preferred_to_an_unknown_cost_below():
    cost = "<p>Oak</p><p>Satin</p><p>Packaging 4.90 €</p>"
    assert found(f"{H1}{BUY}{cost}").fields["price"] == Decimal("4.90")
    body = "<product-price>{}</product-price>" + f"{H1}{BUY}{cost}"
    assert found(body.format("349.00 €")).fields["price"] == Decimal("349.00")
    assert found(body.format("")).fields["price"] == Decimal("4.90")


def test_an_unknown_label_ends_a_makers_sentence():
    body = f"{H1}<p>Brand: Domus. Finish: satin-12</p><p>€9.00</p>{BUY}"
    assert found(body).fields["brand"] == "Domus"


@pytest.mark.parametrize(
    ("text", "brand"),
    [
        ("Hydrafit. Zinc-nickel plated steel.", "Hydrafit"),
        ("Acme Works. Sturdy steel frame, lasts long.", "Acme Works"),
        ("Marks Bros. Games and Toys", "Marks Bros. Games and Toys"),
        ("Dr. Oetker", "Dr. Oetker"),
    ],
)
def test_a_sentence_behind_a_makers_name_is_no_part_of_it(text, brand):
    body = f"{H1}<p>Manufacturer: {text}</p><p>€9.00</p>{BUY}"
    assert found(body).fields["brand"] == brand


@pytest.mark.parametrize(
    ("lang", "label", "yes", "no"),
    [
        ("bg", "Наличност", "Има", "Няма"),
        ("hr", "Dostupnost", "Da", "Nema"),
        ("uk", "Наявність", "Є", "Нема"),
        ("lt", "Likutis", "Yra", "Nėra"),
        ("et", "Saadavus", "Jah", "Puudub"),
        ("az", "Mövcudluq", "Var", "Yoxdur"),
        ("lv", "Pieejamība", "Ir", "Nav"),
        ("th", "สต็อก", "มี", "ไม่มี"),
        ("id", "Stok", "Ada", "Tidak ada"),
        ("fa", "موجودی", "دارد", "ندارد"),
    ],
)
def test_yes_and_no_behind_a_label_for_the_stock(lang, label, yes, no):
    row = "<table><tr><td>{}</td><td>{}</td></tr><tr><td>A</td><td>B</td></tr></table>"
    body = f"{H1}<p>9 $</p><p>SKU: LX-12</p>"
    for word, stock in ((yes, "InStock"), (no, "OutOfStock")):
        fields = found(body + row.format(label, word), lang=lang).fields
        assert fields["availability"] == stock
