# ruff: noqa: E501
"""What readers have trouble with: pieces of their own vocabulary, and the places to put them."""

from __future__ import annotations

import json
from collections.abc import Callable

_HEAD = b"<html><head><title>Lamp</title></head><body>"
_LD = b'<h1>Lamp</h1><script type="application/ld+json">'
# fmt: off
#: For each reader, what is repeated; `%d` is the number of the piece.
TOKENS: dict[str, list[bytes]] = {
    "page": [
        b' ', b'\n', b'a', b'9', b'9 ', b'EUR 9 ', b'$9 ', b'9 \xe2\x82\xac ', b'1.111', b'1,',
        b'.', b',', b"'", b'1.168,70 \xe2\x82\xac', b'%', b'5%', b'-', b' - ', b' | ', b'|', b':',
        b'a:', b'#', b'a#', b'sku: ', b'SKU:1 - ', b'/', b'//', b'a/', b'_', b'-4', b'\\', b'\\"',
        b'{', b'[', b'{}', b'[]', b'(', b')', b'=', b'&', b'&amp;', b'&#65;', b'%41', b'?a=1&',
        b'page 1 of ', b'1 - 9 of ', b'1 000 ', b'next \xc2\xbb ', b'\xc2\xbb', b'in stock ',
        b'not in stock ', b'was ', b'was 9 ', b'5 out of 5 ', b'9 reviews ', b'9 (', b'old-price ',
        b'price ', b'product-card ', b'hidden ', b'strike', b'\xe2\x80\xa8', b'\xc2\xa0',
        b'\xef\xbc\x99', b'\xe4\xba\xac', b'\xcc\x81', b'A\xcc\x81', b'\xcc\x81\xcc\xa7',
        b'http://a/', b'<br>', b'<b>', b'<b>9</b>', b'<i>9</i> ', b'<a href=/p/%d>', b'</p>',
        b'<p>', b'<div>', b'<span>', b'<tr>', b'<td>', b'<table>', b'<table><tr><td>', b'<form>',
        b'<select>', b'<option>', b'<li>', b'<ul><li>', b'<dl><dt>', b'<font>', b'<a>', b'<p><b>',
        b'<svg>', b'<math>', b'<!--', b'<!', b'<?', b'<![CDATA[', b'</', b'<', b'>', b'<x y=',
        b'<script>', b'<style>', b'<title>', b'<textarea>', b'<plaintext>', b'<h1>', b'<h1>x</h1>',
        b'<h2>Lamp %d</h2>', b'<meta name=a content=b>', b'<link rel=next href=/%d>',
        b'<base href=/%d/>', b'<img alt=Lamp src=%d>', b'<input type=submit value=Buy name=qty>',
        b'<button>Buy</button>', b'<div itemscope itemprop=a>', b'<div itemscope>',
        b'<div itemprop=price>9</div>', b'<span itemprop=name>',
        b'<div typeof=Product property=x>', b"<div itemscope itemref='a a a a a a'>",
        b'<nav class=breadcrumb><a href=/%d>x</a>', b'<ol class=crumb>',
        b'<div class=product-card>', b'<div class=product-card id=c%d>', b'<div class=rating>5',
        b"<div class='price'>$5", b'<div class=price>$%d</div>',
        b'<div class=price><a href=/%d>x</a>$%d.00</div>',
        b'<div><h3><a href=/x%d>L</a></h3><b>$5</b></div>', b'<tr><th>a%d</th><td>b</td></tr>',
        b'<dt>sku</dt><dd>1</dd>', b'<p>sku: 12</p>', b'<sup>9</sup>', b'<p x="[{&quot;',
        b'<p x=\'[{"rice', b'="{&quot;', b'<p data-price=5>', b' name=price a="b"',
        b'<i name=price ', b'data-price="', b'<input name=', b'<a href=/c?page=%d>%d</a>',
        b'<a href=/c/%d/?a=b&c=%d>x</a>', b"<a href='?", b'<a href=http://[x%d>',
        b'<meta charset=', b'<html a%d=b>', b'<p>Price: $5 was $9', b'state', b'password',
        b'statestate={', b'__A__', b'urrencyiso', b'\xef\xbc\x99 in stock', b'x=1;', b'/*',
        b'//\n', b'\n\n', b'};{', b',"a":1', b'"a" ', b'<a%d b%d c%d>', b'a%d=1 ', b'home',
        b'<div class=crumb><a href=/x>home</a>', b'<input/name=', b'&#x202e;', b'`', b'\\u0041',
        b'statement ', b'/events/',
    ],
    "sitemap": [
        b'<url>', b'<url><loc>', b'<loc>', b'<url>\n', b' ', b'\n', b'<', b'<!--', b'<![CDATA[',
        b'&amp;', b'&#x41;', b'</url>', b'<url a=', b'<item><link>', b'<a:url>',
        b'<url><loc>http://a/</loc>', b'<url><loc>http://a.example/%d</loc></url>', b'<lastmod>',
        b'<loc>http:', b'<loc> /', b'<link href=', b'<link ', b'http://a.example/%d\n',
        b'<sitemap><loc>/%d.xml</loc></sitemap>', b']]>', b'<?x ?>', b'<!DOCTYPE a [',
        b"<entry><link href='/%d'/><updated>2020</updated></entry>", b'a:', b'aaaa', b'<aaaa:',
        b'<url><loc>/x</loc><lastmod>',
    ],
    "robots": [
        b'\n', b' ', b'\r', b'\t', b'#', b'Disallow: /\n', b'Disallow: /%d\n',
        b'Disallow: /*a*b*c*d\n', b'Disallow: /*aaaaaaab%d\n', b'User-agent: *\n', b'User-agent: %d\n', b'Sitemap: /%d\n',
        b'Sitemap:', b'sitemap', b'Allow:/*', b'*', b'a*', b'Crawl-delay: 1\n',
        b'Request-rate: 1/1\n', b':', b'Disallow: /*%d*\n', b'%41', b'$', b'Disallow: ', b'\xe2\x80\xa8', b'\x0b',
        b'\x0c', b'User-agent: Seine\nDisallow: /%d\n', b'Visit-time: 1\n',
    ],
}
#: For each reader, what comes before the pieces, and what comes after them.
PLACES: dict[str, dict[str, tuple[bytes, bytes]]] = {
    "page": {
        'raw': (b'', b''),
        'body': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1>', b''),
        'prod': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p class=price>$5</p><button>Add to cart</button>', b'</body></html>'),
        'p': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p>', b'</p>$5 <button>buy</button>'),
        'pprice': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p class=price>', b'</p>'),
        'before': (b'<html><head><title>Lamp</title></head><body>', b'<h1>Lamp</h1><p class=price>$5</p><button>Add to cart</button>'),
        'tag': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p ', b'>$5</p>'),
        'attr': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p class="', b'">$5</p><button>Add to cart</button>'),
        'style': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p style="', b'">$5</p>'),
        'href': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><a href="/', b'">$5</a>'),
        'title': (b'<title>', b'</title><h1>Lamp</h1>$5 <button>Add to cart</button>'),
        'titlesep': (b'<title>Lamp', b' | Shop</title><h1>x</h1>$5 <button>Add to cart</button>'),
        'h1': (b'<html><head><title>Lamp</title></head><body><h1>', b'</h1><p class=price>$5</p><button>Add to cart</button>'),
        'ogtitle': (b'<meta property=og:type content=product><meta property=og:title content="Lamp', b'"><meta property=og:price:amount content=5>'),
        'ogprice': (b'<meta property=og:type content=product><meta property=og:title content="Lamp"><meta property=og:price:amount content="', b'">'),
        'ogavail': (b'<meta property=og:type content=product><meta property=og:title content="Lamp"><meta property=og:availability content="', b'"><meta property=og:price:amount content=5>'),
        'ldname': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","offers":{"price":"5","priceCurrency":"EUR"},"name":"', b'"}</script>'),
        'ldprice': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"priceCurrency":"EUR","availability":"x","price":"', b'"}}</script>'),
        'ldavail': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"priceCurrency":"EUR","price":5,"availability":"', b'"}}</script>'),
        'lddesc': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"priceCurrency":"EUR","price":5},"sku":"abcd","description":"<p>', b'"}</script>'),
        'ldrating': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"price":5},"aggregateRating":{"ratingValue":"', b'","reviewCount":"9"}}</script>'),
        'ldcount': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"price":5},"aggregateRating":{"ratingValue":"5","reviewCount":"', b'"}}</script>'),
        'ldsku': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"price":5},"sku":"', b'","gtin":"x"}</script>'),
        'ldtype': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"', b'","name":"Lamp","offers":{"price":5}}</script>'),
        'ldcrumb': (b'<h1>Lamp</h1><script type="application/ld+json">[{"@type":"Product","name":"Lamp","offers":{"price":5}},{"@type":"BreadcrumbList","itemListElement":[{"name":"', b'","position":"1"}]}]</script>'),
        'ldraw': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp" ', b'</script>'),
        'ldbroken': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp", price "rice": ', b'}</script>'),
        'ldstr': (b'<h1>Lamp</h1><script type="application/ld+json">{"@type":"Product","name":"Lamp" x","price', b'"}</script>'),
        'script': (b'<h1>Lamp</h1><script>var price;', b'</script>'),
        'state': (b'<h1>Lamp</h1><script>window.__STATE__ = {price:', b'}</script>'),
        'statestr': (b"<h1>Lamp</h1><script>window.__STATE__ = {price:'", b"'}</script>"),
        'statejson': (b'<h1>Lamp</h1><script type=application/json>{"name":"Lamp","price":"', b'"}</script>'),
        'parsed': (b"<h1>Lamp</h1><script>var price=JSON.parse('", b"')</script>"),
        'nuxt': (b'<h1>Lamp</h1><script>window.__NUXT__=(function(a,price){return {name:', b"}}('Lamp',5))</script>"),
        'nuxtargs': (b'<h1>Lamp</h1><script>window.__NUXT__=(function(', b"){return {name:1}}('rice',5))</script>"),
        'mdname': (b'<div itemscope itemtype="http://schema.org/Product"><h1 itemprop=name>Lamp', b'</h1><b itemprop=price>5</b></div>'),
        'md': (b'<div itemscope itemtype="http://schema.org/Product"><h1 itemprop=name>Lamp</h1>', b'<b itemprop=price>5</b></div>'),
        'mdref': (b'<div itemscope itemtype="http://schema.org/Product" itemref="', b'"><h1 itemprop=name>Lamp</h1><b itemprop=price>5</b></div>'),
        'table': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p>$5<table><tr><td>', b'</td><td>1</td></table>'),
        'rating': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p>$5<div class=rating>', b'</div>'),
        'crumbs': (b'<html><head><title>Lamp</title></head><body><div class=breadcrumb>', b'</div><h1>Lamp</h1><p>$5<button>buy</button>'),
        'select': (b'<html><head><title>Lamp</title></head><body><h1>Lamp</h1><select>', b'</select>'),
        'comment': (b'<h1>Lamp</h1><!--', b'--><p>$5'),
        'style2': (b'<h1>Lamp</h1><style>', b'</style><p>$5'),
        'lang': (b'<html lang="', b'"><h1>Lamp</h1>$5'),
        'list': (b'<html><head><title>Lamp</title></head><body><h1>Lamps</h1><a href=/c?page=2>2</a>', b''),
        'scripttype': (b'<h1>Lamp</h1><script type="', b'">price</script>'),
        'imgalt': (b'<h1>Lamp</h1><p>$5<button>buy</button><img src=x alt="', b'">'),
        'inputval': (b'<h1>Lamp</h1><p>$5<input type=submit value="', b'">'),
        'canonical': (b'<link rel=canonical href="/', b'"><h1>Lamp</h1><p class=price>$5<button>add to cart</button>'),
    },
    "sitemap": {
        '<urlset> …': (b'<urlset>', b''),
        '<urlset> … </loc></url></urlset>': (b'<urlset>', b'</loc></url></urlset>'),
        '<urlset><url><loc> …': (b'<urlset><url><loc>', b''),
        '<urlset><url><loc> … </loc></url></urlset>': (b'<urlset><url><loc>', b'</loc></url></urlset>'),
        '<urlset><url><loc>http://a.example/ …': (b'<urlset><url><loc>http://a.example/', b''),
        '<urlset><url><loc>http://a.example/ … </loc></url></urlset>': (b'<urlset><url><loc>http://a.example/', b'</loc></url></urlset>'),
        '<urlset><url><loc>/a</loc><lastmod> …': (b'<urlset><url><loc>/a</loc><lastmod>', b''),
        '<urlset><url><loc>/a</loc><lastmod> … </loc></url></urlset>': (b'<urlset><url><loc>/a</loc><lastmod>', b'</loc></url></urlset>'),
        '…': (b'', b''),
        '… </loc></url></urlset>': (b'', b'</loc></url></urlset>'),
        '<urlset><url><loc><![CDATA[ …': (b'<urlset><url><loc><![CDATA[', b''),
        '<urlset><url><loc><![CDATA[ … </loc></url></urlset>': (b'<urlset><url><loc><![CDATA[', b'</loc></url></urlset>'),
        '<urlset><url><link  …': (b'<urlset><url><link ', b''),
        '<urlset><url><link  … </loc></url></urlset>': (b'<urlset><url><link ', b'</loc></url></urlset>'),
    },
    "robots": {
        '': (b'', b''),
        'User-agent: *\nDisallow: /': (b'User-agent: *\nDisallow: /', b''),
        'Sitemap:': (b'Sitemap:', b''),
        'User-agent: *\n': (b'User-agent: *\n', b''),
        'User-agent: Seine\nDisallow: /*a': (b'User-agent: Seine\nDisallow: /*a', b''),
    },
}
# fmt: on


def _graph(size: int) -> bytes:
    """Nodes that refer to ten others each."""
    count = max(20, size // 400)
    nodes = [
        {
            "@id": f"#{n}",
            "@type": "Product",
            "name": f"Lamp {n}",
            "offers": [{"@id": f"#{(n * 7 + k) % count}"} for k in range(10)],
            "hasVariant": [{"@id": f"#{(n * 3 + k) % count}"} for k in range(10)],
        }
        for n in range(count)
    ]
    return _LD + json.dumps({"@graph": nodes}).encode() + b"</script>"


def _same_name(size: int) -> bytes:
    nodes = b"".join(b'{"name":"Lamp","price":"","id":%d},' % n for n in range(size // 35))
    return b"<h1>Lamp</h1><script type=application/json>[" + nodes + b"1]</script>"


def _escaped(size: int) -> bytes:
    inner = b'{\\"name\\":\\"Lamp\\",\\"price\\":1},'
    return b'<h1>Lamp</h1><script>x=JSON.parse("[' + inner * (size // len(inner)) + b'1]")</script>'


def _headings_and_products(size: int) -> bytes:
    half = size // 100
    nodes = [{"@type": "Product", "name": f"Lamp {n} red"} for n in range(half)]
    heads = b"".join(b"<h1>Lamp %d</h1>" % n for n in range(half))
    return heads + _LD + json.dumps(nodes).encode() + b"</script>"


def _steps_in_name(size: int) -> bytes:
    steps = b"".join(b" \xe2\x80\xba a" for _ in range(size // 6))
    name, price = b"<meta property=og:title content='Lamp%s'>", b"product:price:amount"
    return name % steps + b"<meta property=%s content=5>" % price


def _references(size: int) -> bytes:
    count = size // 80
    items = b"".join(
        b'<div id=i%d itemscope itemref="i%d i1 i2">' % (n, n + 1) for n in range(count)
    )
    return items + b"<b itemprop=price>5</b>"


def _deep_text(size: int) -> bytes:
    opened = b"<div itemscope itemtype=http://schema.org/Product>" + b"<span itemprop=name>" * 1500
    return opened + b"<b>a</b> " * (size // 9)


def _codes(size: int) -> bytes:
    nodes = [
        {"@type": "Product", "name": f"n{n}", "sku": "lamp" + "-" * (n % 9)}
        for n in range(size // 50)
    ]
    return _LD + json.dumps(nodes).encode() + b"</script>"


def _parameters(size: int) -> bytes:
    link = b"<a href='/c?" + b"&".join(b"p%d=%d" % (n, n) for n in range(45)) + b"&x=%d'>x</a>"
    return b"<h1>Lamps</h1>" + b"".join(link % n for n in range(size // len(link)))


def _agents(size: int) -> bytes:
    half = size // 36
    names = b"".join(b"User-agent: a%d\n" % n for n in range(half))
    return names + b"User-agent: *\n" + b"".join(b"Disallow: /x%d\n" % n for n in range(half))


def _own_agents(size: int) -> bytes:
    agent = b"mozilla/5.0 (compatible; seine/1.0)"
    parts = [agent[a:b] for a in range(len(agent)) for b in range(a + 1, len(agent))]
    lines = b"".join(b"User-agent: %s\n" % parts[n % len(parts)] for n in range(size // 60))
    return lines + b"Disallow: /x\n" * (size // 30)


def _wide_references(size: int) -> bytes:
    wide = {"@id": "#a", "x": {"@id": "#a"}, **{f"k{n}": 1 for n in range(size // 15)}}
    product = {"@type": "Product", "name": "Lamp"}
    product |= {f"r{n}": [{"@id": "#a"}] * 100 for n in range(size // 4000)}
    return _LD + json.dumps([wide, product]).encode() + b"</script>"


def _long_base(size: int) -> bytes:
    links = b"".join(b"<a href=q%d>x</a>" % n for n in range(size // 30))
    return b"<base href='http://a.example/%s'><h1>Lamp</h1>" % (b"a/" * (size // 4)) + links


def _texts_within_texts(size: int) -> bytes:
    opened = b"<div itemscope itemtype=http://schema.org/Product>"
    return opened + b"".join(b"<div itemprop=p%d>" % n + b"word " * 100 for n in range(size // 520))


def _referred_texts(size: int) -> bytes:
    names = b" ".join([b"i"] * 100)
    opened = b"<div itemscope itemtype=http://schema.org/Product itemref='%s'></div>" % names
    return opened + b"<div id=i>" + b"<div itemprop=x>" * 190 + b"<b>a</b> " * (size // 9)


#: Inputs that are no repetition of one piece.
WHOLE: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "a graph of references": ("page", _graph),
    "state of one name": ("page", _same_name),
    "an escaped text": ("page", _escaped),
    "headings and products": ("page", _headings_and_products),
    "breadcrumbs in the name": ("page", _steps_in_name),
    "items that refer to each other": ("page", _references),
    "text within fifteen hundred properties": ("page", _deep_text),
    "references to a node of many values": ("page", _wide_references),
    "a long base": ("page", _long_base),
    "texts within texts": ("page", _texts_within_texts),
    "a place that is referred to often": ("page", _referred_texts),
    "codes that stand in the address": ("page", _codes),
    "links of many parameters": ("page", _parameters),
    "agents and rules": ("robots", _agents),
    "agents like our own": ("robots", _own_agents),
}
