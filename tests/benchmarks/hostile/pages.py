"""Pages that are dear to read, or that hold what no page should."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.benchmarks.hostile.answers import targets
from tests.benchmarks.hostile.kinds import NUMBERS, STRINGS, Canaries

HEAD = b"<!DOCTYPE html><html><head><title>Lamp</title></head><body><h1>Lamp</h1>"
BUY = b"<p class=price>$5.00</p><button>Add to cart</button>"
#: How often a killer's unit is repeated, so that a reader whose time grows too fast shows.
SIZES = (300, 3000, 30_000)


def ld(value: object) -> bytes:
    """A JSON-LD block."""
    return b'<script type="application/ld+json">' + json.dumps(value).encode() + b"</script>"


def pages(canaries: Canaries) -> Iterator[bytes]:
    """The known killers at several sizes, then values that do not belong."""
    for size in SIZES:
        for body in _repeated(size):
            yield HEAD + BUY + body
    for width, fan in ((20, 5), (60, 10), (200, 10), (2000, 3)):
        yield HEAD + ld(_graph(width, fan)) + BUY
    for depth in (50, 500, 5000):
        yield HEAD + _deep(depth)
    for body in _values():
        yield HEAD + body + BUY
    for body in _shapes(canaries):
        yield body


def _repeated(n: int) -> Iterator[bytes]:
    """Killers whose cost may grow faster than their size."""
    yield b"<p>" + b"EUR 9 " * n + b"</p>"
    yield b"<p>" + b"9 EUR / " * n + b"</p>"
    yield b"<p>" + b"1.234,5 " * n + b"\xe2\x82\xac</p>"
    yield b"<p class=price>$" + b"1" * n + b"." + b"0" * n + b"</p>"
    yield b"<p class=price>" + b" " * n * 10 + b"$5</p>"
    yield b"<p>" + b"was $9 now $8 " * n + b"</p>"
    yield b"<p " + b" ".join(b"a%d=b" % i for i in range(n)) + b">x</p>"
    yield b"<p " + b'data-price="5" ' * n + b">x</p>"
    yield b"<div>" * n + b"<b>x"
    yield b"<b><i><a>" * n + b"x"
    yield b"<table>" * min(n, 5000) + b"x"
    yield b"<ul><li>" * n
    yield b"</div>" * n + b"<p>x"
    yield b"<!--" * n
    yield b"<![CDATA[" * n
    yield b"&" * n + b"&amp" * n + b"&#x110000;" * n
    yield b"<a href='/p/%d'>" * n
    yield b"<a href='?a=1&amp;b=2'>x</a>" * n
    yield b"".join(b"<a href=/page/%d>%d</a>" % (i, i) for i in range(n))
    yield b"<a href='" + b"../" * n + b"x'>x</a>"
    yield b"<script>var s = {price: " + b"{a: [" * n
    yield b"<script>window.__STATE__ = " + b'{"price":"' * n + b"</script>"
    yield b"<script>__STATE__ = JSON.parse('" + b"\\\\\\'" * n + b"')</script>"
    yield b"<script>" + b"var price = 1;" * n + b"</script>"
    yield b'<script type="application/json">' + b'{"price":1,"name":"x"},' * n + b"</script>"
    yield b'<script type="application/ld+json">' + b"[" * n + b"</script>"
    yield b'<script type="application/ld+json">{"a":"' + b"\\" * n + b'"}</script>'
    yield (
        b'<script type="application/ld+json">'
        + b'{"@type":"Product","name":"x",}, ' * n
        + b"</script>"
    )
    yield (
        b'<div itemscope itemtype="http://schema.org/Product" itemref="'
        + b"a b " * n
        + b'">x</div>'
    )
    yield b'<div itemscope itemprop="offers" itemtype="http://schema.org/Offer">' * n
    yield b'<i itemprop="price" content="5"></i>' * n
    yield b"<meta property='og:price:amount' content='5'>" * n
    yield b"<h1>" + b"word " * n + b"</h1>"
    yield b"<p>1-%d of %d results</p>" * n
    yield b"<p>Page 1 of " + b"9" * n + b"</p>"
    yield b"<style>.p{" * n + b"</style>"
    yield b"<svg><foreignObject><math><mi>" * min(n, 3000)
    yield b"<select>" + b"<option>$5" * n
    yield b"<nav class=breadcrumb>" + b"<a href=/c>c</a> / " * n
    yield b"<dl>" + b"<dt>EAN<dd>" + b"4" * n + b"</dl>"


def _graph(width: int, fan: int) -> object:
    names = [f"#{n}" for n in range(width)]
    node = {"@type": "Product", "name": "x"}
    links = [[{"@id": names[(n * fan + k) % width]} for k in range(fan)] for n in range(width)]
    made = [
        {**node, "@id": names[n], "hasVariant": links[n], "offers": links[n]} for n in range(width)
    ]
    return {"@context": "https://schema.org", "@graph": made}


def _deep(depth: int) -> bytes:
    value = b'{"@type":"Product","name":"x","isRelatedTo":' * depth + b"1" + b"}" * depth
    return b'<script type="application/ld+json">' + value + b"</script>" + BUY


def _values() -> Iterator[bytes]:
    """Products whose fields hold what they should not."""
    for field in ("name", "sku", "gtin", "brand", "image", "description", "url", "@id", "@type"):
        for value in (*STRINGS[7:18], [], {}, [[1]], {"@value": {}}):
            if isinstance(value, str) and len(value) < 30 and field not in {"name", "sku"}:
                continue
            yield ld(
                {
                    "@type": "Product",
                    "name": "Lamp",
                    "sku": "S",
                    field: value,
                    "offers": {"price": 5},
                }
            )
    for number in (*NUMBERS, "Infinity", "-1e400", "٣", "1" * 5000):
        offer = {
            "@type": "Offer",
            "price": number,
            "priceCurrency": "EUR",
            "inventoryLevel": number,
        }
        rating = {"ratingValue": number, "reviewCount": number, "bestRating": number}
        yield ld(
            {
                "@type": "Product",
                "name": "L",
                "sku": "N",
                "offers": offer,
                "aggregateRating": rating,
            }
        )
    for word in (b"Infinity", b"NaN", b"-Infinity", b"1e99999", b"0x5", b"00", b".5", b"9" * 6000):
        yield (
            b'<script type="application/ld+json">{"@type":"Product","name":"L","offers":{"price":'
            + word
            + b"}}</script>"
        )
        yield (
            b"<p itemscope itemtype=http://schema.org/Product>L<b itemprop=price>"
            + word
            + b"</b></p>"
        )


def _shapes(canaries: Canaries) -> Iterator[bytes]:
    """Pages of odd encodings, cycles, and ways that lead where nobody should go."""
    secret, place = canaries.secret, canaries.inside[0]
    text = (HEAD + BUY).decode()
    for name in ("utf-16", "utf-32", "utf-7", "utf-16-be", "cp037", "shift_jis"):
        yield text.encode(name)
    for name in (
        b"rot13",
        b"zlib_codec",
        b"idna",
        b"utf-7",
        b"x",
        b"\0",
        b"undefined",
        b"utf-16",
        b"a" * 9000,
    ):
        yield b"<meta charset=" + name + b">" + HEAD + BUY
    yield b"\0" * 50_000 + HEAD + BUY
    yield HEAD + b"\0".join([b"Lamp"] * 9000) + BUY
    yield HEAD.replace(b"Lamp", b"&#xD800;\xed\xa0\x80&#0;&#x1b;[31m\x1b]0;x\x07") + BUY
    yield HEAD + ld(
        {"@type": "Product", "name": "\ud800x", "sku": "\udfff", "offers": {"price": 5}}
    )
    yield (
        HEAD
        + b'<div id=a itemscope itemtype="http://schema.org/Product" itemref="a b">'
        + b"<i id=b itemref=a itemscope itemprop=offers></i></div>"
    )
    yield (
        HEAD
        + b'<script id="__NUXT_DATA__" type="application/json">'
        + b'[[0,0,0],{"price":1,"self":0},"price"]</script>'
    )
    yield (
        HEAD
        + b"<script>window.__NUXT__=(function(a,b){return{a:b,price:a}}("
        + b"1," * 9000
        + b"2))</script>"
    )
    links = "".join(f'<a href="{t.replace(chr(34), "")[:3000]}">x</a>' for t in targets(canaries))
    raw = links.encode("utf-8", "surrogatepass")
    yield HEAD + raw
    yield HEAD + b'<base href="' + place.encode() + b'/base/"><a href="p/1">x</a>' + BUY
    yield HEAD + b'<link rel=canonical href="' + place.encode() + b'/canonical">' + BUY
    yield HEAD + ld(
        {
            "@type": "Product",
            "name": "L",
            "sku": "U",
            "url": f"{place}/item",
            "image": f"file://{canaries.file}",
        }
    )
    host = place.removeprefix("http://")
    yield (
        HEAD
        + f'<a href="http://user:{secret}@{host}/p/1">x</a>'.encode()
        + f'<a href="//u:{secret}@x.invalid/p">y</a>'.encode()
    )
    yield HEAD + f'<a href="/p/cred?u=http://user:{secret}@x.invalid/">x</a>'.encode()
    yield (
        HEAD
        + b"<a href='http://a.invalid:99999/'>x</a><a href='http://['>y</a><a href='http://\xff'>z</a>"
    )
    yield HEAD + b"".join(b"<a href='http://h%d.invalid/'>x</a>" % n for n in range(3000))
    yield (
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
        + b'<!ENTITY b "&a;&a;&a;&a;">' * 30
        + b"]>"
        + HEAD
        + b"&b;" * 9000
    )
    yield (
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file://'
        + str(canaries.file).encode()
        + b'">]><html><h1>&f;</h1><p>$5'
    )
    yield (
        b'<?xml version="1.0"?><?xml-stylesheet href="'
        + place.encode()
        + b'/style"?><html xmlns="http://www.w3.org/1999/xhtml"><h1>x</h1></html>'
    )
