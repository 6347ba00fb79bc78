"""Cookies of a response as the header of the next request, where no middleware keeps them."""

from __future__ import annotations

from collections.abc import Iterable


def cookie_header(set_cookies: Iterable[bytes], sent: str = "") -> str:
    """Return the `Cookie` header after these `Set-Cookie` headers; *sent* is the one before.

    >>> cookie_header([b"age=18; Path=/", b"lang=; Max-Age=0"], "lang=en; id=7")
    'id=7; age=18'
    """
    pairs = dict(pair.split("=", 1) for pair in sent.split("; ") if "=" in pair)
    for header in set_cookies:
        pair, _, attributes = header.decode("latin-1").partition(";")
        name, _, value = pair.strip().partition("=")
        pairs.pop(name, None)
        is_removed = "max-age=0" in attributes.lower().replace(" ", "")
        if name and value and not is_removed:
            pairs[name] = value
    return "; ".join(f"{name}={value}" for name, value in pairs.items())
