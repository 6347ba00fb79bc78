"""A price beside the one before it, or beside itself in another currency; a number behind a dash."""

from __future__ import annotations

import pytest

from crawler.extract import extract, parse
from crawler.extract.fields import Fields

_TEXT = "<p>A lamp of solid oak that gives a warm light in any room.</p>"


def _read(box: str, language: str = "en", host: str = "shop.example", head: str = "") -> Fields:
    page = (
        f'<html lang="{language}"><head><title>Oak Lamp | Shop</title>{head}</head>'
        f"<body><h1>Oak Lamp</h1>{box}{_TEXT}</body></html>"
    )
    return extract(parse(page.encode(), f"https://www.{host}/p/oak-lamp")).fields


def _prices(fields: Fields) -> tuple[str, ...]:
    names = ("price", "regular_price", "currency")
    return tuple(str(fields[name]) for name in names if fields.get(name) is not None)


@pytest.mark.parametrize(
    ("language", "host", "line", "currency"),
    [
        ("da", "shop.example.dk", "Før 499 kr Nu 399 kr</p><p>Udsolgt", "DKK"),
        ("da", "shop.example.dk", "Førpris 499 kr Nupris 399 kr</p><p>Udsolgt", "DKK"),
        ("nb", "shop.example.no", "Før 499 kr Nå 399 kr</p><p>Utsolgt", "NOK"),
        ("sv", "shop.example.se", "Tidigare 499 kr Nu 399 kr</p><p>Slutsåld", "SEK"),
    ],
)
def test_words_for_before_and_now_in_one_line_are_no_sentence(
    language: str, host: str, line: str, currency: str
) -> None:
    fields = _read(f"<p>{line}</p>", language, host)
    assert _prices(fields) == ("399", "499", currency)
    assert fields["availability"] == "OutOfStock"


_BUY = "<button>Add to cart</button>"


@pytest.mark.parametrize(
    "box",
    [
        '<div><span style="text-decoration:line-through">$49</span> What we ask today $39</div>',
        "<strike>$49</strike><span>Regular Price</span><span>$39</span><span>Sale Price</span>",
    ],
)
def test_a_struck_amount_is_no_price_whatever_words_stand_behind(box: str) -> None:
    assert _prices(_read(box + _BUY)) == ("39", "49", "USD")


@pytest.mark.parametrize(
    ("box", "prices"),
    [
        ("<p>25,00 лв. / 12,78 €</p>", ("25.00", "BGN")),
        ("<p>12,78 € / 25,00 лв.</p>", ("12.78", "EUR")),
        ("<p>Стара цена: 30,00 лв. / 15,34 €</p><p>Цена: 25,00 лв. / 12,78 €</p>",
         ("25.00", "30.00", "BGN")),
        ("<p>Стара цена: 30,00 лв.</p><p>(15,34 €)</p><p>Цена: 25,00 лв.</p><p>(12,78 €)</p>",
         ("25.00", "30.00", "BGN")),
    ],
)  # fmt: skip
def test_the_first_of_two_currencies_is_the_shops(box: str, prices: tuple[str, ...]) -> None:
    assert _prices(_read(box + "<button>Купи</button>", "bg", "shop.example.bg")) == prices


def test_of_two_currencies_the_one_of_the_structured_data_counts() -> None:
    meta = '<meta property="product:price:currency" content="EUR">'
    fields = _read("<p>25,00 лв. / 12,78 €</p><button>Купи</button>", "bg", "a.example.bg", meta)
    assert _prices(fields) == ("12.78", "EUR")


@pytest.mark.parametrize(
    "line", ["Acme — réf X-1234", "Acme - Art.-Nr. X-1234", "Acme – ref. X-1234"]
)
def test_a_labelled_number_behind_a_dash_is_the_products(line: str) -> None:
    assert _read(f"<p>{line}</p><p>$39.00</p>{_BUY}")["sku"] == "X-1234"


def test_a_dash_within_a_text_divides_no_number() -> None:
    assert "sku" not in _read(f"<p>Acme - oak and brass 40 cm</p><p>$39.00</p>{_BUY}")


@pytest.mark.parametrize(
    ("row", "availability"),
    [
        ("<span>Availability</span><span>not in stock</span>", "OutOfStock"),
        ("<span>Dostupnost</span><b>není skladem</b>", "OutOfStock"),
        ("<span>Verfügbarkeit</span><span>nicht lieferbar</span>", "OutOfStock"),
        ("<span>Dostupnost</span><span>skladem</span>", "InStock"),
    ],
)
def test_the_two_boxes_of_a_row_are_a_label_and_its_value(row: str, availability: str) -> None:
    fields = _read(f"<p>$39.00</p><div>{row}</div>{_BUY if availability == 'InStock' else ''}")
    assert fields["availability"] == availability


@pytest.mark.parametrize("label", ["Naše cena s DPH", "CENA", "Cena"])
def test_a_label_in_capitals_right_before_an_amount_hides_no_price(label: str) -> None:
    row = f"<div><span>{label}</span><strong>349 Kč</strong></div><p>288 Kč bez DPH</p>"
    assert _prices(_read(row + "<button>Do košíku</button>", "cs")) == ("349", "CZK")


def test_the_words_of_the_net_amount_before_a_price_hide_no_price_of_what_is_sold_out() -> None:
    pair = "<p><span>173 Kč bez DPH</span><strong>209 Kč</strong> / 1 m</p>"
    gone = "<p>Kód: LA306</p><p>Vyprodáno</p>"
    assert _prices(_read(pair + gone, "cs")) == ("209", "CZK")


def test_a_sum_from_which_postage_is_free_is_no_price_before() -> None:
    text = "<p>A true friend in any kitchen for many years. From $50.00 on we deliver.</p>"
    box = f'<div class="current-price">$49.90</div>{text}'
    assert _prices(_read(box + _BUY)) == ("49.90", "USD")


def test_a_till_systems_own_number_is_the_products() -> None:
    row = "<table><tr><td>Custom SKU</td><td>APR-BL</td></tr></table>"
    assert _read(f"{row}<p>$39.00</p>{_BUY}")["sku"] == "APR-BL"


@pytest.mark.parametrize("text", ["Roman, Gallimard, Paris, 2022", "Référence 1234567"])
def test_a_number_at_the_end_of_a_text_takes_no_price_for_its_cents(text: str) -> None:
    row = f'<div>{text}<span class="price">26€</span></div>'
    assert _prices(_read(row + _BUY, "fr")) == ("26", "EUR")


@pytest.mark.parametrize("mark", ["price", "css-3z"])
def test_a_product_seen_before_above_the_price_is_no_reduction(mark: str) -> None:
    seen = '<div class="seen"><a href="/p/kettle">Copper Kettle</a> <b>$29.00</b></div>'
    button = "<button>Add to cart</button>"
    fields = _read(f'{seen}<div class="{mark}"><strong>$49.00</strong></div>{button}')
    assert (str(fields["price"]), fields.get("regular_price")) == ("49.00", None)
    own = '<div class="sums"><a href="/sizes">Sizes</a><b>$29.00</b><i>$49.00</i></div>'
    assert str(_read(own + button)["price"]) == "29.00"


def test_a_table_of_quantities_that_repeats_the_net_amount_is_net() -> None:
    rows = "<tr><td>1 - 9</td><td>£189.00</td></tr><tr><td>10 - 49</td><td>£181.44</td></tr>"
    table = f"<table data-testid='price-breaks'>{rows}</table><button>Add to basket</button>"
    pair = "<p>£189.00</p><p>(exc. VAT)</p><p>£226.80</p><p>(inc. VAT)</p>"
    assert str(_read(f"{pair}{table}")["price"]) == "226.80"


@pytest.mark.parametrize(
    ("language", "saving"),
    [
        ("en", "Save $10.00 (20%)"),
        ("en", "You save: $10.00 (20% off)"),
        ("en", "Savings $10.00 -20%"),
        ("de", "Sie sparen 10,00 $ (20 %)"),
        ("fr", "Économisez 10,00 $ (20,5 %)"),
    ],
)
def test_a_percentage_behind_a_saving_keeps_its_words_from_the_price(
    language: str, saving: str
) -> None:
    was, now = "<s>$49.00</s>", "<span>$39.00</span>"
    for amounts in (f"{was} {now} <span>{saving}</span>", f"{now} {was} <span>{saving}</span>"):
        assert _prices(_read(f"<div>{amounts}</div>{_BUY}", language))[:2] == ("39.00", "49.00")
