"""What defeated the parser on pages in the manner of themes that many shops use: one case a cause."""

from decimal import Decimal

import pytest

from crawler.extract import Found, extract, parse

H1 = "<h1>Red Lamp</h1>"
BUY = "<button>Add to cart</button>"
SPAN = (
    '<script type="application/ld+json">{"@type":"Product","name":"Red Lamp","sku":"A1","offers":'
    '{"@type":"AggregateOffer","lowPrice":"19.90","highPrice":"59.90","priceCurrency":"EUR",'
    '"availability":"InStock"}}</script>'
)


def found(body: str, head: str = "", url: str = "https://s.example/p/1", lang: str = "en") -> Found:
    html = (
        f'<html lang="{lang}"><head><title>Red Lamp</title>{head}</head><body>{body}</body></html>'
    )
    return extract(parse(html, url))


def prices(page: Found) -> tuple[Decimal | None, Decimal | None]:
    return page.fields.get("price"), page.fields.get("regular_price")


class TestPrices:
    def test_a_box_called_old_that_holds_both_prices(self) -> None:
        body = f"""{H1}<p class="detail-price with-list-price">12,95 €* <span>%</span>
            <span class="list-price">15,90 €*</span></p><div class="unit">(129,50 €* / 1 kg)</div>{BUY}"""
        assert prices(found(body, lang="de")) == (Decimal("12.95"), Decimal("15.90"))

    def test_what_is_struck_through_is_not_asked_though_no_other_amount_is_told(self) -> None:
        body = f'{H1}<p class="old-price"><s>12,95 €</s></p><p class="old-price"><s>15,90 €</s></p>'
        assert "price" not in found(body).fields

    def test_a_price_without_tax_does_not_outvote_structured_data(self) -> None:
        head = SPAN.replace("AggregateOffer", "Offer").replace("lowPrice", "price")
        body = f"""{H1}<div class="price-base-and-sale"><div class="price-base">Was: €25</div>
            <div class="price-sale">€19.90</div></div><div class="netto">Net price: €15.70</div>{BUY}"""
        assert prices(found(body, head)) == (Decimal("19.90"), Decimal(25))

    def test_a_bare_number_behind_a_word_for_the_price_before(self) -> None:
        body = f"""{H1}<div class="price"><span class="price-from">Was <b>29.99</b></span>
            <span class="price-now">24.99</span></div>{BUY}"""
        assert prices(found(body)) == (Decimal("24.99"), Decimal("29.99"))

    def test_the_currency_in_the_line_behind_and_an_arabic_percent_sign(self) -> None:
        body = f"""{H1}<div class="price"><div>۲۰٪</div><div class="final"><p>۱,۸۵۰,۰۰۰</p>
            <p>تومان</p></div></div>{BUY}"""
        page = found(body, lang="fa")
        assert (page.fields["price"], page.fields["currency"]) == (Decimal(18_500_000), "IRR")

    def test_a_box_beside_the_product_that_sells_it(self) -> None:
        body = f"""{H1}<p>Blue</p><aside class="buybox"><p>Sold by: Us</p><p class="price">$18.50</p>
            {BUY}</aside><h2>Other sellers</h2><div>Them <b>$19.20</b></div>"""
        assert found(body).fields["price"] == Decimal("18.50")

    @pytest.mark.parametrize(
        ("shown", "price"),
        [
            ("49,90 €", "49.90"),
            ("ab 19,90 €", "19.90"),
            ("19,90 € – 59,90 €", "19.90"),
            ("<del>59,90 €</del> <ins>49,90 €</ins>", "49.90"),
            ("79,90 €", "19.90"),
        ],
    )
    def test_a_span_of_prices_and_the_one_of_the_variant_that_is_shown(
        self, shown: str, price: str
    ) -> None:
        page = found(f'{H1}<p class="price">{shown}</p>{BUY}', SPAN, lang="de")
        assert page.fields["price"] == Decimal(price)

    def test_the_price_before_of_the_variant_that_is_shown(self) -> None:
        head = (
            '<meta property="og:price:amount" content="49.00"><meta property="og:price:currency" '
            'content="EUR"><script type="application/ld+json">{"@type":"Product","name":"Red Lamp",'
            '"offers":{"@type":"Offer","price":"52.00","priceCurrency":"EUR"}}</script>'
        )
        body = f'{H1}<p class="price"><s>59,00 €</s> <b>49,00 €</b></p>{BUY}'
        assert prices(found(body, head)) == (Decimal(49), Decimal(59))

    def test_a_reduced_tile_beside_tiles_makes_no_product(self) -> None:
        plain = '<li><a href="/p/{0}"><h2>Lamp {0}</h2><span class="price"><b>${0}9.00</b></span></a></li>'
        reduced = (
            '<li><a href="/p/9"><h2>Lamp 9</h2><span class="price"><del><b>$66.00</b></del> '
            "<ins><b>$57.99</b></ins></span></a></li>"
        )
        tiles = "".join(plain.format(n) for n in range(1, 9))
        page = found(f"<h1>Shop</h1><ul>{tiles}{reduced}</ul>", url="https://s.example/c/lamps/")
        assert page.kind != "product"

    @pytest.mark.parametrize(
        ("lang", "lowest", "postage"),
        [
            ("it", "Prezzo più basso degli ultimi 30 giorni", "Spedizione da"),
            ("es", "Precio más bajo de los últimos 30 días", "Envío desde"),
            ("pt", "Preço mais baixo dos últimos 30 dias", "Portes desde"),
            ("sk", "Najnižšia cena za posledných 30 dní", "Doprava od"),
            ("ro", "Cel mai mic preț din ultimele 30 de zile", "Livrare de la"),
            ("hu", "Az elmúlt 30 nap legalacsonyabb ára", "Szállítás"),
            ("da", "Laveste pris seneste 30 dage", "Fragt fra"),
            ("fi", "Alin hinta 30 päivän aikana", "Toimitus alkaen"),
            ("el", "Χαμηλότερη τιμή 30 ημερών", "Μεταφορικά από"),
            ("bg", "Най-ниска цена за последните 30 дни", "Доставка от"),
            ("lt", "Mažiausia kaina per 30 dienų", "Pristatymas nuo"),
            ("de", "Niedrigster Preis der letzten 30 Tage", "Versand ab"),
            ("en", "Lowest price in the last 30 days", "Delivery from"),
        ],
    )
    def test_the_lowest_price_of_late_and_postage_are_no_prices(
        self, lang: str, lowest: str, postage: str
    ) -> None:
        above = found(f"{H1}<p>{lowest} € 64,90</p><p>€ 69,90</p>{BUY}", lang=lang)
        assert prices(above) == (Decimal("69.90"), None)
        pair = f"{H1}<div><div>99,90 €</div><div>69,90 €</div></div><p>{lowest}: 74,90 €</p>{BUY}"
        assert prices(found(pair, lang=lang)) == (Decimal("69.90"), Decimal("99.90"))
        assert "price" not in found(f"{H1}{BUY}<p>{postage} 4,90 €</p>", lang=lang).fields

    def test_percent_in_the_line_of_one_of_two_amounts_tells_which_was_before(self) -> None:
        body = f"{H1}<p>€ 99,90</p><p>€ 69,90 <b>-30%</b></p><p>Blue: € 74,90</p>{BUY}"
        assert prices(found(body)) == (Decimal("69.90"), Decimal("99.90"))

    def test_a_word_in_capitals_for_the_tax_between_two_amounts(self) -> None:
        body = f"{H1}<p><span>199,00 € HT</span><span>238,80 € TTC</span></p>{BUY}"
        assert found(body, lang="fr").fields["price"] == Decimal("238.80")


class TestNamesAndNumbers:
    def test_a_heading_with_the_number_in_it(self) -> None:
        name = '<h1>Red Lamp<span class="sku">No.</span><span class="code">88-12</span></h1>'
        assert found(f"{name}<b>$5.00</b>{BUY}").fields["name"] == "Red Lamp"

    @pytest.mark.parametrize(
        "box",
        [
            '<li class="product-sku"><b>Artikelnummer:</b><span>KS-60</span></li>',
            "<p><span><i></i> Item no</span><span>KS-60</span></p>",
            "<p>Shop-Code: KS-60</p>",
            "<p>Item no KS-60 · EAN 4006381333931 · 230 V, 50 Hz</p>",
            '<label>ΚΩΔΙΚΟΣ:</label><span class="x">KS-60</span>',
        ],
    )
    def test_labels_of_numbers(self, box: str) -> None:
        assert found(f"{H1}{box}<p><b>$5.00</b></p>{BUY}").fields["sku"] == "KS-60"

    def test_a_labelled_number_right_before_the_heading(self) -> None:
        before = "<span><span>SKU</span><span>: </span><span>51023</span></span>"
        assert found(f"<div>{before}{H1}</div><b>$5.00</b>{BUY}").fields["sku"] == "51023"


class TestStock:
    def test_delivery_is_told_in_a_box_for_the_time_of_shipping(self) -> None:
        body = f"""{H1}<dl><dt class="shipping-time">Lieferzeit:</dt>
            <dd class="shipping-time-value">Neuheit, jetzt vorbestellen</dd></dl><b>5,00 €</b>"""
        assert found(body, lang="de").fields["availability"] == "PreOrder"

    def test_what_is_sold_out_and_has_a_number_and_a_button_that_tells_of_it_is_a_product(
        self,
    ) -> None:
        body = f"""{H1}<p>Out of stock</p><a href="#">Notify me</a><dl><dt>Item no</dt><dd>100213</dd>
            </dl>"""
        page = found(body, url="https://s.example/catalog/saws/701/")
        assert page.kind == "product", page.verdict.reasons
        assert page.fields["availability"] == "OutOfStock"
