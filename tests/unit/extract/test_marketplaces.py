"""Pages of marketplaces, auctions and chains: bids, cents on a line of their own, other offers."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.unit.extract.bodies import BUY, H1, found

_PRICE = '<p class="price">€ 19.90</p>'
_DATA = """<script type="application/ld+json">{"@type": "Product", "name": "Red Lamp", "offers":
{"price": "19.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}}</script>"""
_BIDS = "<p>{}</p><b class=price>{}</b><p>7 bids</p><button>{}</button>"


def _price(body: str, **page: str) -> object:
    return found(f"{H1}<p>Item no: 12-B</p>{body}", **page).fields.get("price")


@pytest.mark.parametrize(
    ("label", "bid", "price"),
    [
        ("Current bid:", "US $81.00", "<p>Price:</p><p>US $189.99</p><button>Buy It Now</button>"),
        ("Current bid", "$81.00", "<p>Buy It Now</p><b class=price>$189.99</b>"),
    ],
)
def test_an_auction_s_price_is_what_the_product_can_be_bought_for(
    label: str, bid: str, price: str
) -> None:
    assert _price(_BIDS.format(label, bid, "Place bid") + price) == Decimal("189.99")


def test_a_bid_is_the_price_where_the_product_cannot_be_bought_at_once() -> None:
    body = f"{_BIDS.format('Current bid:', '$81.00', 'Place bid')}<p>Postage: $9.85</p>"
    assert _price(body) == Decimal("81.00")


@pytest.mark.parametrize(("sign", "code"), [("US $", "USD"), ("AU $", "AUD")])
def test_a_blank_may_stand_between_a_dollar_and_its_country(sign: str, code: str) -> None:
    assert found(f"{H1}<p class=price>{sign}81.00</p>{BUY}").fields["currency"] == code


def test_a_line_break_stands_before_cents() -> None:
    assert _price(f"<p class=price>38\n <sup>99</sup></p>{BUY}", lang="nl") == Decimal("38.99")


def test_a_remark_behind_a_price_is_no_cents() -> None:
    body = f"<p class=price>€ 38 <small>20 pcs</small></p>{BUY}"
    assert _price(body) == Decimal(38)


def test_a_code_in_its_own_element_names_the_currency_of_the_prices() -> None:
    body = f"{H1}<p class=price>$59.00</p>{BUY}<p>All prices are in <b>AUD</b>. We ship.</p>"
    assert found(body).fields["currency"] == "AUD"


def test_a_rand_sign_in_a_price_box_is_read() -> None:
    page = found(f"{H1}<p class=price>R 349</p>{BUY}")
    assert (page.fields["price"], page.fields["currency"]) == (Decimal(349), "ZAR")


def test_two_sentences_about_one_offer_are_not_those_of_other_offers() -> None:
    body = "<div><div>Sold out</div><div>This item is out of stock</div><div>$8.90</div></div>"
    assert found(f"{H1}<p>Item no: 12-B</p>{body}").fields["availability"] == "OutOfStock"


def test_an_alert_for_the_stock_is_no_stock() -> None:
    body = f"{H1}{_PRICE}<div>Get in-stock alert</div><p>Item no: 12-B</p>"
    assert found(body).fields["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    ("stock", "lang", "availability"),
    [
        ("Lieferbar ab 14.05.2026", "de", "BackOrder"),
        ("Epuisé chez l'éditeur", "fr", "OutOfStock"),
    ],
)
def test_what_is_sold_from_a_day_on_and_what_is_sold_out(
    stock: str, lang: str, availability: str
) -> None:
    body = f"{H1}{_PRICE}<p class=stock>{stock}</p><p>EAN: 4006381333931</p>"
    assert found(body, lang=lang).fields["availability"] == availability


def test_a_class_calls_a_price_barred() -> None:
    body = "<p class=p>Prix éditeur : <span class=barre>19,00 €</span></p><p>Prix Oak 18,05 €</p>"
    page = found(f"{H1}{body}{BUY}", lang="fr")
    assert (page.fields["price"], page.fields["regular_price"]) == (Decimal("18.05"), Decimal(19))


def test_the_number_in_a_row_of_facts_is_not_the_name() -> None:
    tile = '<li class=card><a href="/t{0}">Acme belt {0}</a> <b class=price>{0}9,49 €</b></li>'
    body = (
        "<h1>Acme wiper, flat Rear axle, 254 mm, full</h1>"
        "<p class=price>12,95 €</p><p>Nicht auf Lager</p><li><span>Artikelnr.:</span> <span>402B0077</span>"
        f"<h2>Ähnliche Produkte</h2>{''.join(map(tile.format, range(1, 5)))}"
    )
    page = found(body, head="<title>402B0077 Acme wiper | Shop</title>", lang="de")
    assert (page.kind, page.fields["price"]) == ("product", Decimal("12.95"))


def test_the_article_s_reference_is_its_number() -> None:
    body = "<span>Référence de l'article</span><span>002.638.50</span>"
    assert found(f"{H1}{_PRICE}{BUY}<div>{body}</div>", lang="fr").fields["sku"] == "002.638.50"


def test_a_reduced_price_is_taxed_where_data_has_it_without_tax() -> None:
    data = """<script type="application/ld+json">{"@type": "Product", "name": "Red Lamp",
    "offers": {"price": 9592, "priceCurrency": "NOK"}}</script>"""
    body = f"{H1}<div class=price><b>11 990,-</b> <del>14 990,-</del></div>{BUY}"
    page = found(body, head=data, lang="nb-NO")
    assert (page.fields["price"], page.fields["regular_price"]) == (Decimal(11990), Decimal(14990))


def test_the_page_s_offer_is_taken_from_the_range_of_several_sellers() -> None:
    data = """<script type="application/ld+json">{"@type": "Product", "name": "Red Lamp",
    "offers": {"@type": "AggregateOffer", "lowPrice": 37.5, "highPrice": 44.95,
    "priceCurrency": "EUR"}}</script>"""
    body = (
        "<p>Merk: Oak</p><p>4,6/5</p><p>312 reviews</p><p>Nieuw</p><p>Rood</p><p>Groot</p><p>A</p>"
    )
    page = found(f"{H1}{body}<p class=price>38,99</p>{BUY}", head=data, lang="nl")
    assert page.fields["price"] == Decimal("38.99")


@pytest.mark.parametrize(
    ("stock", "lang"),
    [
        ("<div>Not available for home delivery</div><div>Available in store only</div>", "en"),
        ("<div>Indisponible en livraison</div><div>Retrait magasin uniquement : 3</div>", "fr"),
    ],
)
def test_what_can_only_be_collected_is_in_stores_only(stock: str, lang: str) -> None:
    body = f"{H1}{_PRICE}<p>EAN: 4006381333931</p><div class=stock>{stock}</div>"
    assert found(body, lang=lang).fields["availability"] == "InStoreOnly"


def test_the_buy_input_of_an_accessory_is_not_the_product_s() -> None:
    accessory = '<div id=accessories><a href="/t">Tape</a> € 2 <input type=button value="{}"></div>'
    stock = "<p>Not available for home delivery</p><p>Available in store only</p>"
    body = f"{H1}<p>EAN: 4006381333931</p>{_PRICE}<div class=stock>{stock}</div>"
    page = found(body + accessory.format("Add to basket"))
    assert page.fields["availability"] == "InStoreOnly"


def test_a_size_that_is_missing_is_not_the_product_s_stock() -> None:
    sizes = "<tr><td class='size unavailable'>XS</td><td class=size>S</td><td class=size>M</td>"
    body = f"{H1}{_PRICE}<table>{sizes}</table>{BUY}"
    assert found(body).fields["availability"] == "InStock"


def test_the_time_to_deliver_what_is_ordered_is_no_choice() -> None:
    stock = "<p>Délai : 2 à 3 semaines sur commande</p><button>Ajouter au panier</button>"
    assert found(f"{H1}{_PRICE}{stock}", lang="fr").fields["availability"] == "BackOrder"


def test_a_start_price_is_not_the_price() -> None:
    body = (
        "<p>Start price:</p><div>$40.00</div><button>Place bid</button><p>Buy Now</p>"
        "<div id=BuyNow>$75.00</div><a>Buy now</a>"
    )
    assert _price(body) == Decimal("75.00")


def test_japanese_auctions_have_a_price_to_buy_at_once() -> None:
    row = "<div class=price><dl><dt>{}</dt><dd>{}円</dd></dl><a class=button>{}</a></div>"
    body = row.format("現在", "5,250", "入札する") + row.format("即決", "12,000", "今すぐ落札")
    assert _price(body, lang="ja") == Decimal(12000)


def test_an_old_amount_has_the_currency_of_the_price_behind_it() -> None:
    body = (
        "<div class=price><s>۸٬۵۰۰٬۰۰۰</s><span>۶٪</span></div>"
        "<div class=price><b>۷٬۹۹۰٬۰۰۰</b> <span>تومان</span></div>"
    )
    page = found(f"{H1}{body}<button>افزودن به سبد</button>", lang="fa")
    assert page.fields["regular_price"] == Decimal(85_000_000)


def test_a_class_for_the_previous_price_is_known() -> None:
    body = "<p><b class=prc__now>219,99 zł</b> <b class=prc__previous>299,99 zł</b></p>"
    omnibus = "<p>Najniższa cena z 30 dni przed obniżką: 249,99 zł</p>"
    page = found(f"{H1}{body}{omnibus}<button>Dodaj do koszyka</button>", lang="pl")
    assert page.fields["regular_price"] == Decimal("299.99")


def test_a_number_below_the_name_is_that_of_the_address() -> None:
    body = f"{H1}<font>(<b>PER.506112</b>)</font>{_PRICE}{BUY}"
    page = found(body, url="https://shop.example/per?id=PER.506112")
    assert (page.fields["name"], page.fields["sku"]) == ("Red Lamp", "PER.506112")


def test_a_label_for_screen_readers_in_the_heading_is_no_part_of_the_name() -> None:
    body = f"<h1><span>Details about &nbsp;</span>Red Lamp</h1>{_PRICE}{BUY}"
    page = found(body, head="<title>Red Lamp | Shop</title>")
    assert page.fields["name"] == "Red Lamp"


def test_a_box_on_a_line_of_its_own_does_not_join_the_word_before() -> None:
    body = f"<h1>Red Lamp<div>39mm</div></h1>{_PRICE}{BUY}"
    page = found(body, head="<title>Buy now | Shop</title>")
    assert page.fields["name"] == "Red Lamp 39mm"


def test_tiles_of_few_related_products_leave_the_page_its_own_product() -> None:
    tile = (
        '<li itemscope itemtype="http://schema.org/Product"><a itemprop=url href="/t{0}.html">'
        "<b itemprop=name>Tool {0}</b></a><b class=price>€ {0}9,95</b></li>"
    )
    tiles = "".join(map(tile.format, range(1, 5)))
    body = f"{H1}<p>Item no: 12-B</p>{_PRICE}{BUY}<h2>Related products</h2><ul>{tiles}</ul>"
    assert found(body, url="https://shop.example/red-lamp.html").fields["price"] == Decimal("19.90")
    listing = found(f"<h1>Tools</h1><ul>{tiles}</ul>", url="https://shop.example/tools.html")
    assert listing.kind == "listing"


def test_the_lower_price_of_a_variant_in_stock_comes_before_that_of_one_without() -> None:
    offer = '{"@type": "Offer", "price": %s, "priceCurrency": "EUR", "availability": "%s"}'
    offers = f"{offer % (127, 'OutOfStock')}, {offer % (89, 'InStock')}"
    data = f"""<script type="application/ld+json">{{"@type": "Product", "name": "Red Lamp",
    "offers": [{offers}]}}</script>"""
    page = found(f"{H1}<p>Nero</p>{BUY}", head=data)
    assert (page.fields["price"], page.fields["availability"]) == (Decimal(89), "InStock")


def test_a_dead_button_that_says_sold_out_outweighs_data() -> None:
    body = f"{H1}{_PRICE}<div><button disabled>Sold out</button></div>"
    assert found(body, head=_DATA).fields["availability"] == "OutOfStock"
