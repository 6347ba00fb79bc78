"""Prices of a person, a period or a screening, beside those of goods with the same signs."""

from __future__ import annotations

import pytest

from tests.unit.extract.bodies import found

_LD = (
    '<script type="application/ld+json">{"@type": "Product", "name": "Nova", "offers":'
    ' {"@type": "Offer", "price": "84", "priceCurrency": "EUR",'
    ' "availability": "https://schema.org/InStock"}}</script>'
)
_MOVIE = _LD.replace('"Product"', '"Movie"')


@pytest.mark.parametrize(
    ("price", "kind"),
    [
        ("<b>€ 84</b> <small>per maand</small>", "other"),
        ("<b>84 €</b> <small>per person</small>", "other"),
        ("<b>84 €</b> <small>per month</small><button>Add to cart</button>", "product"),
        ("<b>84 €</b> <small>per set</small>", "product"),
        ("<b>84 €</b><p>or rent it: 9 € per month</p>", "product"),
    ],
)
def test_structured_data_without_a_buy_button_describe_no_product_at_a_price_of_a_period(
    price: str, kind: str
) -> None:
    assert found(f"<h1>Nova</h1><p class=price>{price}</p>", _LD).kind == kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<p>389 zł <span>/ osoba</span></p>", "other"),
        ("<p>32 € par personne</p>", "other"),
        ("<p>389 zł <span>/ szt.</span></p><img src=n.jpg alt=Nova>", "product"),
    ],
)
def test_a_price_of_a_person_is_no_price_of_goods(body: str, kind: str) -> None:
    assert found(f"<h1>Nova</h1>{body}", "", "https://a.example/product/nova").kind == kind


@pytest.mark.parametrize(
    ("times", "kind"),
    [
        ("<a href=#>14h10</a> <a href=#>20h30</a>", "other"),
        ("<a href=#>Photo 1</a> <a href=#>Photo 2</a>", "product"),
    ],
)
def test_screenings_beside_a_price_are_those_of_a_film(times: str, kind: str) -> None:
    body = (
        f"<h1>Nova</h1><img src=n.jpg alt=Nova><p>{times}</p><p>9,80 €</p><button>Réserver</button>"
    )
    assert found(body, "").kind == kind
    assert found(body, _MOVIE).kind == kind


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ("<button>Varaa pöytä</button>", "other"),
        ("", "product"),
        ("<img src=/a/12.jpg><button>Lisätietoja</button>", "product"),
        ("<aside><form><input name=s><button>Hae</button></form></aside>", "product"),
    ],
)
def test_a_price_in_plain_words_without_a_picture_is_no_offer_beside_an_unknown_button(
    more: str, kind: str
) -> None:
    body = f"<h1>Nova</h1><p>90 × 200 cm</p><p>35 €</p>{more}"
    assert found(body, url="https://a.example/x/nova").kind == kind
