"""Which dead letters a filter selects."""

from __future__ import annotations

import pytest

from scrapy_seine.reads.dead_letters import Filter
from scrapy_seine.reads.requests import FoundRequest


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("http://Shop.example:80/x", "shop.example"),
        ("https://me:word@shop.example:8443/x", "shop.example:8443"),
        ("https://bücher.example./x", "xn--bcher-kva.example"),
    ],
)
def test_a_dead_letter_is_its_domains_as_the_frontier_names_it(url: str, domain: str) -> None:
    """`--domain`, and the link to the domain's page: other spellings found nothing."""
    letter = FoundRequest(id="1-1", state="dead", url=url)
    assert Filter(domain=domain).matches(letter)
    assert not Filter(domain="other.example").matches(letter)


def test_a_dead_letter_without_an_address_is_of_no_domain() -> None:
    """I8: `decode_stored` says so of a request that cannot be decoded."""
    letter = FoundRequest(id="1-1", state="dead", url="(cannot be read)")
    assert Filter().matches(letter)
    assert not Filter(domain="shop.example").matches(letter)
