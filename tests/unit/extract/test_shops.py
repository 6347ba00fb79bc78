"""What defeated the parser on pages written after widespread shop systems: one case a cause."""

import json
from decimal import Decimal

import pytest

from crawler.extract import extract, parse
from crawler.extract.words.prefixes import tree, written_out

URL = "https://shop.example/p/red-lamp"
H1 = "<h1>Red Lamp</h1>"
BUY = "<button>Add to cart</button>"


def fields(body, head="", url=URL, lang="en"):
    html = f'<html lang="{lang}"><head>{head}</head><body>{body}</body></html>'
    return extract(parse(html, url)).fields


@pytest.mark.parametrize(
    ("html", "sku"),
    [
        ("<p><span>Item no</span><span>00-123</span></p>", "00-123"),
        ("<p><span>Артикул</span><b>АБ-12</b></p>", "АБ-12"),
        ("<div><span>SKU</span>: <b>AB-12</b></div>", "AB-12"),
        ("<p>Ref. AB-12 | Brand: <a href='/b'>Acme</a></p>", "AB-12"),
        ("<p>Item no.: AB-12, EAN: 4006381333931</p>", "AB-12"),
        ("<p>Item no.: AB-12 (new)</p>", "AB-12"),
        ("<p>Art.Nr.: \u200eAB-12 EAN: 4006381333931</p>", "AB-12"),
        ('<p><span class="sku">ID</span><span class="code">4003928</span></p>', "4003928"),
        ("<p>Cat. No.: AB-12</p>", "AB-12"),
        ("<p>Varenummer: 108877</p>", "108877"),
        ("<p>Nº de referencia: AB-12</p>", "AB-12"),
        ("<p>รหัสสินค้า: AB-12</p>", "AB-12"),
        ("<p>رقم الموديل: AB-12</p>", "AB-12"),
    ],
)
def test_a_number_is_read_beside_its_label(html, sku):
    assert fields(f"{H1}<b class=price>12,00 €</b>{html}{BUY}")["sku"] == sku


def test_a_models_number_is_the_shops_where_no_other_is_told():
    page = f"{H1}<b>12,00 €</b><p>Model: RX7-WH</p>{BUY}"
    assert fields(page)["sku"] == "RX7-WH"
    told = fields(page.replace("<p>", "<p>SKU: 12</p><p>"))
    assert (told["sku"], told["mpn"]) == ("12", "RX7-WH")


@pytest.mark.parametrize("model", ["Pixel 9", "2024", "Oak"])
def test_a_models_name_or_year_is_no_number(model):
    assert fields(f"{H1}<b>12,00 €</b><p>Model: {model}</p>{BUY}").get("sku") is None


def test_booksellers_know_a_book_by_its_isbn():
    page = f"{H1}<b>12,00 €</b><p>ISBN: 978-2-07-036002-4</p>{BUY}"
    assert fields(page)["sku"] == "9782070360024"


def test_details_below_similar_products_are_the_pages_own():
    tiles = "".join(f'<div><a href="/p/{n}">Lamp {n}</a> {n},00 €</div>' for n in range(20, 24))
    own = "<h2>Details</h2><table><tr><th>ASIN</th><td>B09XK7ZQ12</td></tr></table>"
    page = f"{H1}<b>12,00 €</b>{BUY}<h2>Similar products</h2>{tiles}{own}"
    assert fields(page)["sku"] == "B09XK7ZQ12"


def test_numbers_of_similar_products_are_not():
    tiles = "".join(f"<div>Lamp {n} <p>SKU: L-{n}</p></div>" for n in range(20, 24))
    assert "sku" not in fields(f"{H1}<b>12,00 €</b>{BUY}<h2>Similar products</h2>{tiles}")


@pytest.mark.parametrize(
    "html",
    [
        '<p class="brand"><a>Acme</a></p>' + H1,
        H1 + '<h2 class="view-brand"><a><b>Acme</b></a></h2>',
    ],
)
def test_a_maker_is_named_by_its_class(html):
    assert fields(f"{html}<b class=price>12,00 €</b>{BUY}")["brand"] == "Acme"


class TestPrice:
    def test_postage_that_comes_to_a_price_makes_it_no_postage(self):
        tax = "incl. VAT, plus <a href='/shipping'>shipping</a>"
        page = f"{H1}<div class=price><b>38,49 €</b><span>{tax}</span></div>{BUY}"
        assert fields(page)["price"] == Decimal("38.49")

    def test_a_type_is_no_amount_of_rand(self):
        page = f"<h1>Disc 0 986 479 R21</h1><b>38,49 €</b>{BUY}"
        assert fields(page, lang="de")["price"] == Decimal("38.49")

    @pytest.mark.parametrize("text", ["R 1 299", "R199.00", "R1,299.00"])
    def test_rand_are_read_where_they_are_amounts(self, text):
        assert fields(f"{H1}<b class=price>{text}</b>{BUY}")["currency"] == "ZAR"

    @pytest.mark.parametrize(("text", "price"), [("279,000 DT", "279.000"), ("1 279,500 DT", None)])
    def test_dinars_of_tunisia_have_three_decimals(self, text, price):
        told = fields(f"{H1}<b class=price>{text}</b>{BUY}", url="https://a.tn/p/lamp", lang="fr")
        assert told["currency"] == "TND"
        assert price is None or told["price"] == Decimal(price)

    def test_a_state_may_count_in_cents(self):
        node = {"name": "Red Lamp", "price": {"current": 5999, "old": 7999, "currency": "EUR"}}
        state = f'<script type="application/json">{json.dumps({"product": node})}</script>'
        told = fields(f"{H1}<b class=price>59,99 €</b>{BUY}{state}")
        assert (told["price"], told["regular_price"]) == (Decimal("59.99"), Decimal("79.99"))


class TestStock:
    """Of a thing with a price and a button that buys it, only its own words say it is sold out."""

    @pytest.mark.parametrize(
        "html",
        [
            "<button disabled>7 Sold out</button>" + BUY,
            BUY + "<button>Sold out</button>",
            BUY + "<label>Tell me if out of stock</label>",
            BUY + "<p>Falls nicht auf Lager: wir melden uns.</p>",
            BUY + "<p>line</p>" * 20 + "<p>Items that are sold out are refunded within a week.</p>",
        ],
    )
    def test_rules_and_variants_say_nothing(self, html):
        assert fields(f"{H1}<b>12,00 €</b>{html}")["availability"] == "InStock"

    @pytest.mark.parametrize(
        "html",
        [
            f"<button disabled>Sold out</button><div>{BUY}</div>",
            f"<p>Sold out</p>{BUY}",
            f"<p>This lamp of ours is sold out at the moment, sorry.</p>{BUY}",
            "<p>Tell me if out of stock</p>",
        ],
    )
    def test_its_own_words_count(self, html):
        assert fields(f"{H1}<b>12,00 €</b>{html}")["availability"] == "OutOfStock"


def test_a_classified_ad_has_its_number():
    page = f"{H1}<p>120 €</p><p>Annonce n° 2233445</p><button>Contacter</button>"
    assert fields(page, lang="fr")["sku"] == "2233445"


class TestName:
    def test_a_second_heading_may_say_the_last_part_of_a_title(self):
        body = f"<h2>南部鉄器 急須</h2><b>￥8,800</b>{BUY}"
        assert fields(body, "<title>喫茶店 / 南部鉄器 急須</title>")["name"] == "南部鉄器 急須"

    def test_a_box_that_is_called_a_name_says_a_part_of_a_title(self):
        head = "<title>【新品】无线蓝牙耳机 Pro 主动降噪【价格 评测】-商城</title>"
        body = f'<div class="sku-name">无线蓝牙耳机 Pro 主动降噪</div><b>￥899</b>{BUY}'
        assert fields(body, head, lang="zh")["name"] == "无线蓝牙耳机 Pro 主动降噪"

    def test_a_short_name_in_a_box_that_is_called_one_begins_the_title(self):
        body = f'<span class="bookTitle">Emma</span><b>$7.20</b>{BUY}'
        head = "<title>Emma by Jane Austen - Books</title>"
        assert fields(body, head)["name"] == "Emma"

    @pytest.mark.parametrize(
        ("heading", "name"), [("Dune", "Dune"), ("Du", "Dune by Frank Herbert")]
    )
    def test_the_author_behind_the_heading_is_no_part_of_the_name(self, heading, name):
        told = {"@type": "Book", "name": "Dune by Frank Herbert", "offers": {"price": "25"}}
        head = f'<script type="application/ld+json">{json.dumps(told)}</script>'
        head += "<title>Dune by Frank Herbert | Books</title>"
        assert fields(f"<h1>{heading}</h1><b>$25</b>{BUY}", head)["name"] == name


def test_a_product_with_a_price_on_request_is_one():
    body = f"{H1}<p>Cat. No.: RE-100</p><p>Price on request</p>"
    told = fields(body, url="https://shop.example/x/red-lamp")
    assert (told["name"], told["sku"], "price" in told) == ("Red Lamp", "RE-100", False)


class TestPrefixes:
    """A pattern's parts are written out so that each begins with a letter, and mean the same."""

    @pytest.mark.parametrize(
        ("pattern", "parts"),
        [
            ("(?:a|b)?c", ["ac", "bc", "c"]),
            (r"\+ ?vat", [r"\+ ?vat"]),
            ("x+y", ["x+y"]),
            ("(?:a|b)+c", ["(?:a|b)+c"]),
            (r"[^a]b", [r"[^a]b"]),
            ("(?:a(?:b|c)|d)e", ["a(?:b|c)e", "de"]),
            (r"(?:a\||b)c", [r"a\|c", "bc"]),
        ],
    )
    def test_parts(self, pattern, parts):
        assert written_out(pattern) == parts

    def test_groups_that_may_be_left_out_add_parts_and_do_not_multiply_them(self):
        assert len(written_out("(?:a|b|c|d|e)?" * 4 + "x")) == 4 * 5 + 1

    def test_nothing_matches_behind_a_character_of_the_class(self):
        import re

        rule = re.compile(tree(["add", "art", "buy"], not_after="[a-z]"))
        assert [bool(rule.search(text)) for text in ("go add", "goadd", "gobuy", "-buy")] == [
            True, False, False, True
        ]  # fmt: skip
