"""Several numbers beside each other: the shop's, the maker's, the part's, the barcode."""

from typing import Any

import pytest

from crawler.extract.visible.fact_labels import label_of
from tests.unit.extract.bodies import BUY, H1, found

PRICE = "<p class=price>$40.00</p>"
EAN = "4006381333931"
# fmt: off
_OF_MAKERS = [
    "Bestellnr. Hersteller", "Hersteller-Bestellnummer", "Artikelnummer des Herstellers",
    "Mfg. Cat. No.", "Número de parte del fabricante", "Katalógové číslo výrobcu",
    "Obj. číslo výrobce", "Code du fabricant", "Cod. articolo fornitore",
    "Nummer fabrikant", "Leverancier artikelnummer", "Leverandørens varenr.",
    "Produsentens varenummer", "Valmistajan tuotenro", "Tootja tootekood",
    "Gamintojo kodas", "Ražotāja kods", "Gyártói cikkszám", "Код на производителя",
    "Каталожный номер производителя", "Артикул виробника", "Kataloški broj proizvođača",
    "Šifra proizvajalca", "Κωδικός κατασκευαστή", "Üretici stok kodu", "メーカー品番", "제조사 품번",
    "制造商零件号", "原廠編號", "Mã NSX", "Referência do fabricante",
]
# fmt: on


def fields(after: str, lang: str = "en") -> dict[str, Any]:
    """What is read from a product's page with boxes behind the price."""
    return found(f"<div>{H1}{PRICE}{BUY}{after}</div>", lang=lang).fields


@pytest.mark.parametrize("behind", [", in stock", "; EAN and more", ";", ", 3 kg"])
def test_a_number_ends_at_a_comma_before_further_words(behind: str) -> None:
    assert fields(f"<div>Code: K-2210{behind}</div>")["sku"] == "K-2210"
    assert fields(f"<div><i>Code</i> <b>K-2210</b>{behind}</div>")["sku"] == "K-2210"


def test_a_comma_within_a_number_is_a_part_of_it() -> None:
    assert fields("<div>Code: K-22,5</div>")["sku"] == "K-22,5"


def test_labels_without_signs_take_turns_with_their_values() -> None:
    read = fields(f"<div><i>Code</i> <b>K-2210</b> <i>EAN</i> <b>{EAN}</b></div>")
    assert (read["sku"], read["gtin"]) == ("K-2210", EAN)


def test_a_text_of_labels_and_numbers_alone_is_a_row_of_facts() -> None:
    read = fields(f"<div>Art. no. K-2210, MPN 44-B, EAN {EAN}</div>")
    assert (read["sku"], read["mpn"], read["gtin"]) == ("K-2210", "44-B", EAN)


def test_a_makers_name_ends_before_the_label_of_a_number_without_a_sign() -> None:
    read = fields(f"<p><b>Brand</b> Acme Works <b>Art. no.</b> K-2210 <b>EAN</b> {EAN}</p>")
    assert (read["brand"], read["sku"], read["gtin"]) == ("Acme Works", "K-2210", EAN)
    assert fields("<p>Brand: Studio 54 Lamps</p>")["brand"] == "Studio 54 Lamps"


@pytest.mark.parametrize(
    "labels", [("Part No", "Mfr Ref"), ("Part number", "Manufacturer part number")]
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_part_number_beside_the_makers_is_the_shops(
    labels: tuple[str, str], turned: bool
) -> None:
    cells = [f"<div>{labels[0]}: <b>FP-1</b></div>", f"<div>{labels[1]}: <b>44-B</b></div>"]
    rows = [f"<tr><td>{label}<td>{n}" for label, n in zip(labels, ("FP-1", "44-B"), strict=True)]
    for boxes, around in ((cells, "{}"), (rows, "<table>{}</table>")):
        read = fields(around.format("".join(reversed(boxes) if turned else boxes)))
        assert (read["sku"], read["mpn"]) == ("FP-1", "44-B")


def test_a_part_number_alone_is_the_makers() -> None:
    assert fields("<div>Part No: <b>FP-1</b></div>")["mpn"] == "FP-1"


def test_the_models_number_gives_way_to_the_shops() -> None:
    row = "<table><tr><td>Model Kodu<td>: 26310-G<tr><td>Taban<td>: Termo</table>"
    read = fields(f"<div>Stok Kodu : (<b>T1183-S</b>)</div>{row}", lang="tr")
    assert (read["sku"], read["mpn"]) == ("T1183-S", "26310-G")
    assert read["attributes"]["Taban"] == "Termo"


@pytest.mark.parametrize(
    "label",
    _OF_MAKERS,
)
def test_a_label_of_a_number_and_the_maker_is_of_the_makers_number(label: str) -> None:
    assert label_of(label) == "mpn"


def test_a_box_of_description_and_reviews_holds_facts() -> None:
    row = f"<table><tr><td>EAN<td>{EAN}</table>"
    assert fields(f"<div class=cms-product-description-reviews>{row}</div>")["gtin"] == EAN
    assert "gtin" not in fields(f"<div class=product-reviews>{row}</div>")


def test_a_number_in_an_element_of_its_own_in_a_cell_is_no_name() -> None:
    page = found(
        "<span class=ItemName>Oak lamp on a stand</span><table><tr><td>Item #:<td><span>TS-40921"
        f"</span><tr><td>Price:<td><span>$40.00</span></table>{BUY}",
        "<title>TS-40921 : Acme Works Oak lamp on a stand</title>",
    )
    assert (page.fields["name"], page.fields["sku"]) == ("Oak lamp on a stand", "TS-40921")


@pytest.mark.parametrize("other", ["Cat No: MRLP014", "Silver - KM# 749.2", "Kat. č.: 12-99"])
def test_a_catalogues_number_gives_way_to_the_shops(other: str) -> None:
    assert fields(f"<p>{other}</p><p>Our ref: CD20417</p>")["sku"] == "CD20417"


@pytest.mark.parametrize(("label", "number"), [("Cat No", "MRLP014"), ("SKU #", "AB-12")])
def test_a_catalogues_number_alone_is_the_shops(label: str, number: str) -> None:
    assert fields(f"<p>{label}: {number}</p>")["sku"] == number


def test_the_shops_number_repeated_as_the_makers_gives_way_to_the_labelled_one() -> None:
    node = '{"@type":"Product","name":"Red Lamp","sku":"M-44","mpn":"M-44"}'
    data = f'<script type="application/ld+json">{node}</script>'
    body = f"{H1}{PRICE}{BUY}<p>Code: M-44</p><p>MPN: 44-BRFE</p>"
    read = found(body, data).fields
    assert (read["sku"], read["mpn"]) == ("M-44", "44-BRFE")


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ("GTIN / EAN-koodi", "gtin"),
        ("Hersteller/Marke", "brand"),
        ("JAN/EAN", "gtin"),
        ("Brand / Manufacturer", "brand"),
        ("Colour / Brand", None),
    ],
)
def test_two_labels_of_one_field_are_its_label(label: str, field: str | None) -> None:
    assert label_of(label) == field


def test_a_label_and_its_number_stand_in_a_texts_first_sentence() -> None:
    read = fields("<p>Stock no. LA-2291. Height 34 cm, width 22 cm, of walnut.</p>")
    assert read["sku"] == "LA-2291"
    assert "sku" not in fields("<p>Article 4. The buyer pays for the return of the goods.</p>")
