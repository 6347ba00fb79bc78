"""Pages without structured data, in the manner of unlike shops: what their text says is read."""

from decimal import Decimal
from typing import Any

import pytest

from crawler.extract import extract, parse
from crawler.extract.money.short_currency_words import lone_price, word_beside

URL = "https://shop.example/p/red-lamp"
#: By what they show: language, body, the fields expected, and the address where it matters.
# fmt: off
PAGES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    'currency: LE79': ('en', '<h1>Cotton Shirt</h1><div class="price">LE 79</div><button>Add to cart</button>', {'price': '79', 'currency': 'EGP'}, 'https://shop.example/products/cotton-shirt'),
    'currency: LE dotted': ('en', '<h1>Cotton Shirt</h1><div class="price">L.E. 1,250.00</div><button>Add to cart</button>', {'price': '1250', 'currency': 'EGP'}, URL),
    'currency: LE behind': ('en', '<h1>Cotton Shirt</h1><div class="price">1,250.00 LE</div><button>Add to cart</button>', {'price': '1250', 'currency': 'EGP'}, URL),
    'currency: EGP shopify': ('en', '<html><h1>Shirt</h1><span class="money">LE 1,299.00 EGP</span><button>Add to cart</button>', {'price': '1299', 'currency': 'EGP'}, URL),
    'currency: fr LE': ('fr', '<h1>Lampe</h1><p>LE 79 est un produit</p><div class="price">49,00 €</div><button>Ajouter au panier</button>', {'price': '49', 'currency': 'EUR'}, URL),
    'currency: Q gt': ('es', '<h1>Camisa</h1><div class="price">Q 250.00</div><button>Comprar</button>', {'price': '250', 'currency': 'GTQ'}, 'https://tienda.example.gt/p/camisa'),
    'currency: L hn': ('es-HN', '<h1>Camisa</h1><div class="price">L 250.00</div><button>Agregar al carrito</button>', {'price': '250', 'currency': 'HNL'}, 'https://tienda.example.hn/p/camisa'),
    'currency: Rs dot': ('en', '<h1>Kurta</h1><div class="price">Rs. 1,299.00</div><button>Add to cart</button>', {'price': '1299', 'currency': 'PKR'}, 'https://shop.example.pk/p/kurta'),
    'currency: Rs behind slash': ('en', '<h1>Kurta</h1><div class="price">Rs 1,299/-</div><button>Add to cart</button>', {'price': '1299', 'currency': 'INR'}, URL),
    'currency: Tk': ('en', '<h1>Saree</h1><div class="price">Tk 1,450</div><button>Add to cart</button>', {'price': '1450', 'currency': 'BDT'}, URL),
    'currency: QAR': ('en', '<h1>Abaya</h1><div class="price">QR 350</div><button>Add to cart</button>', {'price': '350', 'currency': 'QAR'}, URL),
    'currency: SR': ('en', '<h1>Abaya</h1><div class="price">350 SR</div><button>Add to cart</button>', {'price': '350', 'currency': 'SAR'}, URL),
    'currency: BD': ('en', '<h1>Abaya</h1><div class="price">BD 12.500</div><button>Add to cart</button>', {'price': '12.5', 'currency': 'BHD'}, URL),
    'currency: JD': ('en', '<h1>Abaya</h1><div class="price">12.500 JD</div><button>Add to cart</button>', {'price': '12.5', 'currency': 'JOD'}, URL),
    'currency: DT': ('fr', '<h1>Lampe</h1><div class="price">79,000 DT</div><button>Ajouter au panier</button>', {'price': '79', 'currency': 'TND'}, URL),
    'currency: DT2': ('fr', '<h1>Lampe</h1><div class="price">1 279,000 DT</div><button>Ajouter au panier</button>', {'price': '1279', 'currency': 'TND'}, URL),
    'currency: DTnbsp': ('fr', '<h1>Lampe</h1><div class="price"><span>79,000</span> <span>DT</span></div><button>Ajouter au panier</button>', {'price': '79', 'currency': 'TND'}, URL),
    'currency: TND': ('fr', '<h1>Lampe</h1><div class="price">79,000 TND</div><button>Ajouter au panier</button>', {'price': '79', 'currency': 'TND'}, URL),
    'currency: tndtext DT': ('fr', '<h1>Lampe</h1><div class="price">DT 79,000</div><button>Ajouter au panier</button>', {'price': '79', 'currency': 'TND'}, URL),
    'currency: DA': ('fr', '<h1>Lampe</h1><div class="price">7 900 DA</div><button>Ajouter au panier</button>', {'price': '7900', 'currency': 'DZD'}, URL),
    'currency: RUB abbrev': ('ru', '<h1>Лампа</h1><div class="price">7 900 руб.</div><button>В корзину</button>', {'price': '7900', 'currency': 'RUB'}, URL),
    'currency: Kcs': ('cs', '<h1>Lampa</h1><div class="cena">7 900,- Kč</div><button>Do košíku</button>', {'price': '7900', 'currency': 'CZK'}, URL),
    'currency: KM': ('hr', '<h1>Lampa</h1><div class="cijena">79,90 KM</div><button>Dodaj u košaricu</button>', {'price': '79.90', 'currency': 'BAM'}, URL),
    'currency: yen tax': ('ja', '<h1>ランプ</h1><p class="price">¥7,900<span>(税込)</span></p><button>カートに入れる</button>', {'price': '7900', 'currency': 'JPY'}, URL),
    'currency: en bare': ('ja', '<h1>ランプ</h1><p>販売価格 7,900円(税込)</p><p>ポイント 79円相当</p><input type="submit" value="カートに入れる">', {'price': '7900', 'currency': 'JPY'}, URL),
    'unit: m2 first': ('de', '<h1>Laminat Eiche 8 mm</h1><div class="price-box"><div class="baseprice">3,99 € / m²</div><div class="price">11,97 € / Paket</div></div><button>In den Warenkorb</button>', {'price': '11.97', 'currency': 'EUR'}, URL),
    'unit: m2 equal weight': ('de', '<h1>Laminat Eiche 8 mm</h1><p>3,99 € / m²</p><p>11,97 €</p><button>In den Warenkorb</button>', {'price': '11.97'}, URL),
    'unit: 1 kg =': ('de', '<h1>Kaffee Crema</h1><p>1 kg = 5,98 €</p><p>2,99 €</p><button>In den Warenkorb</button>', {'price': '2.99'}, URL),
    'unit: (1 kg = )': ('de', '<h1>Kaffee Crema</h1><p><b>2,99 €</b> <small>(1 kg = 5,98 €)</small></p><button>In den Warenkorb</button>', {'price': '2.99'}, URL),
    'unit: 5,98 €/kg first': ('de', '<h1>Kaffee Crema</h1><p><small>5,98&nbsp;€/kg</small></p><p>2,99 €</p><button>In den Warenkorb</button>', {'price': '2.99'}, URL),
    'unit: pro 100 g': ('de', '<h1>Tee</h1><p>Grundpreis: 7,98 € pro 100 g</p><p>3,99 €</p><button>In den Warenkorb</button>', {'price': '3.99'}, URL),
    'unit: 100 g = ': ('de', '<h1>Tee</h1><p>Inhalt: 50 g (100 g = 7,98 €)</p><p>3,99 €</p><button>In den Warenkorb</button>', {'price': '3.99'}, URL),
    'unit: 7,98 €* / 100 g': ('de', '<h1>Tee</h1><p>Inhalt: 50 Gramm (7,98 €* / 100 Gramm)</p><p>3,99 €*</p><button>In den Warenkorb</button>', {'price': '3.99'}, URL),
    'unit: per 100ml': ('en', '<h1>Shampoo</h1><p>£1.20 per 100ml</p><p>£3.00</p><button>Add to basket</button>', {'price': '3.00'}, URL),
    'unit: p per 100': ('en', '<h1>Shampoo</h1><p>(£12.00/litre)</p><p>£3.00</p><button>Add to basket</button>', {'price': '3.00'}, URL),
    'unit: kr/kg': ('sv', '<h1>Kaffe</h1><p>Jmf-pris 119,80 kr/kg</p><p>59,90 kr</p><button>Lägg i varukorg</button>', {'price': '59.90'}, URL),
    'unit: jmf': ('sv', '<h1>Kaffe</h1><p>Jfr-pris 119:80/kg</p><p>59,90 kr</p><button>Lägg i varukorg</button>', {'price': '59.90'}, URL),
    'unit: €/l fr': ('fr', '<h1>Vin rouge</h1><p>12,00 € / L</p><p>9,00 €</p><button>Ajouter au panier</button>', {'price': '9'}, URL),
    'unit: soit kg fr': ('fr', '<h1>Café</h1><p>soit 23,80 € le kg</p><p>5,95 €</p><button>Ajouter au panier</button>', {'price': '5.95'}, URL),
    'unit: Kč/kg': ('cs', '<h1>Káva</h1><p>598 Kč / kg</p><p>149,50 Kč</p><button>Do košíku</button>', {'price': '149.5'}, URL),
    'unit: zł/szt only': ('pl', '<h1>Śruba</h1><p class="price">2,50 zł / szt.</p><button>Do koszyka</button>', {'price': '2.5'}, URL),
    'unit: only per m2': ('de', '<h1>Teppich Meterware</h1><p class="price">19,90 € / m²</p><button>In den Warenkorb</button>', {'price': '19.9'}, URL),
    'unit: per sqm aud': ('en', '<h1>Oak flooring</h1><div class="price">$45.00 per m2</div><div class="price">$94.50 per box</div><button>Add to cart</button>', {'price': '94.5'}, 'https://x.example.com.au/p/oak'),
    'unit: el kilo': ('es', '<h1>Queso</h1><p>15,90 €/kilo</p><p>7,95 €</p><button>Añadir al carrito</button>', {'price': '7.95'}, URL),
    'unit: al kg': ('it', '<h1>Formaggio</h1><p>15,90 € al kg</p><p>7,95 €</p><button>Aggiungi al carrello</button>', {'price': '7.95'}, URL),
    'unit: stuk': ('nl', '<h1>Tegel</h1><p>€ 19,95 per m²</p><p>€ 27,93 per doos</p><button>In winkelwagen</button>', {'price': '27.93'}, URL),
    'unit: ru per m2': ('ru', '<h1>Ламинат</h1><p>990 ₽/м²</p><p>2 178 ₽/упак.</p><button>В корзину</button>', {'price': '2178'}, URL),
    'before: frueher': ('de', '<h1>Bohrer</h1><p class="price">399,00 €</p><button>In den Warenkorb</button><p>Früher 488,90 €</p>', {'price': '399', 'regular_price': '488.9'}, URL),
    'before: frueher desc': ('de', '<h1>Bohrer</h1><p>Früher 488,90 € – jetzt zugreifen! Ein toller Bohrer mit viel Kraft.</p><p>399,00 €</p><button>In den Warenkorb</button>', {'price': '399'}, URL),
    'before: statt': ('de', '<h1>Bohrer</h1><p>statt 488,90 € nur 399,00 €</p><button>In den Warenkorb</button>', {'price': '399', 'regular_price': '488.9'}, URL),
    'before: uvp': ('de', '<h1>Bohrer</h1><p>UVP 488,90 €</p><p>399,00 €</p><button>In den Warenkorb</button>', {'price': '399', 'regular_price': '488.9'}, URL),
    'before: ancien': ('fr', '<h1>Lampe</h1><p>Ancien prix : 120 €</p><p>Prix : 99 €</p><button>Ajouter au panier</button>', {'price': '99'}, URL),
    'before: puvodne': ('cs', '<h1>Lampa</h1><p>Původně 1 200 Kč</p><p>990 Kč</p><button>Do košíku</button>', {'price': '990', 'regular_price': '1200'}, URL),
    'before: eski': ('tr', '<h1>Lamba</h1><p>Eski fiyat: 1.200,00 TL</p><p>990,00 TL</p><button>Sepete Ekle</button>', {'price': '990', 'regular_price': '1200'}, URL),
    'cents: sup': ('en', '<h1>Lamp</h1><div class="price">$<b>119</b><sup>99</sup></div><button>Add to cart</button>', {'price': '119.99'}, URL),
    'cents: div cents': ('en', '<h1>Lamp</h1><div class="price"><span>119</span><span class="cents">99</span> €</div><button>Add to cart</button>', {'price': '119.99'}, URL),
    'cents: block cents': ('en', '<h1>Lamp</h1><div class="price"><div>119</div><div class="cents">99</div><div>€</div></div><button>Add to cart</button>', {'price': '119.99'}, URL),
    'cents: block cents2': ('en', '<h1>Lamp</h1><div class="product-price"><div class="int">119</div><div class="dec">,99</div><div class="cur">€</div></div><button>Add to cart</button>', {'price': '119.99'}, URL),
    'cents: cents ru': ('ru', '<h1>Лампа</h1><div class="cost"><span>119</span>99 ₽</div><button>В корзину</button>', {'price': '119.99'}, URL),
    'cents: cents with sign between': ('fr', '<h1>Lampe</h1><div class="price">119 €<span>99</span></div><button>Ajouter au panier</button>', {'price': '119.99'}, URL),
    'cents: cents with sign sup': ('fr', '<h1>Lampe</h1><div class="price">119€<sup>99</sup></div><button>Ajouter au panier</button>', {'price': '119.99'}, URL),
    'cents: grosze': ('pl', '<h1>Lampa</h1><p class="cena"><strong>119</strong><sup>99 zł</sup></p><button>Do koszyka</button>', {'price': '119.99'}, URL),
    'free: Free': ('en', '<h1>Ebook of lamps</h1><div class="price">Free</div><button>Add to cart</button>', {'price': '0'}, URL),
    'free: 0.00': ('en', '<h1>Sample tile</h1><div class="price">$0.00</div><button>Add to cart</button>', {'price': '0', 'currency': 'USD'}, URL),
    'free: free shipping': ('en', '<h1>Lamp</h1><div class="shipping">Free shipping from $50</div><div class="price">$30.00</div><button>Add to cart</button>', {'price': '30'}, URL),
    'free: 0.00 from others': ('en', '<h1>Lamp</h1><div class="cart">Cart $0.00</div><div class="price">$30.00</div><button>Add to cart</button>', {'price': '30'}, URL),
    'parts: instal': ('en', '<h1>TV</h1><div>or 12 x $41.67</div><div>$499.99</div><button>Add to cart</button>', {'price': '499.99'}, URL),
    'parts: br parcel first': ('pt-br', '<h1>TV</h1><p>em até 10x de R$ 219,99 sem juros</p><p>R$ 2.199,90</p><button>Comprar</button>', {'price': '2199.90'}, 'https://loja.example.com.br/p/tv'),
    'parts: card offer': ('en', '<h1>TV</h1><div>With Club card $449.00</div><div>$499.99</div><button>Add to cart</button>', {'price': '499.99'}, URL),
    'parts: affirm': ('en', '<h1>TV</h1><div>4 interest-free payments of $125.00 with Klarna</div><div>$499.99</div><button>Add to cart</button>', {'price': '499.99'}, URL),
    'parts: finance de': ('de', '<h1>TV</h1><div>ab 18,33 € mtl. finanzieren</div><div>499,00 €</div><button>In den Warenkorb</button>', {'price': '499'}, URL),
    'parts: tr taksit': ('tr', '<h1>TV</h1><div>3 x 333,33 TL taksitle</div><div>999,99 TL</div><button>Sepete Ekle</button>', {'price': '999.99'}, URL),
    'parts: mx meses': ('es-mx', '<h1>TV</h1><div>12 meses sin intereses de $416.58</div><div>$4,999.00</div><button>Agregar al carrito</button>', {'price': '4999', 'currency': 'MXN'}, 'https://t.example.mx/p/tv'),
    'parts: za': ('en', '<h1>TV</h1><div>R 4 999</div><div>R 250 x 24 months</div><button>Add to cart</button>', {'price': '4999', 'currency': 'ZAR'}, 'https://t.example.co.za/p/tv'),
    'parts: ru card': ('ru', '<h1>Телевизор</h1><div>45 990 ₽ с картой магазина</div><div>49 990 ₽</div><button>В корзину</button>', {'price': '49990'}, URL),
    'stock: avail button': ('en', '<h1>Lamp</h1><div class="price">$30.00</div><button type=submit>Add to cart</button>', {'availability': 'InStock'}, URL),
    'stock: avail disabled': ('en', '<h1>Lamp</h1><div class="price">$30.00</div><button disabled>Add to cart</button>', {'availability': None}, URL),
    'stock: avail disabled soldout': ('en', '<h1>Lamp</h1><div class="price">$30.00</div><button disabled>Sold out</button>', {'availability': 'OutOfStock'}, URL),
    'stock: avail input': ('en', '<h1>Lamp</h1><div class="price">$30.00</div><form><input type=submit value="Add to bag"></form>', {'availability': 'InStock'}, URL),
    'stock: avail link': ('cs', '<h1>Lampa</h1><div class="price">300 Kč</div><a href="#" class="btn">Koupit</a>', {'availability': 'InStock'}, URL),
    'stock: avail skladem': ('cs', '<h1>Lampa</h1><div class="price">300 Kč</div><span>Skladem > 5 ks</span><a href="#" class="btn">Do košíku</a>', {'availability': 'InStock'}, URL),
    'place: crumbs': ('en', '<nav class="breadcrumb"><a href="/">Home</a> > <a href="/lamps">Lamps</a> > <a href="/lamps/red">Red Lamp</a></nav><h1>Red Lamp</h1><div class="price">$30.00</div><button>Add to cart</button>', {'breadcrumbs': ['Lamps', 'Red Lamp']}, 'https://shop.example/p/red-lamp-80-cm'),
    'place: ext id': ('hu', '<h1>Lámpa</h1><div class="price">3000 Ft</div><button>Kosárba</button>', {'external_id': 'lámpa-piros'}, 'https://shop.example/p/l%C3%A1mpa-piros'),
    'place: ext id q': ('hu', '<h1>Lámpa</h1><div class="price">3000 Ft</div><button>Kosárba</button>', {'external_id': 'lámpa x'}, 'https://shop.example/index.php?id_product=l%C3%A1mpa%20x'),
}
# fmt: on


def found(body, url=URL, lang="en"):
    html = f'<html lang="{lang}"><head><meta charset="utf-8"></head><body>{body}</body></html>'
    return extract(parse(html.encode(), url))


@pytest.mark.parametrize("case", PAGES)
def test_a_page_says_what_it_sells(case):
    lang, body, expected, url = PAGES[case]
    page = found(body, url, lang)
    assert page.kind == "product", page.verdict.reasons
    for field, value in expected.items():
        read = page.fields.get(field)
        assert (read == Decimal(value)) if "price" in field else (read == value), field


PROSE = "<p>" + "Leather needs care in winter, and here is how we do it at home. " * 30 + "</p>"


@pytest.mark.parametrize(
    ("url", "body"),
    [
        # A price in a sentence, and a link that buys on another page.
        (
            "https://shop.example/five-lamps",
            f'<h1>Five lamps</h1>{PROSE}<p>The red lamp costs $30.00 and is lovely.</p><a href="/p/red-lamp">Buy now</a>{PROSE}',
        ),
        # A product's box inside an article, with a button of its own.
        (
            "https://shop.example/blogs/news/desk",
            f'<article><h1>How we built the desk</h1>{PROSE}<a href="/products/desk">Desk</a><span class="price">$499.00</span><button>Add to cart</button></article>',
        ),
        (
            "https://shop.example/2025/01/winter-care",
            f'<h1>Winter care</h1>{PROSE}<p>You can buy our balm for 12,90 € in our shop.</p><a class="button" href="/p/balm">Buy now</a>',
        ),
    ],
)
def test_something_to_read_is_no_product_though_it_sells_one(url, body):
    assert found(body, url).kind != "product"


def test_a_link_that_buys_the_page_s_own_product_is_its_button():
    body = '<h1>Red Lamp</h1><b class="price">$30.00</b><a href="/p/red-lamp?add=1">Buy now</a>'
    assert found(body).fields["availability"] == "InStock"


def test_delivery_that_costs_nothing_is_no_price():
    body = '<h1>Red Lamp</h1><p>SKU: RL-1</p><div class="delivery-price">Free</div><p>Sold out</p>'
    assert "price" not in found(body).fields


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("SR 350", False),
        ("Q 250", False),
        ("L 250", True),
        ("BD 12", False),
        ("LE 79 est", True),
        ("", True),
    ],
)
def test_a_word_of_other_meanings_is_no_currency(text, marked):
    assert lone_price(text, marked=marked) is None


def test_a_word_counts_in_its_own_country():
    text = "Longitud L 250 y precio L 1,250.00"
    assert word_beside(text, 11, 14, "EUR") is None
    assert word_beside(text, 26, 34, "HNL") == ("HNL", 24, 34)


def test_a_country_s_word_may_touch_its_amount():
    body = "<h1>Camisa azul M12</h1><div>Q250.00</div><button>Comprar</button>"
    page = found(body, "https://tienda.example.gt/p/camisa", "es")
    assert (page.fields["price"], page.fields["currency"]) == (Decimal("250.00"), "GTQ")
