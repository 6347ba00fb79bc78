"""The text of an element: in the order in which a browser shows it, with blanks between blocks."""

from __future__ import annotations

import pytest

from crawler.extract import extract, parse
from crawler.extract.page.page import short_text, text_of
from crawler.extract.site import select


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1><b>Oak <i>lamp</i></b> red</h1>", "Oak lamp red"),
        ("<div><span>12<sup>,</sup></span>50</div>", "12,50"),
        ("<div><p>One.</p><p>Two.</p></div>", "One. Two."),
        ("<div>One<p>two</p>three</div>", "One two three"),
        ("<dl><dt>Wood</dt><dd>oak</dd></dl>", "Wood oak"),
        ("<table><tr><th>Wood</th><td>oak</td></tr></table>", "Wood oak"),
        ("<p>a<script>x</script>b<b>c</b></p>", "abc"),
    ],
)
def test_a_text_is_read_in_its_order_and_block_by_block(html: str, text: str) -> None:
    """`<b>Oak <i>lamp</i></b> red` was "Oak redlamp", and two paragraphs were one word."""
    root = parse(f"<body>{html}</body>".encode(), "https://a.example/").root
    element = root.find("body")[0]
    assert (text_of(element), short_text(element)) == (text, text)
    assert select(root, element.tag) == [text]


def test_paragraphs_of_a_description_stay_apart() -> None:
    html = (
        "<h1>Lamp</h1><p class=price>12 €</p><button>Add to cart</button>"
        "<div class=description><p>A lamp of oak for your table.</p><p>It is 40 cm high.</p></div>"
    )
    found = extract(parse(html.encode(), "https://a.example/p/lamp"))
    assert found.fields["description"] == "A lamp of oak for your table. It is 40 cm high."
