"""The walk over a page's lines: what divides them, where it ends, what its readers take of them."""

from __future__ import annotations

import pytest

from crawler.extract import parse
from crawler.extract.page import lines
from crawler.extract.page.link_targets import leads_away
from crawler.extract.page.page import Page
from crawler.extract.visible import product_heading, product_shown


def page(body: str) -> Page:
    return parse(f"<html><body>{body}</body></html>", "https://a.example/p/1", "text/html")


def read(body: str) -> lines.Lines:
    parsed = page(body)
    return lines.read(parsed, product_heading.heading_of(parsed))


def texts(body: str) -> list[str]:
    return [line.text for line in read(body).lines]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h1>Lamp</h1> tail <b>of</b> it", ["Lamp", "tail of it"]),
        ("<h1>Lamp</h1><p>a <i>b</i><br>c</p>d", ["Lamp", "a b", "c", "d"]),
        ("<div><h1>Lamp</h1></div><div><div>x</div></div>y", ["Lamp", "x", "y"]),
        ("<h1>Lamp</h1><p>a<script>no</script> b</p>", ["Lamp", "a b"]),
        ("<h1>Lamp</h1><p><span>in stock</span> | <span>no. 12</span></p>", ["Lamp", "in stock", "no. 12"]),
        ("<h1>Lamp</h1><p> | </p><p>\n</p><p>x</p>", ["Lamp", "x"]),
        ("<p>before</p><h1>Lamp <small>12</small></h1><p>x</p>", ["Lamp 12", "x"]),
    ],
)  # fmt: skip
def test_a_line_ends_where_a_block_does(body, expected):
    assert texts(body) == expected


def test_the_walk_ends_after_many_lines_that_tell_nothing():
    dull = "<p>word</p>" * 200
    assert "price" not in "".join(texts(f"<h1>Lamp</h1>{dull}<p class=x>price</p>"))


def test_a_row_of_facts_lets_the_walk_go_on():
    dull = "<p>word</p>" * 100
    row = "<table><tr><th>Colour</th><td>red</td></tr></table>"
    assert texts(f"<h1>Lamp</h1>{dull}{row}{dull}<p>price</p>")[-1] == "price"


def test_a_page_nested_deeper_than_python_recurses_is_walked():
    assert texts("<h1>Lamp</h1>" + "<div>" * 200 + "deep")[-1] == "deep"


def test_a_price_on_request_is_not_read_across_two_lines():
    assert not product_shown.visible(page("<h1>Lamp</h1><p>Price on</p><p>request</p>")).on_request
    assert product_shown.visible(page("<h1>Lamp</h1><p>Price on request</p>")).on_request


def test_a_stock_label_speaks_for_the_next_line_alone():
    body = "<h1>Lamp</h1><p>Availability:</p>{}<p>Ships from the old warehouse, in stock there since May</p>"
    assert product_shown.visible(page(body.format(""))).fields.get("availability") == "InStock"
    long_line = "<p>" + "word " * 40 + "</p>"
    assert product_shown.visible(page(body.format(long_line))).fields.get("availability") is None


def test_a_card_leads_away_by_its_first_link_that_names_a_page():
    body = '<div><a name="top"></a><a href="/p/2">Other</a></div><div><a name="x"></a></div>'
    card, anchor_box = page(body).root.iter("div")
    assert leads_away(card)
    assert not leads_away(anchor_box)
