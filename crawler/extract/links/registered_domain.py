"""Registered domains: URLs of one registered domain belong to one shop."""

from __future__ import annotations

from collections.abc import Iterable
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


def origin_of(url: str) -> str:
    """Return an absolute address's scheme and host, with a slash.

    >>> origin_of("https://a.example/x"), origin_of("https://a.example")
    ('https://a.example/', 'https://a.example/')
    """
    end = url.find("/", 8)
    return url[: end + 1] if end > 0 else f"{url}/"


def on_own_host(urls: Iterable[str], shop: str) -> list[str]:
    """Return addresses, those on the shop's host with or without `www.`, or by http, as the shop's.

    >>> on_own_host(["http://www.a.example/x", "http://b.example/y"], "https://a.example/")
    ['https://a.example/x', 'http://b.example/y']
    """
    own = origin_of(shop)
    scheme, _, host = own.partition("://")
    hosts = (host, host.removeprefix("www.") if host.startswith("www.") else f"www.{host}")
    twins = tuple(
        f"{other}://{name}"
        for name in hosts
        for other in ("http", "https")
        if name != host or (scheme == "https" and other == "http")
    )
    return [own + url[len(origin_of(url)) :] if url.startswith(twins) else url for url in urls]
