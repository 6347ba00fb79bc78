"""Which addresses belong to one shop: those of one registered domain."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from publicsuffixlist import PSLFILE, PublicSuffixList

from scrapy_seine.urls import domain


@cache
def _suffixes() -> PublicSuffixList:
    """Registries' suffixes, without those of companies: all their shops count as one site.

    Read as they are written: to turn each into punycode takes 0.03 s of every start. Scrapy brings
    tldextract, whose HTTP client takes 0.05 s and 6 MB.
    """
    registries = Path(PSLFILE).read_text("utf-8").partition("===END ICANN DOMAINS===")[0]
    rules = [line for line in registries.splitlines() if line and not line.startswith("//")]
    return PublicSuffixList(rules, accept_unknown=False, accept_encoded_idn=False)


def _readable(label: str) -> str:
    """A label as the list writes it, which has no punycode."""
    try:
        return label[4:].encode("ascii").decode("punycode") if label[:4] == "xn--" else label
    except UnicodeError:
        return label


@lru_cache(maxsize=1024)
def _site_of(key: str) -> str:
    labels = (key if key.startswith("[") else key.partition(":")[0]).rstrip(".").split(".")
    if key.startswith("[") or labels[-1].isdigit():
        return key  # an address has no suffix, and the list is not read for it
    found = _suffixes().privatesuffix(".".join(map(_readable, labels)))
    return ".".join(labels[-found.count(".") - 1 :]) if found else key


def site_of(url: str) -> str:
    """The registered domain of a URL; host and port where there is none, as with an address.

    Raises:
        ValueError: it is no http(s) URL.

    >>> site_of("https://www.shop.example.co.uk/x"), site_of("http://127.0.0.1:8000/x")
    ('example.co.uk', '127.0.0.1:8000')
    """
    return _site_of(domain(url))


def same_site(url: str, other: str) -> bool:
    """Whether two URLs are of one site."""
    end = other.find("/", 8)
    if end > 0 and url.startswith(other[: end + 1]):
        return True
    try:
        return site_of(url) == site_of(other)
    except ValueError:
        return False
