"""Captions, words for the stock and names of boxes that several shops share."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.items import Product
from tests.unit.extract.bodies import BUY, H1, found

_PRICE = '<p class="price">€ 149.00</p>'


def _product(body: str, lang: str = "en") -> Product:
    product = found(f"{H1}{body}", lang=lang).product()
    assert product is not None
    return product


@pytest.mark.parametrize(
    "caption",
    [
        "Notify when available", "Alert me when in stock", "Avisarme cuando esté disponible",
        "Avisar quando disponível", "Avvisa quando disponibile", "Сообщить, когда будет в наличии",
        "Upozornit, až bude skladem", "Meddela när den finns i lager", "Upozorniť, keď bude skladom",
        "Waarschuw mij wanneer op voorraad",
    ],
)  # fmt: skip
def test_a_button_that_tells_when_the_product_is_in_stock_stands_for_none(caption: str) -> None:
    assert _product(f"{_PRICE}<button>{caption}</button>").availability == "OutOfStock"


@pytest.mark.parametrize(
    "sentence",
    [
        "M'avertir quand disponible", "Powiadom, gdy dostępny", "Meld meg når varen er på lager",
        "Notifică-mă când este în stoc", "Ειδοποίησέ με όταν είναι διαθέσιμο", "Ships today if available",
        "Повідомити, коли з'явиться в наявності", "Obavijesti me kad bude dostupno",
        "Obvesti me, ko bo na zalogi", "Pranešti, kai bus sandėlyje", "Teavita, kui saadaval",
        "Beritahu saya jika tersedia", "Giv besked hvis på lager",
    ],
)  # fmt: skip
def test_a_sentence_with_a_condition_does_not_say_that_the_product_is_in_stock(
    sentence: str,
) -> None:
    assert _product(f"{_PRICE}<p>{sentence}</p>").availability is None
    assert _product(f"{_PRICE}<p>{sentence}</p>{BUY}").availability == "InStock"


@pytest.mark.parametrize(
    ("words", "stock"),
    [
        ("Liefertermin unbekannt", "BackOrder"), ("Ohne Liefertermin", "BackOrder"),
        ("Levertermijn onbekend", "BackOrder"), ("Können wir leider nicht mehr liefern", "OutOfStock"),
        ("Sofort abholbereit", "InStock"), ("販売休止中です", "OutOfStock"), ("Check back later!", "OutOfStock"),
        ("Steht nicht zur Verfügung", "OutOfStock"), ("This isn’t in stock right now", "OutOfStock"),
        ("Fara stoc", "OutOfStock"), ("Slut på webben", "OutOfStock"), ("Ej beställningsbar", "OutOfStock"),
        ("入荷未定", "OutOfStock"), ("재고 소진", "OutOfStock"), ("Bán hết", "OutOfStock"),
        ("Ei myynnissä", "OutOfStock"), ("Раскуплено", "OutOfStock"), ("Produkt wycofany", "Discontinued"),
        ("Brak w ofercie", "OutOfStock"), ("Wysyłamy natychmiast", "InStock"), ("Pocas unidades", "InStock"),
        ("Pochi pezzi", "InStock"), ("Poucas unidades", "InStock"), ("Disponibilidad inmediata", "InStock"),
        ("12 unidades", "InStock"), ("0 pcs", "OutOfStock"),
    ],
)  # fmt: skip
def test_words_in_the_box_for_the_stock(words: str, stock: str) -> None:
    assert _product(f'{_PRICE}<div class="stock">{words}</div>').availability == stock


@pytest.mark.parametrize(
    ("words", "lang"),
    [
        ("Ships in 24 hours", "en"), ("Delivery within 48 hours", "en"), ("Lieferzeit 24 Stunden", "de"),
        ("Envío en 24 horas", "es"), ("Verzending binnen 24 uur", "nl"), ("Wysyłka w 24 godziny", "pl"),
        ("Pieejams", "lv"), ("Odesíláme do 24 hodin", "cs"), ("Odosielame do 24 hodín", "sk"),
        ("Отправка в течение 24 часов", "ru"), ("Відправимо протягом 24 годин", "uk"),
    ],
)  # fmt: skip
def test_the_hours_until_a_product_is_sent_make_it_no_service(words: str, lang: str) -> None:
    assert _product(f"{_PRICE}<p>{words}</p>", lang).price == Decimal("149.00")


def test_the_hours_in_the_line_with_the_price_make_the_product_no_service() -> None:
    product = _product("<p>149,00 € inkl. MwSt., Lieferzeit 24 Stunden</p>", "de")
    assert (product.price, product.availability) == (Decimal("149.00"), "InStock")


@pytest.mark.parametrize("words", ["2 hours, available on Sundays", "24 hours of yoga"])
def test_the_hours_that_a_service_takes_make_it_one(words: str) -> None:
    assert found(f"{H1}{_PRICE}<p>{words}</p>").kind == "other"


@pytest.mark.parametrize("caption", ["Request stock alert", "Motta varsel!", "В лист ожидания"])
def test_a_button_for_a_message_stands_for_no_stock(caption: str) -> None:
    assert _product(f"{_PRICE}<button>{caption}</button>").availability == "OutOfStock"


def test_the_caption_of_a_buy_button_without_the_article() -> None:
    button = "<button>Legg til handlekurv</button>"
    assert _product(f"{_PRICE}{button}").availability == "InStock"


@pytest.mark.parametrize(
    "words",
    ["product-code", "block__product-code", "card__sku", "heading__detail--sku", "article-number"],
)
def test_classes_of_the_shop_s_number(words: str) -> None:
    assert _product(f'<p class="{words}">AB-1234</p>{_PRICE}{BUY}').sku == "AB-1234"


def test_a_code_that_grants_a_discount_is_no_number() -> None:
    assert _product(f'{_PRICE}<p class="promo-code">SAVE-20</p>{BUY}').sku is None


def test_the_price_in_a_box_called_list_is_no_list_price() -> None:
    prices = '<p>Fee 9.00 €</p><p class="product-list__price">149.00 €</p>'
    product = _product(f"{prices}<p>129.00 €</p>{BUY}")
    assert product.regular_price is None


@pytest.mark.parametrize("words", ["buyButton", "buy-btn--text", "js-add-cart-text", "btnBuy"])
def test_a_short_caption_buys_in_a_box_called_a_buy_button(words: str) -> None:
    button = f'<div><span class="{words}">Order</span></div>'
    assert _product(f"{_PRICE}{button}").availability == "InStock"


def test_the_row_around_a_buy_button_is_no_button() -> None:
    row = '<div class="buy-button-container"><span>Order</span></div>'
    assert _product(f"{_PRICE}{row}").availability is None


@pytest.mark.parametrize(
    "button", ["<button disabled>Sold out</button>", '<input type="submit" value="Sold out">']
)
def test_a_button_that_says_sold_out_outweighs_a_sentence_before_it(button: str) -> None:
    sentence = "<p>In stock items ship today</p>"
    assert _product(f"{_PRICE}{sentence}{button}").availability == "OutOfStock"
    assert _product(f"{_PRICE}{sentence}{BUY}{button}").availability == "InStock"


@pytest.mark.parametrize(
    "parts",
    [
        '<span class="c-cents">99</span><span class="c-unit">€</span>',
        '<div class="c-cents">99</div><div class="c-unit">€</div>',
        "<div>,99</div><div>€</div>",
    ],
)
def test_cents_and_currency_may_share_a_box_beside_the_units(parts: str) -> None:
    price = (
        f'<div class="price"><div class="c-units">499</div><div class="c-side">{parts}</div></div>'
    )
    assert _product(f"{price}{BUY}").price == Decimal("499.99")


def test_a_small_text_in_a_box_beside_the_amount_is_no_cents() -> None:
    price = '<div class="price"><div>149 €</div><div><small>12 reviews</small></div></div>'
    assert _product(f"{price}{BUY}").price == 149
