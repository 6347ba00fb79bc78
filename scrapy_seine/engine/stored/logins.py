"""Turns logins in URLs into headers, each sent only to its own scheme, host and port."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from scrapy import Request

from scrapy_seine import meta as m
from scrapy_seine.urls import domain, split_login


def take_login(url: str, headers: dict[Any, Any], meta: dict[str, Any]) -> str:
    """Move the credentials of a URL into a header; returns the URL without them."""
    url, login = split_login(url)
    if login:
        code = b64encode(login.encode("utf-8", "surrogatepass"))
        headers.setdefault(b"Authorization", [b"Basic " + code])
        meta[m.LOGIN] = origin_of(url)
    return url


def origin_of(url: str) -> str:
    """Return scheme, host and port of an absolute URL, to which credentials belong.

    >>> origin_of("https://Shop.example:443/x?y")
    'https://shop.example'
    """
    return f"{url.partition(':')[0].lower()}://{domain(url)}"


def hand_down_login(request: Request, parent: Request) -> None:
    """Give a page's link the page's credentials, if it has the same origin."""
    place = parent.meta.get(m.LOGIN)
    header = parent.headers.get(b"Authorization")
    if not header or b"Authorization" in request.headers:
        return
    try:
        is_same = origin_of(request.url) == place
    except ValueError:  # to_push reports what is wrong with the URL
        return
    if is_same:
        request.headers[b"Authorization"] = header
        request.meta[m.LOGIN] = place
