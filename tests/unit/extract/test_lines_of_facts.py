"""Facts that share a line, a sentence or a box with others, as themes write them."""

from typing import Any

import orjson
import pytest

from tests.unit.extract.bodies import BUY, H1, found

PRICE = "<p class=price>$40.00</p>"
EAN = "4006381333931"


def fields(before: str = "", after: str = "", name: str = H1) -> dict[str, Any]:
    """What is read from a product's page with boxes before the heading and behind the price."""
    return found(f"<div>{before}{name}{PRICE}{BUY}{after}</div>").fields


def test_a_barcode_behind_its_label_is_read_within_a_text() -> None:
    read = fields(after=f"<p>Solid oak, 24 cm. EAN {EAN} and one year of warranty</p>")
    assert read["gtin"] == EAN
    assert "gtin" not in fields(after="<p>Solid oak. EAN 4006381333932 and a warranty</p>")
    tile = f"<div><a href=/p/oak>Oak</a> EAN {EAN} <b>$45.00</b></div>"
    assert "gtin" not in fields(after=2 * tile)
    assert "gtin" not in fields(after=f"<p>Call us at {EAN} on working days please</p>")


def test_a_makers_name_ends_with_its_sentence() -> None:
    read = fields(after=f"<p>Brand: Acme Works. Width 24 cm. Barcode {EAN}</p>")
    assert (read["brand"], read["gtin"]) == ("Acme Works", EAN)
    assert fields(after="<p>Brand: Dr. Lamp 24</p>")["brand"] == "Dr. Lamp 24"


def test_each_line_of_a_box_before_the_heading_is_a_fact() -> None:
    lines = "<div><span>SKU: </span><span>RC-30020</span></div><div>Brand: Acme Works</div>"
    read = fields(before=f"<div class=area-sku>{lines}</div>")
    assert (read["sku"], read["brand"]) == ("RC-30020", "Acme Works")


def test_the_number_stands_above_the_maker_who_stands_above_the_heading() -> None:
    number = "<div><div>Code: <span>80124417</span></div></div>"
    assert fields(before=f"{number}<p class=x>Acme</p>")["sku"] == "80124417"


def test_a_logo_that_opens_the_makers_site_in_a_new_window_names_the_maker() -> None:
    logo = "<a href=https://www.acme.example{} class=product-manufacturer-link><img alt=Acme></a>"
    assert fields(after=logo.format(" target=_blank"))["brand"] == "Acme"
    assert "brand" not in fields(after=logo.format(""))


def test_a_link_below_the_folder_by_maker_names_the_maker() -> None:
    assert fields(before="<p><a href=/nach-hersteller/acme-works/>Acme Works</a></p>")["brand"] == (
        "Acme Works"
    )


@pytest.mark.parametrize(
    ("label", "field", "value"),
    [
        ("Fabr.code", "mpn", "IC-6100"),
        ("Kat. broj proizvođača", "mpn", "09.9772.11"),
        ("Lev. art.nr", "mpn", "F82411-030"),
        ("ШК", "gtin", EAN),
    ],
)
def test_labels_of_numbers(label: str, field: str, value: str) -> None:
    facts = f"<table><tr><td>SKU</td><td>T-1</td></tr><tr><td>{label}</td><td>{value}</td></tr>"
    assert fields(after=f"{facts}</table>")[field] == value


def test_a_japanese_type_beside_the_shops_number_is_the_makers() -> None:
    facts = "<dl><dt>型番</dt><dd>TDM-0747</dd><dt>商品コード</dt><dd>MZ-0412</dd></dl>"
    read = fields(after=facts)
    assert (read["sku"], read["mpn"]) == ("MZ-0412", "TDM-0747")
    assert fields(after="<dl><dt>型番</dt><dd>TDM-0747</dd></dl>")["sku"] == "TDM-0747"


def data(**product: Any) -> str:
    """A product in JSON-LD."""
    offer = {"@type": "Offer", "price": "40", "priceCurrency": "USD"}
    content = {"@type": "Product", "name": "Red Lamp 40", "offers": offer, **product}
    return f"<script type=application/ld+json>{orjson.dumps(content).decode()}</script>"


def test_a_labelled_number_of_the_maker_is_preferred_to_a_databases() -> None:
    read = found(
        f"{H1}{PRICE}{BUY}<p>SKU: T-1</p><p>MPN: JBL-3-BR</p>", head=data(sku="T-1", mpn="920417")
    ).fields
    assert read["mpn"] == "JBL-3-BR"
    replaced = "<p>SKU: T-1</p><p>Filter P550520</p><p>OEM no: 32-925694</p>"
    shown = found(f"{H1}{PRICE}{BUY}{replaced}", head=data(sku="T-1", mpn="P550520")).fields
    assert shown["mpn"] == "P550520"


def test_a_group_has_the_barcode_of_the_variant_whose_number_the_page_shows() -> None:
    variants = [
        {
            "@type": "Product",
            "sku": sku,
            "gtin": gtin,
            "offers": {"price": 40, "priceCurrency": "USD"},
        }
        for sku, gtin in (("T-1", EAN), ("T-2", "9783161484100"))
    ]
    group = data(**{"@type": "ProductGroup", "productGroupID": "8123", "hasVariant": variants})
    assert found(f"{H1}<p>SKU: T-1</p>{PRICE}{BUY}", head=group).fields["gtin"] == EAN
    assert "gtin" not in found(f"{H1}{PRICE}{BUY}", head=group).fields


@pytest.mark.parametrize("label", ["Número EAN", "Šifra EAN", "Numéro UPC", "Code CUP"])
def test_a_code_s_name_behind_a_word_of_any_language_labels_a_barcode(label: str) -> None:
    assert fields(after=f"<p>{label}: {EAN}</p>")["gtin"] == EAN
    assert "gtin" not in fields(after=f"<p>Carton EAN: {EAN}</p><p>Ersetzt EAN {EAN} ab</p>")
    assert "gtin" not in fields(after=f"<p>Contains 2 x EAN {EAN} and a bulb</p>")


@pytest.mark.parametrize(
    "facts",
    [
        "<dl><dt>Catalogue no</dt><dd>RABID-31</dd></dl><p>Item no.: 20417</p>",
        "<h2>Internet # 318412</h2><h2>Store SKU # 20417</h2>",
    ],
)
def test_the_shops_number_precedes_a_lists_and_a_websites(facts: str) -> None:
    assert fields(after=facts)["sku"] == "20417"
    assert fields(after="<h2>Internet # 318412</h2>")["sku"] == "318412"


def test_a_firm_is_called_after_the_brand_above_the_heading() -> None:
    row = "<table><tr><td>Manufacturer</td><td>{}</td></tr></table>"
    brand = "<div class=pdp-brand><a href=/b/acme>Acme</a></div>"
    assert fields(before=brand, after=row.format("Acme Lamps Pvt Ltd"))["brand"] == "Acme"
    assert fields(before=brand, after=row.format("Oak Works Ltd"))["brand"] == "Oak Works Ltd"


def test_a_name_of_two_words_before_a_numbers_label_is_the_shops() -> None:
    row = "<tr><th>{}</th><td>{}</td></tr>"
    rows = row.format("Parts Depot Part Number", "PD-88") + row.format("MPN", "23532118")
    body = f"{H1}{PRICE}{BUY}<table>{rows}</table>"
    assert found(body, head="<title>Red Lamp | Parts Depot</title>").fields["sku"] == "PD-88"
    assert found(body, head="<title>Red Lamp | Oak</title>").fields["sku"] == "23532118"


def test_each_sentence_of_a_line_of_facts_is_read() -> None:
    line = "<p>Width: 24 cm oak. Made in 1930. Item no: 4711</p>"
    assert fields(after=line)["sku"] == "4711"
    accessory = "<p>Width: 24 cm oak. Bulb not included. Item no: 4712 sold apart</p>"
    assert "sku" not in fields(after=accessory)
    line = f"<p>Brand: Acme Works. 42 cm wide. Ref. AW-42. EAN {EAN} (single)</p>"
    read = fields(after=line)
    assert (read["brand"], read["sku"], read["gtin"]) == ("Acme Works", "AW-42", EAN)


def test_a_number_ends_before_a_dash_and_what_it_says_of_the_stock() -> None:
    assert fields(after="<p>Code OL-075 - available</p>")["sku"] == "OL-075"
    assert fields(after="<p>Code OAK10 - 10 % off today</p>").get("sku") != "OAK10"


def test_a_makers_name_above_the_heading_ends_before_a_rule() -> None:
    assert fields(before="<p>Brand: Acme | Style no. 88120</p>")["brand"] == "Acme"


def test_facts_with_wide_colons_share_a_line() -> None:
    line = f"<p>メーカー：長谷園　型番：NCT-31　JAN：{EAN}</p><p>商品番号 DN-0831</p>"
    read = fields(after=line)
    assert (read["brand"], read["mpn"], read["gtin"]) == ("長谷園", "NCT-31", EAN)
    assert read["sku"] == "DN-0831"


@pytest.mark.parametrize(
    "after",
    [
        "<button>Add to cart</button>",
        "<a href=/wishlist/add>Add to wishlist</a>",
        "<p class=price>$20.00</p>",
        "<h2>Description</h2><p>A lamp of oak</p>",
        "<p>Colour: red</p>",
        "<p>Care:</p>",
        "<p>In stock</p>",
        "<label>Quantity</label><input name=qty>",
        "<p>12 reviews</p>",
        "<p>Call 555-1234</p>",
    ],
)
def test_a_label_without_a_value_does_not_take_the_next_line(after: str) -> None:
    read = fields(after=f"<p>Item no:</p>{after}")
    assert "sku" not in read
    if "12" not in after:
        assert "brand" not in fields(after=f"<p>Brand:</p>{after}")
        assert "breadcrumbs" not in fields(after=f"<p>Category:</p>{after}")


@pytest.mark.parametrize(
    ("label", "value", "field", "expected"),
    [
        ("Brand:", "<p>Acme</p>", "brand", "Acme"),
        ("Brand:", "<a href=/b/acme>Acme</a>", "brand", "Acme"),
        ("Brand:", "<p>Acme Works Part no.: 88-12</p>", "brand", "Acme Works"),
        ("Brand:", "<img src=/l.png alt=Acme><button>Add to cart</button>", "brand", "Acme"),
        ("Category:", "<p>Lamps</p>", "breadcrumbs", ["Lamps"]),
        ("Designer:", "<p>Anna Voss</p>", "brand", "Anna Voss"),
        ("Item no:", "<p>K 101</p>", "sku", "K 101"),
        ("Item no:", "<p>EUR1234</p>", "sku", "EUR1234"),
        ("Item no:", "<p>88-12 in stock</p>", "sku", "88-12"),
        ("Item no:", f"<p>88-12 EAN: {EAN}</p>", "sku", "88-12"),
        ("Item no:", "<p>12-B, in stock</p>", "sku", "12-B"),
    ],
)
def test_a_value_in_the_line_behind_its_label_is_read(
    label: str, value: str, field: str, expected: Any
) -> None:
    assert fields(after=f"<p>{label}</p>{value}")[field] == expected


@pytest.mark.parametrize(
    "rows",
    [
        "<table><tr><td>Brand</td><td></td></tr><tr><td>Colour</td><td>red</td></tr></table>",
        "<table><tr><th>Brand</th><td></td></tr><tr><th>Colour</th><td>red</td></tr></table>",
        "<dl><dt>Brand</dt><dd></dd><dt>Colour</dt><dd>red</dd></dl>",
        "<ul><li><span>Brand</span><span></span></li><li><span>Colour</span><span>red</span></li></ul>",
        "<div><div>Brand</div><div></div></div><div><div>Colour</div><div>red</div></div>",
    ],
)
def test_a_row_without_a_value_does_not_take_the_next_rows_label(rows: str) -> None:
    assert "brand" not in fields(after=rows)


@pytest.mark.parametrize(
    "facts",
    [
        "<span class=sku>$20.00</span><span class=brand>$20.00</span>",
        "<p>SKU: $20.00</p><p>Brand: $20.00</p>",
        "<table><tr><th>SKU</th><td>€20.00</td></tr><tr><th>Brand</th><td>€ 20.00</td></tr></table>",
    ],
)
def test_an_amount_of_money_is_no_number_and_no_maker(facts: str) -> None:
    assert not {"sku", "brand"} & fields(after=facts).keys()
