"""What is a maker's name: behind a label, on a logo, in a link, in the data."""

import json
from typing import Any

import pytest

from tests.unit.extract.bodies import BUY, H1, found

PRICE = "<p class=price>$40.00</p>"


def fields(after: str, head: str = "", lang: str = "en") -> dict[str, Any]:
    """What is read from a product's page with boxes behind the price."""
    return found(f"<div>{H1}{PRICE}{BUY}{after}</div>", head, lang=lang).fields


@pytest.mark.parametrize(
    ("value", "brand"),
    [
        ("Acme GmbH, Hafenstr. 1, 20457 Hamburg, info@acme.example", "Acme GmbH"),
        ("Acme GmbH<br>Hafenstr. 1<br>20457 Hamburg", "Acme GmbH"),
        ("Acme Sp. z o.o. ul. Portowa 7", "Acme Sp. z o.o."),
        ("Acme Press (2019)", "Acme Press"),
        ("Acme ★★★★☆", "Acme"),
        ("Studio 54", "Studio 54"),
        ("Studio Code 41", "Studio Code 41"),
        ("Edition Art 5", "Edition Art 5"),
        ("Acme Works Art. no. 5", "Acme Works"),
        ("Acme Works Art 88125", "Acme Works"),
        ("3M, Inc.", "3M, Inc."),
        ("3m", "3m"),
        ("Acme & Sons, since 1881", "Acme & Sons"),
    ],
)
def test_a_makers_name_ends_before_its_address(value: str, brand: str) -> None:
    rows = f"<table><tr><td>Manufacturer<td>{value}<tr><td>Colour<td>red</table>"
    assert fields(rows)["brand"] == brand


@pytest.mark.parametrize(
    "value",
    [
        "Unbranded",
        "N.D.",
        "n.v.t.",
        "Generic",
        "ohne Marke",
        "bez marki",
        "Без бренда",
        "ノーブランド",
    ],
)
def test_what_says_that_goods_have_no_maker_is_no_brand(value: str) -> None:
    assert "brand" not in fields(f"<table><tr><td>Brand<td>{value}</table>")
    node = {"@type": "Product", "name": "Red Lamp", "brand": {"@type": "Brand", "name": value}}
    head = f'<script type="application/ld+json">{json.dumps(node)}</script>'
    assert not fields("", head).get("brand")
    assert fields("<p>Brand: Acme</p>", head)["brand"] == "Acme"


@pytest.mark.parametrize("alt", ["Acme", "Acme Logo", "Logo Acme", "Manufacturer: Acme"])
def test_the_text_of_a_logo_is_the_makers_name_without_further_words(alt: str) -> None:
    assert fields(f'<div class="brand-logo"><img src=x.png alt="{alt}"></div>')["brand"] == "Acme"


@pytest.mark.parametrize("text", ["Acme Works", "More from Acme Works", "All Acme Works lamps"])
def test_a_link_to_the_makers_page_names_it_among_other_words(text: str) -> None:
    link = f'<p><a href="/brands/acme-works">{text}</a></p>'
    assert fields(link)["brand"] == "Acme Works"
    assert "brand" not in fields('<p><a href="/brands/acme">Acme Works</a></p>')
    for part, words in (("alle", "Alle Marken ansehen"), ("todas", "Todas las marcas")):
        assert "brand" not in fields(f'<p><a href="/brands/{part}">{words}</a></p>')
    for other in ("acme-works", "all", "lamps"):
        assert "brand" not in fields(f'<p><a href="/brands/{other}">See all lamps</a></p>')


@pytest.mark.parametrize("turned", [False, True])
def test_a_designer_is_the_maker_where_no_other_one_is_named(turned: bool) -> None:
    lines = ["<p>Designer: Anna Holm</p>", "<p>Manufacturer: Acme</p>"]
    assert fields("".join(reversed(lines) if turned else lines))["brand"] == "Acme"
    assert fields(lines[0])["brand"] == "Anna Holm"


def test_a_label_within_a_line_is_no_label_of_the_next_line() -> None:
    lines = "<ul><li>제조사 / 원산지 : 아크메 / 중국</li><li>상품코드 : 120033</li></ul>"
    read = fields(lines, lang="ko")
    assert read["sku"] == "120033"
    assert "brand" not in read


@pytest.mark.parametrize(
    ("value", "sku"), [("4711-02 sofort lieferbar", "4711-02"), ("#4711-02", "4711-02")]
)
def test_a_number_is_read_without_its_sign_and_the_stock_behind_it(value: str, sku: str) -> None:
    assert fields(f"<p>Artikelnummer: {value}</p>", lang="de")["sku"] == sku


def test_the_code_of_a_voucher_is_no_number_of_the_goods() -> None:
    assert "sku" not in fields("<p>Gutscheincode: NORD10</p>", lang="de")


@pytest.mark.parametrize("value", ["www.acme.example", "https://acme.example", "2 year warranty"])
def test_an_address_of_the_web_and_a_warranty_are_no_makers(value: str) -> None:
    assert "brand" not in fields(f"<p>Manufacturer: {value}</p>")


def test_a_mail_address_behind_a_maker_is_no_part_of_its_name() -> None:
    assert fields("<p>Manufacturer: Acme Ltd (info@acme.example)</p>")["brand"] == "Acme Ltd"


def test_the_heading_of_the_next_part_is_no_value_of_a_label_without_one() -> None:
    empty = '<div><i>Brand:</i><a href="/acme"></a></div><h3>Hints</h3>'
    assert "brand" not in fields(f"{empty}<p>Of oak.</p>")
    assert fields("<div><i>Brand:</i><h3>Acme</h3></div>")["brand"] == "Acme"


@pytest.mark.parametrize("box", ["footer", "aside"])
def test_a_maker_in_the_foot_is_not_the_products(box: str) -> None:
    link = '<a href="/brands/acme">Acme</a>'
    assert "brand" not in fields(f"<{box}><h4>Featured</h4>{link}</{box}>")
    assert fields(f"<div>{link}</div>")["brand"] == "Acme"


@pytest.mark.parametrize("firm", ["Laboratoires Acme SAS", "Acme Oy", "Acme Lamps Sp. z o.o."])
@pytest.mark.parametrize("link", ["Acme", '<img src="/acme.png" alt="Acme">'])
def test_the_makers_firm_gives_way_to_the_brand_that_a_link_beside_the_name_has(
    firm: str, link: str
) -> None:
    row = f"<table><tr><th>Manufacturer</th><td>{firm}, Quay 1, 4711 Port</td></tr></table>"
    assert fields(f'<a href="/brands/acme">{link}</a>{row}')["brand"] == "Acme"
    assert fields(f'<a href="/brands/other">Other</a>{row}')["brand"] == firm
    assert fields(row)["brand"] == firm


def test_a_box_called_producer_is_the_makers() -> None:
    for inner in ("Acme", '<img src="/a.png" alt="Acme">'):
        box = f'<div class="producer"><a href="/acme">{inner}</a></div>'
        assert fields(box)["brand"] == "Acme"


@pytest.mark.parametrize(
    ("label", "lang"),
    [("Kod produktu SKU", "pl"), ("Artikelnummer SKU", "de"), ("رمز المنتج SKU", "ar")],
)
def test_the_label_of_a_number_may_be_there_in_two_languages(label: str, lang: str) -> None:
    assert fields(f"<p>{label}: OUD-50</p>", lang=lang)["sku"] == "OUD-50"
    assert "sku" not in fields(f"<p>Acme {label}: OUD-50</p>", lang="hu")


@pytest.mark.parametrize(
    "text",
    [
        "Shop Acme",
        "Visit the Acme Store",
        "View All Acme",
        "Alle Acme Artikel",
        "Alles von Acme",
        "Visa alla Acme",
    ],
)
@pytest.mark.parametrize("box", ['<div class="brand">{}</div>', "<div>{}</div>"])
def test_a_link_that_calls_to_look_at_a_makers_products_is_not_its_name(
    text: str, box: str
) -> None:
    linked = box.format('<a href="/brands/acme">{}</a>')
    short = linked.format(text).replace("Acme", "Ace").replace("acme", "ace")
    assert fields(short)["brand"] == "Ace"
    assert fields(linked.format(text))["brand"] == "Acme"
    assert found(f"{linked.format(text)}{H1}{PRICE}{BUY}").fields["brand"] == "Acme"


@pytest.mark.parametrize(
    ("text", "address"),
    [("Shop & Co", "shop-co"), ("Acme en Provence", "acme"), ("See by Acme", "see-by-acme")],
)
def test_the_name_in_a_makers_box_may_be_longer_than_in_its_address(
    text: str, address: str
) -> None:
    box = f'<div class="brand"><a href="/brands/{address}">{text}</a></div>'
    assert fields(box)["brand"] == text


@pytest.mark.parametrize(
    ("text", "brand"),
    [
        ("by Acme", "Acme"),
        ("By Acme", "Acme"),
        ("von Acme", "Acme"),
        ("De Buyer", "De Buyer"),
        ("Von Acme", "Von Acme"),
        ("Fleur de Sel", "Fleur de Sel"),
        ("See by Acme", "See by Acme"),
    ],
)
def test_by_is_no_part_of_a_makers_name_only_where_it_begins_a_box(text: str, brand: str) -> None:
    box = f'<div class="brand">{text}</div>'
    assert fields(box)["brand"] == brand
    assert found(f"{box}{H1}{PRICE}{BUY}").fields["brand"] == brand


def test_the_address_of_a_makers_page_tells_that_by_begins_its_name() -> None:
    box = '<div class="brand"><a href="/brands/{}">de Buyer</a></div>'
    assert fields(box.format("de-buyer"))["brand"] == "de Buyer"
    assert fields(box.format("buyer"))["brand"] == "Buyer"


@pytest.mark.parametrize(
    ("box", "brand"),
    [
        ('<p class="by">by <a href="/b/bayt/">Bayt</a></p>', "Bayt"),
        ('<div><small>By <a href="/labels/oak-row">Oak Row</a></small></div>', "Oak Row"),
        ('<h2>par <a href="/maison/bonnet">Bonnet</a></h2>', "Bonnet"),
        ('<p>by <a href="/authors/jane-doe/">Jane Doe</a></p>', None),
        ('<p>by <a href="/u/jane">jane</a></p>', None),
        ('<p>by <a href="/shop/rug-house">Rug House</a></p>', None),
        ('<p>by <a href="/b/new">Bayt</a></p>', None),
    ],
)
def test_a_maker_may_be_named_by_a_link_below_the_heading(box: str, brand: str | None) -> None:
    """The folder of makers' pages may have any name, but not that of persons or sellers."""
    assert found(f"{H1}{box}{PRICE}{BUY}").fields.get("brand") == brand
