"""JSON-LD that is broken: what a repair guesses weighs less than what the page shows."""

from __future__ import annotations

import pytest

from crawler.extract import parse
from crawler.extract.default_parser import Found, extract
from crawler.extract.structured.repair import repaired
from tests.measuring import within_cpu


def of_block(block: str, heading: str = "Lamp") -> Found:
    """A product's page whose JSON-LD is *block*."""
    html = f"""<html><head><title>{heading} | Shop</title>
    <script type="application/ld+json">{block}</script></head><body><h1>{heading}</h1>
    <p class="price">12,00 €</p><button>Add to cart</button></body></html>"""
    return extract(parse(html.encode(), "https://a.example/p/lamp"))


@pytest.mark.parametrize(
    "block",
    [
        '{"@type":"Product","name":"Lamp", broken',
        '{"@type":"Product","name":"Lamp", broken lamp","sku":"X-12"}',
        '{"@type":"Product","name":"Lamp" of "tin", in red","sku":"X-12"}',
        '{"@type":"Product","sku":"X-12","name":"La',
    ],
)
def test_what_a_repair_of_json_ld_guessed_weighs_less_than_what_the_page_shows(block: str) -> None:
    found = of_block(block)
    assert found.fields["name"] == "Lamp"
    assert found.fields.get("sku") in {"X-12", None}


def test_what_a_repair_of_json_ld_guessed_is_taken_where_the_page_tells_nothing() -> None:
    found = of_block('{"@type":"Product","name":"Lamp","brand":"The "Best" Co","sku":"X-12"}')
    assert (found.fields["brand"], found.sources["brand"]) == ('The "Best" Co', "repaired")
    assert (found.fields["name"], found.sources["name"]) == ("Lamp", "json-ld")


def test_a_run_of_quotes_is_given_up_at_its_beginning() -> None:
    """I11: each quote was searched for the one that ends its text, 6 s for a megabyte."""
    with within_cpu(0.2):
        assert repaired('{"name": "Lamp' + '"' * 250_000) is None


def test_a_text_too_many_before_the_cut_loses_no_value_before_it() -> None:
    assert repaired('{"name": "Lamp", "sku": "X-12" "brand') == {"name": "Lamp", "sku": "X-12"}


def test_a_remark_behind_a_bracket_or_a_comma_is_no_part_of_a_block() -> None:
    block = '{ // the product\n"name": "Lamp", // as sold\n"url": "https://a.example/lamp"}'
    assert repaired(block) == {"name": "Lamp", "url": "https://a.example/lamp"}
