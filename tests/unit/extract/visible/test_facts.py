"""Which lines of a product's page tell a number, a maker or a model: each rule's edge."""

from __future__ import annotations

from typing import Any

import pytest
from lxml.html import fragment_fromstring

from crawler.extract import extract, parse
from crawler.extract.page import lines as flags
from crawler.extract.page.lines import Line, Lines
from crawler.extract.visible.beside_heading import brand_before
from crawler.extract.visible.facts import find_facts
from crawler.extract.visible_signs import Visible

#: In a box under a heading about other things.
BEYOND = flags.BEYOND | flags.ELSEWHERE


def told(*lines: Any, rows: tuple[str, ...] = (), heading: int = -1) -> Visible:
    """Read lines: a text, a text with flags, or a text with flags and an element's markup."""
    made = []
    for index, one in enumerate(lines):
        text, mark, markup = (*((one, 0) if isinstance(one, str) else one), "<p></p>")[:3]
        element = fragment_fromstring(markup)
        made.append(Line(text=text, flags=mark, element=element, index=index))
    found = [fragment_fromstring(f"<table>{row}</table>").find(".//tr") for row in rows]
    seen = Visible()
    has_others = any(line.flags & BEYOND for line in made)
    find_facts(Lines(made, heading, rows=found, has_others=has_others), seen)
    return seen


def fields(*lines: Any, **more: Any) -> dict[str, Any]:
    return dict(told(*lines, **more).fields)


@pytest.mark.parametrize(
    ("lines", "sku"),
    [
        (["SKU: AB-12"], "AB-12"),
        (["SKU", "AB-12"], "AB-12"),
        (["SKU"], None),  # nothing follows
        (["SKU AB-12"], "AB-12"),
        (["SKU AB-12 and more"], None),
        (["In stock - SKU: AB-12"], "AB-12"),
        (["In stock | SKU", "AB-12"], "AB-12"),
        (["In stock | SKU AB-12"], "AB-12"),
        (["SKU: AB-12 EAN: 4006381333931"], "AB-12"),
        (["SKU: AB-12 (discontinued)"], "AB-12"),
        (["SKU: n/a"], None),
        (["SKU: N/A"], None),
        (["SKU: lamp"], None),
        (["SKU: LAMP"], "LAMP"),
        (["SKU: AB 12 CD 34"], "AB 12 CD 34"),
        (["SKU: the lamp with 12 arms"], None),
        ([f"SKU: {'a1' * 20}"], "a1" * 20),
        ([f"SKU: {'a1' * 20}b"], None),
        (["SKU: EAN"], None),  # another label
        (["SKU: AB-12", "SKU: CD-34"], "AB-12"),
        (["SKU: x", "SKU: CD-34"], "CD-34"),
    ],
)
def test_an_identifier_stands_behind_its_label(lines: list[str], sku: str | None) -> None:
    seen = told(*lines)
    assert seen.fields.get("sku") == sku


def test_facts_are_counted_and_a_makers_name_is_none() -> None:
    seen = told("SKU: AB-12", "EAN: 4006381333931", "Brand: Acme", "SKU: CD-34")
    assert (seen.facts, seen.fields["brand"], seen.fields["gtin"]) == (2, "Acme", "4006381333931")
    assert told("EAN: 12").facts == 0  # it has too few digits


@pytest.mark.parametrize(
    ("value", "brand"), [("Acme & Sons", "Acme & Sons"), ("x" * 60, "x" * 60), ("x" * 61, None)]
)
def test_a_makers_name_is_no_sentence(value: str, brand: str | None) -> None:
    assert fields("Brand", value).get("brand") == brand


def test_a_model_is_an_attribute_where_it_is_a_number() -> None:
    assert fields("Model: GSB-18")["attributes"] == {"model": "GSB-18"}
    assert "attributes" not in fields("Model: Pixel")
    assert fields("Model: GSB-18", "Model: GSB-19")["attributes"] == {"model": "GSB-18"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("<tr><th>SKU</th><td>AB-12</td></tr>", {"sku": "AB-12"}),
        ("<tr><td>Colour:</td><td>red</td></tr>", {"attributes": {"Colour": "red"}}),
        ("<tr><td>a</td><td>b</td><td>c</td></tr>", {}),
        ("<tr><td>Colour</td><td></td></tr>", {}),
        (f"<tr><td>{'x' * 59}</td><td>b</td></tr>", {"attributes": {"x" * 59: "b"}}),
        (f"<tr><td>{'x' * 60}</td><td>b</td></tr>", {}),
        (
            "<tr><td>Model</td><td>GSB-18</td></tr>",
            {"attributes": {"model": "GSB-18", "Model": "GSB-18"}},
        ),
    ],
)  # fmt: skip
def test_a_row_of_two_cells_is_a_fact_or_an_attribute(row: str, expected: dict[str, Any]) -> None:
    assert fields(rows=(row,)) == expected


def test_of_equal_attributes_the_first_row_counts_and_of_many_the_first_ones() -> None:
    row = "<tr><td>{}</td><td>{}</td></tr>"
    assert fields(rows=(row.format("Colour", "red"), row.format("Colour", "blue"))) == {
        "attributes": {"Colour": "red"}
    }
    many = tuple(row.format(f"Name {n}", n) for n in range(70))
    assert len(fields(rows=many)["attributes"]) == 60


@pytest.mark.parametrize(
    ("text", "markup", "expected"),
    [
        ("X-1", '<span class="sku"></span>', {"sku": "X-1"}),
        ("X-1", '<span class="product-mpn"></span>', {"mpn": "X-1"}),
        ("4006381333931", '<span class="ean"></span>', {"gtin": "4006381333931"}),
        ("X 1", '<span class="sku"></span>', {}),
        ("X-1:", '<span class="sku"></span>', {}),
        ("by Acme", '<span class="brand-name"></span>', {"brand": "Acme"}),
        ("Range: Acme", '<span class="brand"></span>', {}),
        ("A" * 41, '<span class="brand"></span>', {}),
        ("A" * 40, '<span class="brand"></span>', {"brand": "A" * 40}),
    ],
)
def test_a_class_names_a_value(text: str, markup: str, expected: dict[str, Any]) -> None:
    assert fields((text, flags.FACT, markup)) == expected
    label = fields((text, flags.FACT | flags.LABEL, markup))  # what a class calls a label
    assert label == {}


def test_one_line_of_two_elements_is_a_label_and_its_value() -> None:
    markup = "<span>SKU</span>"
    assert fields(("SKU88-12", flags.JOINED, markup)) == {"sku": "88-12"}
    for text in ("88-12SKU", "SKU"):
        assert fields((text, flags.JOINED, markup)) == {}


@pytest.mark.parametrize(
    ("lines", "sku"),
    [
        ([("SKU: AB-12", BEYOND)], "AB-12"),
        ([("SKU: AB-12", BEYOND), ("SKU: AB-12", BEYOND)], "AB-12"),
        ([("SKU: AB-12", BEYOND), ("SKU: CD-34", BEYOND)], None),  # of other products
        ([("SKU", BEYOND), ("AB-12", BEYOND)], "AB-12"),
        ([("SKU", BEYOND)], None),
        ([("SKU: CD-34", 0), ("SKU: AB-12", BEYOND)], "CD-34"),
        ([(f"{'x' * 110} SKU: AB-12", BEYOND)], None),
    ],
)
def test_details_behind_other_products_count_where_they_are_one_products(
    lines: list[Any], sku: str | None
) -> None:
    assert fields("Steel drill", *lines, heading=0).get("sku") == sku


@pytest.mark.parametrize(
    ("before", "brand"),
    [
        ('<p class="brand">Acme</p>', "Acme"),
        ('<p class="product-vendor">Acme</p>', "Acme"),
        ('<p class="brands">Acme</p>', None),
        ('<p class="x">Acme</p>', None),
        ('<p class="brand">Brand: Acme</p>', "Acme"),
        ('<p class="brand">Brand</p>', None),
        (f'<p class="brand">{"A" * 40}</p>', "A" * 40),
        (f'<p class="brand">{"A" * 41}</p>', None),
        ('<p class="brand"></p>', None),
    ],
)
def test_a_maker_stands_right_before_the_heading(before: str, brand: str | None) -> None:
    near = fragment_fromstring(f"<div>{before}<h1>Drill</h1></div>")
    around = fragment_fromstring(f"<div>{before}<div><h1>Drill</h1></div></div>")
    for page in (near, around):
        assert brand_before(page.find(".//h1"), "Drill") == brand
    assert brand_before(fragment_fromstring("<h1>Drill</h1>"), "Drill") is None


def test_a_label_and_its_number_stand_in_a_sentence_after_others() -> None:
    assert told("Made in Portugal. Art.nr: NV1001-GRN").fields["sku"] == "NV1001-GRN"


def test_a_heading_with_the_price_right_before_the_name_is_no_brand() -> None:
    box = fragment_fromstring("<div><h1>€ 149,00 € 119,00</h1><h1>Table Lamp</h1></div>")
    assert brand_before(box[1], "Table Lamp") is None


def test_the_national_code_of_a_pharmacy_s_product_is_its_number() -> None:
    assert told("C.N.: 182736").fields["sku"] == "182736"


def test_an_id_names_the_box_of_a_maker_as_a_class_does() -> None:
    page = (
        "<h1>Red Lamp</h1><p id='pdp-section-brand'><a href='/acme'>ACME</a> <b>Item: 1088</b></p>"
    )
    read = extract(parse(page, "https://shop.example/red-lamp")).offered["text"]
    assert (read["brand"], read["sku"]) == ("ACME", "1088")


def test_the_heading_of_a_tab_about_the_maker_is_no_brand() -> None:
    page = "<h1>Red Lamp</h1><p>Item: 1088</p><div class=tab id='product_manufacturer'><h2>Mfg Info</h2></div>"
    read = extract(parse(page, "https://shop.example/red-lamp")).offered["text"]
    assert "brand" not in read


def test_a_choice_in_a_box_called_after_the_number_is_none() -> None:
    box = "<div class='sku'>規格 <button>100g</button><button>300g</button></div>"
    page = f"<h1>烏龍茶</h1>{box}<p>商品編號：8811223</p>"
    assert extract(parse(page, "https://shop.example/tea")).offered["text"]["sku"] == "8811223"


@pytest.mark.parametrize(
    "words",
    ["product-single__sku", "ProductMeta__SkuNumber", "productView-sku", "product-code",
     "product-form__sku", "product-sku__value"],
)  # fmt: skip
def test_themes_call_the_box_of_a_number_by_several_words(words: str) -> None:
    for text in ("CT-LS-8", "(CT-LS-8)"):
        box = f"<span data-sku class='{words}'>{text}</span>"
        page = f"<h1>Linen shirt</h1><p><span>Stock code</span> {box}</p>"
        offered = extract(parse(page, "https://shop.example/shirt")).offered["text"]
        assert offered["sku"] == "CT-LS-8"


@pytest.mark.parametrize(
    ("box", "brand"),
    [
        ("<div class=x-brandContainer><span class=x-productBrandName>Acme</span></div>", "Acme"),
        ("<div class=x-brandContainer>By <span class=x-productBrandName>Acme</span></div>", None),
        ("<div class=bar><a class=brand href='/'>Shop</a></div>", None),
        ("<a class=brand href='/'>Shop</a>", None),
    ],
)
def test_the_makers_element_is_alone_in_a_box_above_the_heading(
    box: str, brand: str | None
) -> None:
    page = fragment_fromstring(f"<div>{box}<h1>Drill</h1></div>")
    assert brand_before(page.find(".//h1"), "Drill") == brand
