"""What a site file may say: each wrong value is named with its reason, before a page is read."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.extract.parser_version import parser_version
from crawler.extract.site import Site
from crawler.extract.site_check import mistakes


def told(**declared: Any) -> list[str]:
    """Return what is wrong with a site that declares this."""
    return [reason for _, reason in mistakes(type("Shop", (Site,), declared))]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("name", 5, "a text is needed"),
        ("domains", "shop.example", "a tuple of texts is needed, as (…,)"),
        ("domains", ("https://shop.example",), "'https://shop.example' is no host name"),
        ("domains", ("*.shop.example",), "'*.shop.example' is no host name"),
        ("domains", ("shop example",), "'shop example' is no host name"),
        ("domains", (5,), "a tuple of texts is needed"),
        ("domains", ("",), "a tuple of texts is needed"),
        ("seeds", ("shop.example/",), "'shop.example/' is no URL with http:// or https://"),
        ("seeds", ("ftp://shop.example/",), "is no URL"),
        ("seeds", ("https:///x",), "is no URL"),
        ("seeds", ("https://shop.example/a b",), "is no URL"),
        ("seeds", ("https://shop.example:port/",), "is no URL"),
        ("product_pages", 5, "a regular expression is needed"),
        ("product_pages", "(", "no regular expression: "),
        ("deny", ("(",), "no regular expression: "),
        ("deny", "/cart", "a tuple of texts is needed, as (…,)"),
        ("fields", ("h1",), "a mapping of fields to selectors is needed"),
        ("fields", {"prise": "h1"}, "a product has no prise; did you mean price?"),
        ("fields", {"price": 5}, "the selector of price is no text"),
        ("fields", {"price": "h1["}, "the selector of price cannot be read: "),
        ("required", ("prise",), "a product has no prise; did you mean price?"),
        ("required", ("xyz", "prise"), "a product has no xyz, prise"),
        ("lane", "curl", "a lane is one of ['browser', 'plain', 'tls']"),
        ("delay_ms", -1, "a whole number of at least 0 is needed"),
        ("delay_ms", 0.5, "a whole number of at least 0 is needed"),
        ("delay_ms", True, "a whole number of at least 0 is needed"),
        ("watch_s", "3600", "a number of at least 0 is needed"),
        ("watch_s", -1, "a number of at least 0 is needed"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_its_reason(
    name: str, value: object, reason: str
) -> None:
    (one,) = told(**{name: value})
    assert one.startswith(f"{name} = ")
    assert reason in one


def test_a_long_value_is_cut() -> None:
    (one,) = told(name=["x" * 500])
    assert len(one) < 130
    assert "...: a text is needed" in one


def test_what_can_be_used_is_no_mistake() -> None:
    assert told() == []
    usual = {"domains": ["shop.example"], "seeds": ("https://shop.example:8443/",), "delay_ms": 0}
    read = {"fields": {"price": "//b/text()", "name": "h1::text"}, "product_pages": r"/p/\d+"}
    assert told(**usual, **read, lane="tls", watch_s=0.5, required=("price",), deny=(r"/x",)) == []


def test_a_misspelt_attribute_is_named_and_a_helper_is_not() -> None:
    assert told(delay_m=5) == ["a site has no delay_m; did you mean delay_ms?"]
    assert told(_delay_m=5, DELAY_M=5, helper=5, delay_mss=lambda self: 5) == []


def test_a_parsers_version_is_that_of_its_code() -> None:
    """Another version may see another thing on the same page, which is then read again."""

    class Here(Site):
        """Declared in this file."""

    usual, own = parser_version(Site()), parser_version(Here())
    assert usual == parser_version(Site())
    assert own == parser_version(Here())
    assert usual != own
    assert len(usual) == len(own) == 12
