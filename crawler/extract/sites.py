"""Which addresses belong to one shop."""

from __future__ import annotations

from functools import lru_cache

from publicsuffixlist import PublicSuffixList

from crawler.urls import domain

#: Registries' suffixes, without those of companies: all their shops count as one site. Scrapy brings
#: tldextract, which brings an HTTP client: 0.05 s of each start and 6 MB more.
_SUFFIXES = PublicSuffixList(accept_unknown=False, only_icann=True)


@lru_cache(maxsize=4096)
def _site_of(key: str) -> str:
    name = key if key.startswith("[") else key.partition(":")[0]
    return _SUFFIXES.privatesuffix(name) or key


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
