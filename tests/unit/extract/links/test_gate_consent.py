"""A gate's button that agrees to more than the visitor's age."""

from __future__ import annotations

import pytest
from scrapy import Request

from tests.unit.extract.links.test_gate import GATE, SHOP, response, spider_of


@pytest.mark.parametrize(
    ("html", "is_pressed"),
    [
        (GATE, True),
        (GATE.replace("Enter", "I agree"), True),
        (GATE.replace("Enter", "I agree") + "<p>Our terms of use apply.</p>", True),
        (GATE + "<p>Sign up for our newsletter in the shop.</p>", True),
        (GATE.replace("Enter", "I am 18 and agree").replace("/enter", "/share-data"), False),
        (GATE.replace("Enter", "I agree") + "<p>We pass your data on to our partners.</p>", False),
        (GATE.replace("Enter", "Ja, ich stimme zu").replace("/enter", "/weitergabe"), False),
        (GATE.replace("Enter", "J'accepte") + "<p>Données transmises à des tiers</p>", False),
        (GATE.replace("token", "marketing_consent"), False),
        (GATE.replace("Enter", "I am 18 and accept the subscription"), False),
    ],
)
def test_a_button_that_agrees_to_more_than_the_age_is_pressed_if_the_front_page_has_it(
    html: str, *, is_pressed: bool
) -> None:
    """A seed's question about the age was answered, and with it that data are passed on."""
    (request,) = spider_of().parse(response("/c/lamps", html, Request(f"{SHOP}/c/lamps")))
    assert isinstance(request, Request)
    assert (request.method == "POST") == is_pressed
    assert is_pressed or request.url == f"{SHOP}/"
