"""What the pages of small shops do: choices with a price each, tables of sizes, prices by the kilogram."""

from decimal import Decimal

import pytest

from crawler.cleaning.rejection import rejection
from crawler.extract import extract, parse
from crawler.extract.stock.availability import availability_of_text
from crawler.items import Product


def _read(body, path="/oak", title="Oak lamp", lang="en", site="https://shop.example"):
    html = f"<html lang={lang}><head><title>{title}</title></head><body>{body}</body></html>"
    return extract(parse(html.encode(), f"{site}{path}", "text/html; charset=utf-8"))


_BUY = "<form><input name=qty><button>Add to cart</button></form>"


def test_a_remark_in_brackets_is_about_the_amount_before_it():
    """Before, it was the net price that was taken: the remark was cut off at its own bracket."""
    table = "<table><tr><th>販売価格</th><td>6,700円(税抜) <b>7,370円(税込)</b></td></tr></table>"
    found = _read(f"<h1>灯</h1>{table}<button>カートに入れる</button>", lang="ja")
    assert found.fields["price"] == Decimal(7370)


def test_postage_behind_the_last_amount_of_a_line_makes_it_no_other():
    line = "<div class=preis><i>statt 539,46 €</i> ab 469,10 €<small>inkl. 19 % MwSt. zzgl. Versand</small></div>"
    found = _read(f"<h1>Oak lamp</h1>{line}<button>In den Warenkorb</button>", lang="de").fields
    assert (found["price"], found["regular_price"]) == (Decimal("469.10"), Decimal("539.46"))


@pytest.mark.parametrize(("made", "price"), [(None, 33), (1, 132)])
def test_of_choices_with_a_price_each_the_one_made_is_asked_else_the_first(made, price):
    rows = [("Portion bag (some 20 seeds)", 33, "B84"), ("10 g", 132, "B85"), ("100 g", 924, "B86")]
    choices = "".join(
        f"<div><input type=radio name=f{' checked' if n == made else ''}><label>{text} <b>{kr} kr</b> <i>art.nr {number}</i></label></div>"
        for n, (text, kr, number) in enumerate(rows)
    )
    found = _read(f"<h1>Oak lamp</h1><form>{choices}<button>Lägg i korg</button></form>", lang="sv")
    assert (found.kind, found.fields["price"]) == ("product", Decimal(price))
    assert found.fields["sku"] == "B84"


def test_choices_with_a_price_each_are_a_products_without_a_button_that_is_known():
    choices = "".join(
        f"<label><input type=radio name=f>{text} <b>{price} zł</b></label>"
        for text, price in (("1 month", 160), ("1 year", 1860))
    )
    page = f"<h1>Oak lamp</h1><form>{choices}<button>Weiter</button></form>"
    assert _read(page, lang="pl").kind == "product"
    assert _read(page.replace("type=radio", "type=text"), lang="pl").kind == "other"
    checked = page.replace("type=radio", "type=radio checked", 1)
    assert _read(checked).offered["text"]["price"] == Decimal(160)  # though it is by the month
    whole = checked.replace("</h1>", "</h1><p class=price>1700 zł</p>")
    assert _read(whole).offered["text"]["price"] != Decimal(160)


_SIZES = "".join(
    f"<tr><td>B63-{d}</td><td>M{d}x20</td><td>€ {d},95</td><td>disponibile</td></tr>"
    for d in (4, 6, 8)
)
_TABLE = f"<table><thead><tr><th>Codice</th><th>Misura</th><th>Prezzo</th><th>Disponibilità</th></tr></thead><tbody>{_SIZES}</tbody></table>"


def test_a_table_of_sizes_is_one_product_with_the_first_ones_number():
    found = _read(f"<h1>Oak lamp</h1>{_TABLE}", lang="it")
    assert (found.kind, found.fields["sku"]) == ("product", "B63-4")
    assert found.fields["price"] == Decimal("4.95")


def test_a_table_whose_rows_lead_to_pages_of_their_own_tells_no_number():
    linked = _TABLE.replace("<td>M6x20", "<td><a href=/viti/m6>M6x20</a>")
    assert _read(f"<h1>Oak lamp</h1>{linked}", lang="it").fields.get("sku") is None


def test_the_only_price_of_what_is_sold_by_weight_stays_when_it_is_gone():
    body = "<h1>Oak lamp</h1><p>Artikel 1046</p><p>€ 32,10 pro kg</p><p>Derzeit nicht verfügbar</p>"
    found = _read(body, lang="de")
    assert (found.kind, found.fields["price"]) == ("product", Decimal("32.10"))
    assert found.fields["availability"] == "OutOfStock"
    two = _read(f"{body}<p>€ 12,00 pro kg</p>", lang="de")
    assert "price" not in two.fields  # which of them was asked nobody knows


def test_a_title_that_begins_with_the_maker_names_the_heading_below_that():
    body = (
        f"<p>HARDY, Thomas</p><h2>Notes on Arabia</h2><p>£19.00</p><p>Stock ID: M60-1000</p>{_BUY}"
    )
    found = _read(body, title="HARDY, Thomas: Notes on Arabia | Penfold Books")
    assert found.fields["name"] == "Notes on Arabia"


def test_a_page_whose_title_is_its_heads_heading_is_named_by_the_one_at_the_price():
    body = f"<header><h1>Red House</h1></header><nav><a href=/a>A</a></nav><h2>Oak lamp</h2><p>£19.00</p><p>Item no: 12-B</p>{_BUY}"
    assert _read(body, title="Red House").fields["name"] == "Oak lamp"


def test_a_parts_number_that_the_address_holds_is_the_shops():
    body = f"<h1>Oak lamp</h1><dl><dt>Part No.</dt><dd>K73-1000</dd></dl><p>£19.00</p>{_BUY}"
    assert _read(body, path="/part/K73-1000").fields["sku"] == "K73-1000"


@pytest.mark.parametrize("word", ["Verkocht", "Sold"])
def test_a_button_that_is_dead_says_sold_beside_the_price(word):
    body = f"<h1>Oak lamp</h1><p>Ref: T60-1065</p><button{{}}>{word} – € 38,16</button>"
    assert _read(body.format(" disabled")).fields["availability"] == "OutOfStock"
    assert _read(body.format("")).fields.get("availability") is None


@pytest.mark.parametrize(
    ("text", "stock"),
    [
        ("Κατόπιν παραγγελίας", "BackOrder"),
        ("La comandă", "BackOrder"),
        ("Miejsca wyczerpane.", "OutOfStock"),
        ("Køb 6 stk. for 427,95 kr.", None),
        ("6 stk á lager", "InStock"),
        ("10 unidades o más: 49,67 €", None),
        ("10 unidades em estoque", "InStock"),
        ("Dieses Stück ist leider schon verkauft.", "OutOfStock"),
        ("Derzeit leider abverkauft", "OutOfStock"),
        ("Auf Bestellung", "BackOrder"),
    ],
)
def test_words_of_small_shops_about_the_stock(text, stock):
    assert availability_of_text(text) == stock


def test_what_the_price_came_down_by_is_no_tax():
    """601 is 481 with a tax of 25 %: the recommended price was taken for the one with tax."""
    body = "<h1>Oak lamp</h1><p>Doporučená cena: 601 Kč</p><p>Naše cena: 481 Kč</p><p>Ušetříte: 120 Kč</p><button>Do košíku</button>"
    found = _read(body, lang="cs").fields
    assert (found["price"], found["regular_price"]) == (Decimal(481), Decimal(601))


def test_a_button_that_puts_into_the_cart_tells_the_price_on_it():
    found = _read("<h1>Oak lamp</h1><button class=add>Add to cart — $14.00</button>")
    assert (found.kind, found.fields["price"]) == ("product", Decimal("14.00"))


_PAYS = "<form action=https://www.paypal.com/cgi-bin/webscr><input type=hidden name='item_number' value='K89-1'><input type=image alt='{}'></form>"


def test_a_button_of_paypal_buys_and_its_form_tells_the_number():
    said = "PayPal - The safer, easier way to pay online!"
    found = _read(f"<h3>Oak lamp</h3><p>$14.00</p>{_PAYS.format(said)}")
    assert (found.kind, found.fields["sku"], found.fields["availability"]) == (
        "product", "K89-1", "InStock",
    )  # fmt: skip
    assert (
        _read(f"<h3>Oak lamp</h3><p>$14.00</p>{_PAYS.format('Donate with PayPal')}").kind == "other"
    )


def test_two_drawn_buttons_side_by_side_are_one_things():
    drawn = "<p><a href='#b'><img src=/btn_buy.gif alt=바로구매></a> <a href='#c'><img src=/btn_cart.gif alt=장바구니></a></p>"
    body = f"<div><h3>Oak lamp</h3><b>11,000원</b>{{}}</div>{drawn}"
    four = body.format(drawn)
    assert _read(four, lang="ko").offered["text"].get("availability") is None  # two tiles'
    found = _read(
        f"<div><h3>Oak lamp</h3><b>11,000원</b>{drawn}</div><img src=/d/1.jpg>", lang="ko"
    )
    assert found.fields["availability"] == "InStock"
    assert found.fields.get("images") != ["https://shop.example/btn_buy.gif"]


@pytest.mark.parametrize(("told", "stock"), [("None", "OutOfStock"), ("40 bf", "InStock")])
def test_a_cell_that_says_no_behind_the_label_of_the_stock_means_none(told, stock):
    table = f"<table><tr><th>SKU</th><td>12-B</td></tr><tr><th>In Stock</th><td>{told}</td></tr></table>"
    found = _read(f"<h1>Oak lamp</h1><p>$42.73</p>{table}")
    assert found.fields["availability"] == stock


def test_a_french_trail_may_begin_at_the_catalogue():
    trail = "<div class=ariane><a href=/catalogue>Catalogue</a> &gt; <a href=/catalogue/r>Raccords</a></div>"
    body = f"{trail}<h1>Oak lamp</h1><p>53,95 €</p><p>Réf. : T34</p>{_BUY}"
    assert _read(body, lang="fr").fields["breadcrumbs"][-1] == "Raccords"


def test_a_page_without_headings_is_named_by_the_bold_line_its_cell_begins_with():
    cell = "<b>Candela Vespa</b><br><br>Codice: <b>Z92-1000</b><br>Prezzo: <b>15,95 Euro</b><br><form><input type=submit value=Aggiungi></form>"
    page = (
        "<a href=/c>Catalogo</a><table><tr><td><img src=/foto/1.jpg></td><td>{}</td></tr></table>"
    )
    found = _read(page.format(cell), title="Ricambi Rossi", lang="it").fields
    assert (found["name"], found["images"]) == (
        "Candela Vespa",
        ["https://shop.example/foto/1.jpg"],
    )
    other = _read(page.format(f"Novità<br>{cell}"), title="Ricambi Rossi", lang="it").fields
    assert other["name"] != "Candela Vespa"


def test_an_amount_behind_an_unknown_word_above_a_lower_one_was_asked_before():
    """622 is 498 with a tax of 25 %, and no list holds each word for a price of the maker's."""
    body = "<h1>Oak lamp</h1><p>Wunschpreis CHF 622.00</p><p>CHF 498.00</p><button>Kaufen</button>"
    found = _read(body, lang="de-CH").fields
    assert (found["price"], found["regular_price"]) == (Decimal(498), Decimal(622))
    called = _read(body.replace("Wunschpreis", "Preis"), lang="de-CH").fields
    assert called["price"] == Decimal(622)  # it is called the price


def test_an_amount_before_in_the_line_of_the_price_is_no_sentence():
    body = f"<h1>Oak lamp</h1><p>69,50€ <i>au lieu de 79,92€</i></p>{_BUY}"
    assert _read(body, lang="fr").fields["regular_price"] == Decimal("79.92")


def test_a_box_beside_that_leads_to_paying_is_the_things_own():
    box = "<aside><img src=/c/1.jpg alt='Oak lamp'><p>12x de <b>R$ 54,60</b></p><p>ou R$ 545,95 à vista</p><a href='{}'>Quero me inscrever</a></aside>"
    found = _read(f"<h1>Oak lamp</h1>{box.format('/checkout?c=1')}", lang="pt-BR")
    assert (found.kind, found.fields["price"]) == ("product", Decimal("545.95"))
    assert _read(f"<h1>Oak lamp</h1>{box.format('/oak-lamp-2')}", lang="pt-BR").kind != "product"


def test_a_link_that_begins_a_letter_about_the_thing_asks_for_it():
    body = (
        "<h2>Oak lamp</h2><p>Pris: 613:-</p><a href='mailto:hej@shop.example{}'>Jag vill ha den</a>"
    )
    assert _read(body.format("?subject=12"), lang="sv").kind == "product"
    assert _read(body.format(""), lang="sv").kind == "other"


def test_what_cannot_be_had_is_a_product_beside_its_price():
    body = "<h2>Oak lamp</h2><p>$14.00</p><p><b>Sold out - more in the spring!</b></p>"
    found = _read(body)
    assert (found.kind, found.fields["availability"]) == ("product", "OutOfStock")
    tiles = "".join(
        f"<li><a href=/p/{n}>Lamp {n}</a> <b>$ {n}.50</b> Sold out</li>" for n in range(6)
    )
    assert _read(f"<h2>Lamps</h2><ul>{tiles}</ul>").kind != "product"


def test_a_description_follows_the_table_of_other_sellers():
    body = f"<div><h1>Oak lamp</h1><p>$14.00</p>{_BUY}<h3>Other sellers</h3><table><tr><td>Red</td><td>$15.00</td></tr></table><h3>Description</h3><p>Turned from one piece of oak that grew beside the mill.</p></div>"
    assert _read(body).fields["description"].startswith("Turned from")


@pytest.mark.parametrize("code", ["BGN", "HRK"])
def test_a_money_that_pages_still_show_rejects_no_product(code):
    """Pages of Bulgaria tell the lev beside the euro: each of them was rejected."""
    told = {"url": "https://a.example/1", "name": "Oak lamp", "site_id": "a", "external_id": "1"}
    assert rejection(Product(**told, price=Decimal(9), currency=code)) is None
    assert rejection(Product(**told, price=Decimal(9), currency="XYZ")) is not None


@pytest.mark.parametrize(("told", "stock"), [("brak", "OutOfStock"), ("12", "InStock")])
def test_a_labelled_stock_may_be_no_more_than_no(told, stock):
    table = f"<table><tr><td>Indeks</td><td>K76-1</td></tr><tr><td>Dostępność</td><td>{told}</td></tr></table>"
    found = _read(f"<h1>Oak lamp</h1>{table}<p>288,44 zł</p>", lang="pl")
    assert found.fields["availability"] == stock
