"""What was weighed once holds for the pages like it: it never hides a doubt, and saves the work."""

from collections import Counter

import pytest

from crawler.extract import extract, parse
from crawler.extract.template import Book, page_doubts
from crawler.extract.template.confidence import confidence
from crawler.extract.template.profile import WELL_KNOWN
from tests.benchmarks import template_changes
from tests.benchmarks.shops import SHOPS, things

SHOP_OF = {shop.name: shop for shop in SHOPS}
#: Page from which on the template is changed: the make is well known by then.
CHANGED = WELL_KNOWN + 20
GOODS = things(CHANGED + 40, 5)


def judged(shop, structured, change):
    """Doubts and confidence of each page of a crawl."""
    book, made = Book(), []
    for place, thing in enumerate(GOODS):
        html = shop.page(thing, structured)
        if change is not None and place >= CHANGED:
            html = change(html, thing, shop)
        told = book.judge("shop", extract(parse(html, shop.url(thing))))
        made.append(({name: d.kind for name, d in told.doubts.items()}, told.confidence))
    return made


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("woo+", None),
        ("woo+", template_changes.stale),
        ("woo+", template_changes.unstructured),
        ("woo", template_changes.moved),
        ("presta+", template_changes.one_price),
        ("presta", template_changes.other_currency),
        ("luma", template_changes.no_price),
        ("luma", template_changes.half),
    ],
)
def test_no_doubt_is_lost_and_confidence_stays_beside_a_page_s_own(monkeypatch, name, change):
    shop, structured = SHOP_OF[name.removesuffix("+")], name.endswith("+")
    usual = judged(shop, structured, change)
    monkeypatch.setattr(
        page_doubts, "form_of", lambda *of, **also: object()
    )  # no page is like another
    anew = judged(shop, structured, change)

    assert [kinds for kinds, _ in usual] == [kinds for kinds, _ in anew]
    for (_, likely), (_, expected) in zip(usual, anew, strict=True):
        assert likely == pytest.approx(expected, abs=0.02)
    if change is not None:
        assert any(kinds for kinds, _ in usual[CHANGED:])


def test_pages_of_a_well_known_make_are_hardly_weighed(monkeypatch):
    weighed: Counter[str] = Counter()

    def count(field, one, known):
        weighed[field] += known.pages >= WELL_KNOWN
        return confidence(field, one, known)

    monkeypatch.setattr("crawler.extract.template.page_doubts.confidence", count)
    judged(SHOP_OF["woo"], True, None)

    most = (len(GOODS) - WELL_KNOWN) // 3
    assert weighed
    assert max(weighed.values()) <= most, weighed


@pytest.mark.parametrize(("label", "least", "most"), [("SKU", 0.9, 1), ("Model number", 0.3, 0.8)])
def test_a_number_that_stands_in_for_the_shop_s_own_is_less_certain(label, least, most):
    body = (
        f"<h1>Oak lamp</h1><p>{label}: OL-123</p><p class=price>$40.00</p><button>Buy now</button>"
    )
    found = extract(parse(f"<html><body>{body}</body></html>", "https://shop.example/p/oak"))
    assert found.fields["sku"] == "OL-123"
    assert least <= Book().judge("shop", found).confidence["sku"] <= most


def test_the_systems_number_is_no_sure_one_where_other_pages_label_theirs():
    """A form has 1218 where the page says "SKU: N/A"; it was 96 % certain to be the sku."""
    book, told = Book(), []
    for number in range(10, 36):
        sku = f"GB-{number}" if number < 35 else "N/A"
        button = f'<button name="add-to-cart" value="{1200 + number}">Add to cart</button>'
        body = f"<h1>Lamp {number}</h1><p class=price>€{number}.50</p>{button}<p>SKU: {sku}</p>"
        page = parse(f"<html lang=en>{body}", f"https://shop.example/p/lamp-{number}")
        told.append(book.judge("shop", extract(page)))
    assert told[-2].confidence["sku"] > 0.95
    assert told[-1].confidence["sku"] < 0.9
