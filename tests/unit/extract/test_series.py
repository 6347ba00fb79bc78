"""What pages of sites show that no rule was written for: each in a small page of ours."""

from decimal import Decimal

import pytest

from crawler.extract import extract, parse

_BUY = "<form action=/cart><input type=submit value='Add to cart'></form>"


def _read(body, title="Oak lamp", site="https://shop.example", head=""):
    html = f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return extract(parse(html.encode(), f"{site}/item12.html", "text/html; charset=utf-8"))


def _rows(*pairs):
    return "".join(f"<tr><td>{label}</td><td>{value}</td></tr>" for label, value in pairs)


def test_an_isbn_of_ten_figures_is_the_gtin_of_its_book():
    body = f"<h1>The far shore</h1><p>ISBN: 3-16-148410-X</p><p>Price: $12.00</p>{_BUY}"
    assert _read(body, title="The far shore").fields["gtin"] == "9783161484100"


def test_an_item_number_that_begins_like_a_currency_is_no_price():
    body = f"<h1>Oak lamp</h1><table><tr><td>Item #</td><td>CAD83439</td></tr><tr><td>You pay</td><td><b>$899.00</b></td></tr></table>{_BUY}"
    fields = _read(body).fields
    assert (fields["price"], fields["currency"]) == (Decimal("899.00"), "USD")
    assert fields["sku"] == "CAD83439"


def test_a_price_glued_to_its_currency_stays_the_price_beside_another_currency():
    body = f"<h1>Oak lamp</h1><p><b>EUR899</b></p><p>Shipping from 40 EUR or $45.00</p>{_BUY}"
    assert _read(body).fields["price"] == Decimal(899)


def test_rows_of_prices_before_the_tiles_of_other_products_are_no_tiles():
    tiles = "".join(f"<td><a href=/item{n}.html>Lamp {n}</a> ${n}9.00</td>" for n in range(3, 6))
    rows = "<tr><td>Regular price</td><td>$59.00</td></tr><tr><td>Savings</td><td>- $10.00</td></tr><tr><td>You pay</td><td><b>$49.00</b></td></tr>"
    body = f"<table><tr><td><h2>Oak lamp</h2></td></tr><tr><td><table>{rows}</table>{_BUY}<table><tr>{tiles}</tr></table></td></tr></table>"
    fields = _read(body).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("49.00"), Decimal("59.00"))


def test_a_net_price_is_net_in_the_table_of_quantities_as_well():
    data = '{"@type": "Product", "name": "Oak bolt", "offers": {"price": "128.00", "priceCurrency": "EUR"}}'
    rows = "<tr><td>ab 1 VPE</td><td>128,00 €</td></tr><tr><td>ab 5 VPE</td><td>119,04 €</td></tr>"
    others = "<p><a href=/item13.html>Oak nut</a></p><p>128,00 €</p>"
    body = f"<h1>Oak bolt</h1><p>EAN: 4006381333931</p><p><b>128,00 €</b> netto / VPE</p><p>152,32 € brutto</p><table>{rows}</table><button>In den Warenkorb</button>{others}"
    head = f"<script type=application/ld+json>{data}</script>"
    assert _read(body, title="Oak bolt", head=head).fields["price"] == Decimal("152.32")


def test_the_bold_text_below_the_author_is_the_name():
    body = f"<div><span>Voss, Margaret</span><br><span style='font-weight:bold'>The far shore</span><br><b>Price:</b> $ 12.00<br>{_BUY}</div>"
    title = "Reading room bookshop: Voss, Margaret: The far shore"
    fields = _read(body, title=title, site="https://readingroom.example").fields
    assert fields["name"] == "The far shore"


def test_a_part_number_behind_the_shops_name_is_the_shops_number():
    rows = _rows(
        ("OhmParts Part Number", "334-42468-ND"), ("Manufacturer Product Number", "GRM3642")
    )
    body = f"<h1>GRM3642</h1><table>{rows}</table><p>Unit price <b>$1.12</b></p>{_BUY}"
    fields = _read(body, title="GRM3642", site="https://ohmparts.example").fields
    assert (fields["sku"], fields["mpn"]) == ("334-42468-ND", "GRM3642")


def test_a_table_that_leads_to_the_cart_alone_is_no_tile():
    tiles = "".join(
        f"<tr><td><img src=/t{n}.jpg></td><td><a href=/item{n}.html>Lamp {n}</a> ${n}9.00</td></tr>"
        for n in range(3, 7)
    )
    own = "<tr><td><font size=3>Oak lamp</font> <i>by Anna Voss</i></td></tr><tr><td>Our price: $49.00<br><a href=/cart?add=12><img src=/add.gif alt='Add to cart'></a></td></tr>"
    body = f"<div><table>{own}</table><b>Also bought</b><table>{tiles}</table></div>"
    found = _read(body, title="Oak lamp by Anna Voss - Red Store")
    assert found.kind == "product"
    assert (found.fields["name"], found.fields["price"]) == ("Oak lamp", Decimal("49.00"))


def test_the_value_of_a_label_for_the_name_is_preferred_to_a_title_without_it():
    rows = _rows(("Forfatter:", "Jens Holm"), ("Titel:", "Fynske kirker"), ("Pris:", "kr. 145,-"))
    tiles = "".join(
        f"<tr><td><a href=/item{n}.html>Bog {n}</a> kr. {n}0,-</td></tr>" for n in "456"
    )
    buy = '<form action=/kurv><input type=submit value="Læg i kurv"></form>'
    body = f"<table><tr><td>Antikvariat Nordlys</td></tr></table><table>{rows}</table>{buy}<table>{tiles}</table>"
    assert _read(body, title="Antikvariat Nordlys").fields["name"] == "Fynske kirker"


def test_a_label_for_the_name_tells_it_from_the_author_before_it():
    body = f"<font size=4>Petr Malý: Dcera hodináře</font><br><b>Autor:</b> Petr Malý<br><b>Název:</b> Dcera hodináře<br><b>Cena:</b> 249 Kč<br>{_BUY}"
    found = _read(body, title="Kniharna - Petr Malý: Dcera hodináře - knihkupectví")
    assert found.fields["name"] == "Dcera hodináře"


def test_the_larger_text_below_an_artist_in_bold_is_the_name():
    body = f"<div><b><font size=2>Carlos Veloso</font></b><br><font size=4>Cidade do Mar (LP)</font><br><b>12,90 €</b>{_BUY}</div>"
    found = _read(body, title="Carlos Veloso - Cidade do Mar (LP) - Disco Fado")
    assert found.fields["name"] == "Cidade do Mar (LP)"


def test_the_hebrew_label_of_an_isbn_is_known():
    body = f'<h1>Oak lamp</h1><dl><dt>מסת"ב</dt><dd>9789658798330</dd></dl><p>68 ₪</p>{_BUY}'
    assert _read(body).fields["gtin"] == "9789658798330"


def _pictured(line, picture):
    return f"<table><tr><td><img src={picture}></td><td><b><font size=4>Oak lamp</font></b><br>{line}<br>$12.00<br>{_BUY}</td></tr></table>"


def test_a_number_behind_a_label_of_the_shop_is_known_by_the_picture():
    line = "Wine code C506<br>Model: TX-40<br>Manufacturer: Acme"
    fields = _read(_pictured(line, "/b/C506.jpg")).fields
    assert (fields["sku"], fields["mpn"]) == ("C506", "TX-40")
    assert _read(_pictured("Quickcode: 716299", "/b/716299.jpg")).fields["sku"] == "716299"


def test_a_picture_named_otherwise_or_by_a_fact_gives_no_number():
    assert "sku" not in _read(_pictured("Wine code C506", "/b/lamp-1.jpg")).fields
    assert "sku" not in _read(_pictured("Brand: AC12", "/b/AC12.jpg")).fields
    assert "sku" not in _read(_pictured("Since the year 2009", "/b/20.jpg")).fields


def test_a_net_price_that_a_table_repeats_stays_where_no_gross_price_can_be_read() -> None:
    """The line of the gross price begins with words for a price without tax."""
    page = (
        "<h1>Torque wrench 40-200 Nm</h1><div class=price><b>148,50 €</b></div>"
        "<p>pro 1 Stk. zzgl. MwSt. | 176,72 € inkl. MwSt.</p><button>In den Warenkorb</button>"
        "<table><tr><th>ab Menge<th>Preis</tr><tr><td>1<td>148,50 €</tr><tr><td>5<td>141,07 €</tr></table>"
    )
    fields = extract(parse(page, "https://a.example/p/wrench-613500")).fields
    assert fields["price"] in {Decimal("148.50"), Decimal("176.72")}


def test_the_table_of_related_products_is_no_tile_beside_the_products_table():
    tiles = "".join(
        f"<tr><td><img src=/t{n}.jpg></td><td><a href=/item{n}.html>Lamp {n}</a> ${n}9.00</td></tr>"
        for n in range(3, 7)
    )
    product = "<ul><li>RRP: <s>$59.00</s><li>Our price: <b>$49.00</b></ul><a href=/cart?add=12>Add to cart</a>"
    body = f"<h2>Oak lamp</h2><table><tr><td><img src=/12.jpg><td>{product}</table><h3>Related</h3><table>{tiles}</table>"
    fields = _read(body).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("49.00"), Decimal("59.00"))


def test_a_price_in_large_letters_is_no_name():
    body = f"<table><tr><td><img src=/1.jpg><td><font size=3><b>Brass lamp with shade</b></font><br><font size=5>£99.00</font>{_BUY}</table>"
    assert _read(body, title="Lamps").fields["name"] != "£99.00"


def test_a_short_bold_name_ends_the_title_behind_the_slogan():
    body = f"<table><tr><td bgcolor=#ccc><b>Brass lamp 12</b><tr><td>Code: BL-12<br>$99.00{_BUY}</table>"
    title = "Lamp yard - Lamps, Shades and Bulbs for All - Brass lamp 12"
    assert _read(body, title=title).fields["name"] == "Brass lamp 12"


def test_the_shops_name_in_the_data_gives_way_to_the_brand_shown():
    data = '{"@type": "Product", "name": "Oak lamp", "brand": "Oak House", "offers": {"price": "49.00", "priceCurrency": "EUR"}}'
    body = f"<h1>Oak lamp</h1><p>Brand: Lumen</p><p>49.00 EUR</p>{_BUY}"
    head = f"<script type=application/ld+json>{data}</script>"
    assert _read(body, "Oak lamp | Oak House", head=head).fields["brand"] == "Lumen"
    assert _read(body, "Oak lamp | Lamps", head=head).fields["brand"] == "Oak House"


def test_an_amount_in_a_link_to_other_offers_is_no_regular_price():
    offers = "<p>Used (2) from <a href=#offers>$128.52</a></p><p>$119.00</p><p>Sold by Lumen</p>"
    body = f"<div><h1>Oak lamp</h1>{offers}<button>Add to cart</button></div>"
    fields = _read(body).fields
    assert (fields["price"], fields.get("regular_price")) == (Decimal("119.00"), None)


def test_the_table_of_two_related_products_is_no_tile_beside_the_products_table():
    tiles = "".join(
        f"<tr><td><a href=/item{n}.html><img src=/t{n}.jpg></a><td><a href=/item{n}.html>Lamp {n}</a><br>${n}9.00"
        for n in range(3, 5)
    )
    product = "<a href=/big/1.jpg><img src=/1.jpg></a><td>Item no. L12<p>Price: $49.00<p><a href=/cart?add=12>Add to cart</a>"
    body = f"<center><big>Oak lamp</big></center><table><tr><td>{product}</table><hr><table>{tiles}</table>"
    assert _read(body).fields["price"] == Decimal("49.00")


def test_the_terms_name_the_dollars_by_their_country():
    body = f"<h1>Oak lamp</h1><p>$49.00</p>{_BUY}"
    terms = "<p>All prices are in {} dollars</p>"
    assert _read(body + terms.format("Canadian")).fields["currency"] == "CAD"
    assert _read(body + terms.format("US dollars, not Canadian")).fields["currency"] == "USD"


def test_an_element_above_the_heading_is_the_brands_by_its_own_tag():
    body = f"<tf-box><tf-vendor>Lumen</tf-vendor><h1>Oak lamp</h1><p>$49.00</p>{_BUY}</tf-box>"
    assert _read(body).fields["brand"] == "Lumen"


def test_an_australian_business_number_tells_the_dollars_of_a_shop():
    body = f"<h1>Oak lamp</h1><p>$49.00</p>{_BUY}"
    assert _read(f"{body}<p>ABN 12 345 678 901</p>").fields["currency"] == "AUD"
    assert _read(f"{body}<p>We bank with ABN AMRO</p>").fields["currency"] == "USD"


def test_a_label_between_two_amounts_of_a_line_calls_the_second_one_the_price():
    body = (
        f"<h1>Oak lamp</h1><p><span class=stara>324,99 zł</span> Cena: <em>249,99 zł</em></p>{_BUY}"
    )
    fields = _read(body).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("249.99"), Decimal("324.99"))


def test_instalments_behind_two_amounts_of_a_line_leave_them_a_pair():
    amounts = "<span>R$ 249,90</span> <b>R$ 189,90</b><i>em até 10x de R$ 18,99 sem juros</i>"
    fields = _read(f"<h1>Oak lamp</h1><p>{amounts}</p>{_BUY}").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("189.90"), Decimal("249.90"))


def test_the_code_beside_the_datas_amount_is_its_currency():
    data = '{"@type": "Product", "name": "Oak lamp", "offers": {"price": "129.00", "priceCurrency": "USD"}}'
    head = f"<script type=application/ld+json>{data}</script>"
    body = f"<h1>Oak lamp</h1><p>$129.00{{}}</p>{_BUY}"
    assert _read(body.format(" MXN"), head=head).fields["currency"] == "MXN"
    assert _read(body.format(""), head=head).fields["currency"] == "USD"
    assert _read(body.format(" MXN").replace("9.00", "0.00"), head=head).fields["currency"] == "USD"


def test_a_picture_behind_the_brand_and_its_label_is_no_logo():
    body = f"<h1>Oak lamp</h1><div>Brand: <a href=/m>Lumen</a></div><div><img src=/1.jpg></div><p>$129.00</p>{_BUY}"
    assert _read(body).fields["brand"] == "Lumen"


def test_a_box_with_an_amount_is_no_makers():
    body = f"<h1>Oak lamp</h1><p>$129.00</p><div class=merk>or 18.25 a month</div>{_BUY}"
    assert "brand" not in _read(body).fields


def test_an_amount_in_a_column_of_postage_is_no_price():
    row = "<tr><td>{}</td><td>{}</td><td>£2.80</td><td><a href=/basket?add=1>Add to basket</a></td></tr>"
    heads = "<tr><th>Condition</th><th>Price</th><th>Postage</th><th></th></tr>"
    rows = row.format("New", "£25.00") + row.format("Used", "£12.50")
    fields = _read(f"<h1>Oak lamp</h1><table>{heads}{rows}</table>").fields
    assert fields["price"] == Decimal("25.00")
    parted = f"<table><thead>{heads}</thead><tbody>{rows}</tbody></table>"
    assert _read(f"<h1>Oak lamp</h1>{parted}").fields["price"] == Decimal("25.00")


def test_an_isbn_ends_the_sentences_about_an_edition():
    text = "Thorbecke, 1931. 183 S. mit 12 Abb. OLn. mit Schutzumschlag. ISBN{}."
    body = f"<h1>Reisen</h1><p>{text}</p><p>Preis: 120,00 €</p><button>In den Warenkorb</button>"
    for isbn in (" 3-16-148410-X", " 316148410X", ": 978-3161484100"):
        fields = _read(body.format(isbn), title="Reisen").fields
        assert fields.get("gtin") == "9783161484100", isbn


def test_any_word_behind_the_code_s_name_makes_it_a_label():
    rows = _rows(("EAN kood", "4006381333931"), ("Värv", "valge"))
    body = f"<h1>Oak lamp</h1><table>{rows}</table><p>19,99 €</p><button>Lisa ostukorvi</button>"
    assert _read(body).fields["gtin"] == "4006381333931"


def test_a_message_that_it_is_sold_out_outweighs_data_that_all_products_have():
    data = '{"@type": "Product", "name": "Oak lamp", "offers": {"price": "129.00", "priceCurrency": "USD", "availability": "https://schema.org/InStock"}}'
    head = f"<script type=application/ld+json>{data}</script>"
    facts = f"<dl>{''.join(f'<dt>Part {n}</dt><dd>no. {n}</dd>' for n in range(4))}</dl>"
    body = f"<h1>Oak lamp</h1><p>$129.00</p>{facts}<div class='alertBox'><p>Out of stock</p></div>"
    assert _read(body, head=head).fields["availability"] == "OutOfStock"
    assert _read(body + _BUY, head=head).fields["availability"] == "InStock"


def test_the_datas_name_ends_before_the_author_and_the_shop_that_titles_have():
    data = '{"@type": "Product", "name": "%s", "offers": {"price": "9.00", "priceCurrency": "EUR"}}'

    def name(stated, title, link="Ewa Malik"):
        head = f"<script type=application/ld+json>{data % stated}</script>"
        body = f"<h1>The far shore</h1><p><a href=/a>{link}</a></p><p>9,00 €</p>{_BUY}"
        return _read(body, title=title, head=head).fields["name"]

    full = "The far shore – Ewa Malik"
    assert name(full, "The far shore - Ewa Malik - Znak") == "The far shore"
    assert name(full, "The far shore - Ewa Malik - Znak", link="Jan Lis") == full
    assert name(full, "The far shore - Znak") == full
    shop = "The far shore : Shop: Books"
    assert name(shop, f"{shop} | the shop") == "The far shore"


def test_the_first_words_of_a_title_behind_a_label_are_no_name_beside_large_letters():
    facts = "<table><tr><td>Artist:</td><td>Redhill Choir</td></tr><tr><td>Catalogue no:</td><td>213824</td></tr></table>"
    body = f"<table><tr><td><font size=4><b>Slow Train</b></font><br><font size=2><a href=/a/1>Redhill Choir</a></font><br><font color=red><b>£4.99</b></font></td></tr></table>{facts}{_BUY}"
    title = "Redhill Choir - Slow Train : Shop - CDs and games"
    fields = _read(body, title=title).fields
    assert (fields["name"], fields["price"]) == ("Slow Train", Decimal("4.99"))
    small = body.replace("<font size=4>", "<font size=2>")
    assert _read(small, title=title).fields["name"] == "Redhill Choir"


def test_the_maker_above_the_heading_goes_before_the_shop_at_the_title_s_end():
    data = '{"@type": "Product", "name": "Oak lamp", "sku": "12-B", "brand": "%s", "offers": {"price": "129.00", "priceCurrency": "USD", "availability": "InStock"}}'
    body = f"<div class=product-single__vendor><a href=/v>Lumen</a></div><h1>Oak lamp</h1><p>$129.00</p>{_BUY}"

    def brand(stated):
        head = f"<script type=application/ld+json>{data % stated}</script>"
        return _read(body, title="Oak lamp | Wattle Lights", head=head).fields["brand"]

    assert brand("Wattle Lights") == "Lumen"
    assert brand("Wattle") == "Wattle"


def test_the_makers_number_has_a_label_of_its_own_in_german_shops():
    rows = "<ul><li><b>HAN:</b> <span>24.5845-3202.1</span></li></ul>"
    assert _read(f"<h1>Oak lamp</h1>{rows}<p>8,49 €</p>{_BUY}").fields["mpn"] == "24.5845-3202.1"


def test_an_amount_with_a_coupon_is_no_price():
    coupon = "<div class=coupon><b>$104.00</b> SAVE5</div>"
    body = f"<h1>Oak lamp</h1><span class=old-price>$137.00</span>{coupon}<span class=price>$109.00</span>{_BUY}"
    fields = _read(body).fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("109.00"), Decimal("137.00"))


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("Oak lamp <small>made by hand</small>", "Oak lamp"),
        ("Oak lamp <span>★★★★☆ (5 reviews)</span>", "Oak lamp"),
        ("Oak lamp <span>(item no. 01052)</span>", "Oak lamp"),
        ("Oak lamp<br><span>a light for years</span>", "Oak lamp"),
        ("【送料無料】Oak lamp", "Oak lamp"),
        ("Oak lamp <span>red</span>", "Oak lamp red"),
        ("Oak lamp <span>with a shade of silk</span>", "Oak lamp with a shade of silk"),
    ],
)
def test_a_remark_in_the_heading_that_no_title_has_is_no_part_of_the_name(heading, name):
    title = "Oak lamp with a shade of silk | Shop" if "silk" in heading else "Oak lamp buy cheaply"
    body = f"<h1>{heading}</h1><p class=price>$9</p>{_BUY}"
    assert _read(body, title=title).fields["name"] == name


def test_the_seconds_of_a_time_are_no_thousands_of_the_price_behind_it():
    body = f"<h1>Oak lamp</h1><p class=price><i>Ends in 03:12:45</i> 244,18 €</p>{_BUY}"
    assert _read(body).fields["price"] == Decimal("244.18")


def test_a_colon_stands_before_the_cents_of_crowns():
    body = "<h1>Eklampa</h1><p class=pris>1 249:50 kr</p><button>Köp</button>"
    assert _read(body, title="Eklampa").fields["price"] == Decimal("1249.50")


def test_the_quotation_marks_around_a_whole_heading_are_no_part_of_the_name():
    def name(heading):
        return _read(f"<h1>{heading}</h1><p>€ 9.00</p>{_BUY}", title="The sea on DVD").fields[
            "name"
        ]

    assert (name("« The sea »"), name("“The sea”")) == ("The sea", "The sea")
    assert name('"The sea" and "The sky"') == '"The sea" and "The sky"'


def test_soft_hyphens_are_no_part_of_a_name():
    found = _read(f"<h1>Garten&shy;stuhl Anna</h1><p>€ 9.00</p>{_BUY}", title="Gartenstuhl Anna")
    assert found.fields["name"] == "Gartenstuhl Anna"


_LIKED = "<h2>Readers also liked</h2><ul>{}</ul>".format(
    "".join(
        f"<li><a href='/item{n}.html'><img src=/t{n}.jpg alt=''><h3>Lamp {n}</h3></a>"
        "<p>Anna Voss</p><p>€8.99</p><p>In stock</p><button>Add to basket</button></li>"
        for n in range(3, 7)
    )
)


def test_the_stock_of_other_products_in_tiles_is_not_the_products():
    body = f"<h1>Oak lamp</h1><p><b>€25.00</b></p><p>{{}}</p><p>SKU: A-12</p>{_LIKED}"
    assert _read(body.format("Lasts a lifetime")).fields.get("availability") is None
    sold_out = "Sold out</p><p><button>Notify me</button>"
    assert _read(body.format(sold_out)).fields["availability"] == "OutOfStock"
    in_print = "Out of print</p><p><button>Notify me</button>"
    assert _read(body.format(in_print)).fields["availability"] == "OutOfStock"


def test_the_products_own_words_for_the_stock_count_beside_tiles():
    body = f"<h1>Oak lamp</h1><p><b>€25.00</b></p><p>In stock</p><p>SKU: A-12</p>{_LIKED}"
    assert _read(body).fields["availability"] == "InStock"


def test_words_for_the_stock_are_turned_by_yes_and_no_behind_them():
    def stock(words):
        body = f"<h1>Oak lamp</h1><p><b>€25.00</b></p><p>{words}</p><p>SKU: A-12</p>"
        return _read(body).fields.get("availability")

    assert stock("Discontinued: no") is None
    row = "<table><tr><th>Is Discontinued By Manufacturer<td>{}</table><p>"
    assert stock(row.format("No") + "Currently unavailable") == "OutOfStock"
    assert stock(row.format("Yes")) == "Discontinued"
    assert (stock("Sold out: no"), stock("Ausverkauft: ja")) == ("InStock", "OutOfStock")
    assert (stock("Uitverkocht: nee"), stock("In stock: no")) == ("InStock", "OutOfStock")
    assert (stock("Lager: 0"), stock("Bestand: 12")) == ("OutOfStock", "InStock")
    assert (stock("Nettlager: 0 stk"), stock("Nettlager: 10 stk")) == ("OutOfStock", "InStock")
    assert stock("Availability: sold out: no") == "InStock"
    assert stock("Availability: stock: 0") == "OutOfStock"


def test_a_price_that_several_tiles_share_does_not_contradict_the_data():
    offer = '{"price": "14.99", "priceCurrency": "EUR", "availability": "InStock"}'
    data = f'{{"@type": "Product", "name": "Oak lamp", "offers": {offer}}}'
    head = f"<script type=application/ld+json>{data}</script>"
    found = _read(f"<h1>Oak lamp</h1><p><b>€14.99</b></p>{_LIKED}", head=head)
    assert found.offered["text"]["price"] == Decimal("14.99")


def test_a_number_of_sheet_music_is_its_gtin():
    body = f"<h1>Sonata</h1><p>ISMN: 979-0-2314-3821-5</p><p>€ 9.00</p>{_BUY}"
    assert _read(body, title="Sonata").fields["gtin"] == "9790231438215"


def test_a_maker_behind_its_label_is_no_name_though_a_title_begins_with_it():
    rows = _rows(("Brand", "Michelon"), ("Price", "€ 156.90"))
    title, site = "Redstore - Michelon Primo 4 - low prices", "https://redstore.example"
    body = f"<h1>Tyre data</h1><table>{rows}</table>{_BUY}"
    fields = _read(body, title=title, site=site).fields
    assert (fields["brand"], fields["name"]) == ("Michelon", "Tyre data")


def test_the_larger_of_two_large_texts_is_the_name_below_the_artist():
    body = f"<font size=4>Los Faros</font><br><font size=5><b>Mar adentro</b></font><p>Price: <b>€ 15.00</b></p>{_BUY}"
    title, site = "Redstore - Los Faros - Mar adentro", "https://redstore.example"
    assert _read(body, title=title, site=site).fields["name"] == "Mar adentro"


@pytest.mark.parametrize("caption", ["Add to cart - save $5", "Buy now (free shipping over $50)"])
def test_another_amount_on_the_button_that_buys_is_no_price(caption):
    form = f"<form action=/order><input type=submit value='{caption}'></form>"
    assert "price" not in _read(f"<h1>Oak lamp</h1><p>Order code: P-412{form}").fields
    assert _read(f"<h1>Oak lamp</h1><p>Price: 40</p>{form}").fields["price"] == 40


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("God of War", "God of War $59.99"),
        ("Castle MOC", "Castle MOC $59.99"),
        ("Tube PVC", "Tube PVC $59.99"),
        ("Lampa", "Moc 60 W $59.99"),
        ("Tusen ord", "Tusen ord $59.99"),
    ],
)
def test_a_name_that_ends_in_a_word_of_old_prices_of_another_language_makes_none(name, shown):
    body = f"<h1>{name}</h1><p>{shown}</p><p>Deluxe edition $79.99</p>{_BUY}"
    assert _read(body).fields["price"] == Decimal("59.99")


@pytest.mark.parametrize("label", ["War", "war:", "MOC", "Ord"])
def test_a_short_word_alone_before_an_amount_makes_it_the_old_price(label):
    fields = _read(f"<h1>Lampe</h1><p>{label} $79.99</p><p>$59.99</p>{_BUY}").fields
    assert (fields["price"], fields["regular_price"]) == (Decimal("59.99"), Decimal("79.99"))


def test_a_price_on_the_one_button_that_buys_is_the_products():
    others = "".join(f"<li><a href=/item{n}.html>Lamp {n}</a> - ${n}9.95" for n in range(3, 7))
    button = "<form action=/order><input type=submit value='Buy now - only $29.95'></form>"
    fields = _read(f"<h1>Oak lamp</h1><p>Order code: P-412{button}<ul>{others}</ul>").fields
    assert (fields["price"], fields["currency"]) == (Decimal("29.95"), "USD")
    assert (
        "price"
        not in _read(
            f"<h1>Oak lamp</h1><p>Order code: P-412{button}{button.replace('29', '39')}"
        ).fields
    )
