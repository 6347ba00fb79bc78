"""Registered domains: URLs of one registered domain belong to one shop."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from publicsuffixlist import PSLFILE, PublicSuffixList

from scrapy_seine.urls import domain


@cache
def _suffixes() -> PublicSuffixList:
    """Return the registries' suffixes; a company's (private) suffix counts as one site instead.

    The list is not converted to punycode, because that takes 0.03 s of every start. We do not use
    tldextract, which Scrapy installs, because its HTTP client takes 0.05 s and 6 MB.
    """
    registries = Path(PSLFILE).read_text("utf-8").partition("===END ICANN DOMAINS===")[0]
    rules = [line for line in registries.splitlines() if line and not line.startswith("//")]
    return PublicSuffixList(rules, accept_unknown=False, accept_encoded_idn=False)


def _readable(label: str) -> str:
    """Return a label decoded from punycode, as the list writes it."""
    try:
        return label[4:].encode("ascii").decode("punycode") if label[:4] == "xn--" else label
    except UnicodeError:
        return label


@lru_cache(maxsize=1024)
def _site_of(key: str) -> str:
    labels = (key if key.startswith("[") else key.partition(":")[0]).rstrip(".").split(".")
    if key.startswith("[") or labels[-1].isdigit():
        return key  # an IP address has no suffix, so that the list need not be read
    registered = _suffixes().privatesuffix(".".join(map(_readable, labels)))
    return ".".join(labels[-registered.count(".") - 1 :]) if registered else key


def site_of(url: str) -> str:
    """Return the registered domain of a URL, or host and port if it has none (an IP address).

    Raises:
        ValueError: the URL is not http(s).

    >>> site_of("https://www.shop.example.co.uk/x"), site_of("http://127.0.0.1:8000/x")
    ('example.co.uk', '127.0.0.1:8000')
    """
    return _site_of(domain(url))


def same_site(url: str, other: str) -> bool:
    """Whether two URLs belong to one site."""
    end = other.find("/", 8)
    if end > 0 and url.startswith(other[: end + 1]):
        return True
    try:
        return site_of(url) == site_of(other)
    except ValueError:
        return False
