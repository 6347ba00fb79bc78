"""Pages of a shop that tests write as a body: the red lamp, its heading and the button that buys it."""

from __future__ import annotations

from crawler.extract import Found, extract, parse

URL = "https://shop.example/p/red-lamp"
H1 = "<h1>Red Lamp</h1>"
BUY = "<button>Add to cart</button>"


def found(body: str, head: str = "", url: str = URL, lang: str = "en") -> Found:
    """What the parser makes of a page without a title."""
    return extract(parse(f'<html lang="{lang}"><head>{head}</head><body>{body}</body></html>', url))
