"""Pages that mean no good, or nothing at all: read in bounded time, and never an error."""

import tracemalloc

import pytest

from crawler.extract import extract, find_links, parse
from crawler.extract.page.encoding import utf8
from tests.measuring import within_cpu

URL = "http://a.example/p/1"
PRODUCT = b'<html><body><h1>Lamp</h1><p class="price">$5.00</p><button>Add to cart</button>'
LD = (
    b'<script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"price":"5",'
    b'"priceCurrency":"USD"}}</script>'
)
NASTY = {
    "empty": b"",
    "zero bytes": b"\0" * 1000,
    "deeply nested": b"<div>" * 100_000 + b"<h1>x</h1>$5",
    "deeply nested with a product": PRODUCT + b"<div><span>" * 3000,
    "twenty megabytes": PRODUCT + b"<p>text here and $4 more</p>" * 800_000,
    "one huge attribute": b'<p data-x="' + b"a" * 20_000_000 + b'">$5</p>',
    "a thousand blocks": b"<h1>Lamp</h1>" + LD * 1000,
    "a thousand broken blocks": LD.replace(b'"5"', b'"5') * 1000,
    "deep json": b'<script type="application/ld+json">' + b"[" * 100_000 + b"</script>",
    "deep json objects": b'<script type="application/ld+json">' + b'{"a":' * 50_000 + b"</script>",
    "nodes that refer to themselves": b'<script type="application/ld+json">{"@graph":[{"@id":"a",'
    b'"@type":"Product","name":{"@id":"b"},"offers":{"@id":"a"},"hasVariant":{"@id":"a"}},{"@id":'
    b'"b","@type":"Product","brand":{"@id":"a"}}]}</script>',
    "state that refers to itself": b'<h1>Lamp</h1><script id="__NUXT_DATA__" type="application/'
    b'json">[[0,0,0,0],"price"]</script>',
    "an item inside itself": b'<div itemscope itemtype="http://schema.org/Product" itemref="a a">'
    b'<div id="a" itemscope itemprop="offers" itemref="a"><span itemprop=price>5</span></div></div>',
    "a hundred thousand links": b"".join(
        b'<a href="/p/%d">%d</a>' % (i, i) for i in range(100_000)
    ),
    "amounts alone in a megabyte": PRODUCT + (b"$5" * 30 + b"</b>9,99 &euro;</a>") * 20_000,
    "a million digits": b"<h1>x</h1><p class=price>" + b"1" * 1_000_000,
    "numbers without end": b"<h1>x</h1><p class=price>" + b"1.111" * 200_000,
    "many colons": b"<h1>x</h1>" + b"<p>a:b:c:d:</p>" * 2000,
    "a base of its own": b'<base href="javascript:1"><a href="http://[bad">b</a><a href="x">x</a>',
    "a literal without an end": b"<h1>Lamp</h1><script>var product = {price:" + b"{a:[" * 50_000,
    "a thousand literals": b"<h1>Lamp</h1><script>"
    + b"var product = {name: 'x', price: 1};" * 5000,
    "a million commas": b"<h1>Lamp</h1><script>var state = [price," + b"," * 1_000_000,
    "a function without an end": b"<h1>Lamp</h1><script>window.__NUXT__=(function(a,price){return {"
    + b"a:function(){return {" * 50_000,
    "quotes without an end": b"<h1>Lamp</h1><script>__STATE__ = '" + b"price\\'" * 200_000,
    "attributes of braces": b"<h1>Lamp</h1>" + b'<p x="{&quot;price' * 20_000,
    "a thousand prices of one name": b"<h1>Lamp</h1>" + b"<i data-price=5 data-price='5'>" * 20_000,
    "ten thousand tiles": b"<h1>Lamps</h1>"
    + b"<div><h3><a href=/x>L</a></h3><b>$5</b></div>" * 10_000,
    "a heading of a megabyte": b"<title>Lamp</title><h1>" + b"lamp " * 200_000 + b"</h1><p>$5",
    "many short boxes": b"<title>" + b"x " * 300 + b"</title>" + b"<b>xxxxxxxx</b>" * 50_000,
    "a base elsewhere": b"<base href='https://b.example/'><h1>Lamp</h1><a href='x'>x</a>",
    "surrogates": b"<h1>&#xD800;&#x110000;\xed\xa0\x80</h1>",
    "wrong types": b'<script type="application/ld+json">{"@type":["Product",7,null],"name":{"@value":'
    b'["x"]},"offers":[null,"x",{"price":{"a":1}}],"image":[[["x"]]],"brand":[[]],"aggregateRating":'
    b'[[]],"sku":{"@value":5},"gtin":[],"additionalProperty":[1],"hasVariant":"x"}</script>',
    "wrong types in state": b'<h1>Lamp</h1><script type="application/json">{"name":"Lamp","price":'
    b'[[]],"variants":{"edges":[1,{"node":2}]},"brand":5,"images":[{"src":[1]}]}</script>',
}


@pytest.mark.parametrize("name", NASTY)
def test_it_is_read_in_bounded_time_and_without_an_error(name: str) -> None:
    with within_cpu(3):
        page = parse(NASTY[name], URL, "text/html")
        found = extract(page)
        found.product()
        find_links(page)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"%PDF-1.4\n" + bytes(range(256)) * 20, "application/pdf"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "image/png"),
        (b'{"name": "x"}', "application/json"),
        (b"hello $5", "text/plain"),
        (b"\x00\x01\x02", ""),
    ],
)
def test_what_is_no_html_is_no_page(body: bytes, content_type: str) -> None:
    page = parse(body, URL, content_type)
    assert not page.is_html
    assert extract(page).kind == "other"
    assert find_links(page) == []


def test_what_is_html_is_read_whatever_it_is_called() -> None:
    assert extract(parse(PRODUCT, URL, "text/plain")).kind == "product"
    assert extract(parse(PRODUCT, URL, "application/octet-stream")).kind == "product"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<h1>Café €</h1>".encode(), "text/html; charset=iso-8859-1"),
        ("<h1>Café €</h1>".encode(), ""),
        ("<h1>Café €</h1>".encode("cp1252"), "text/html; charset=iso-8859-1"),
        ("<h1>Café €</h1>".encode("cp1252"), "text/html; charset=utf-8"),
        ("<h1>Café €</h1>".encode("cp1252"), "text/html; charset=no-such-thing"),
        ("<h1>Café €</h1>".encode("cp1252"), "text/html; charset=undefined"),
        ("<h1>Café €</h1>".encode("cp1252"), "text/html; charset=idna"),
        ('<meta charset="windows-1252"><h1>Café €</h1>'.encode("cp1252"), "text/html"),
        ("\ufeff<h1>Café €</h1>".encode("utf-16"), "text/html"),
        ("\ufeff<h1>Café €</h1>".encode("utf-8-sig"), "text/html; charset=latin-1"),
        ("<h1>Café €</h1>".encode("utf-16-le"), "text/html; charset=utf-16-le"),
        ("<h1>Café €</h1>".encode(), "text/html; charset=utf-16"),  # recoded by a middleware
        ("<h1>Café €</h1>".encode(), "*/*"),
        ("<h1>Café €</h1>".encode(), "html; charset=utf-8"),
    ],
)
def test_a_wrong_charset_does_not_spoil_the_text(body: bytes, content_type: str) -> None:
    page = parse(body, URL, content_type or "text/html")
    assert page.headings[0].text.strip("\ufeff") == "Café €"


def test_a_truncated_page_gives_what_is_there() -> None:
    found = extract(parse(PRODUCT + b'<script type="application/ld+json">{"@type":"Prod', URL))
    product = found.product()
    assert product is not None
    assert (product.name, str(product.price)) == ("Lamp", "5.00")


@pytest.mark.parametrize("number", ["²", "٢", "9" * 5_000])
def test_a_number_that_python_reads_otherwise_costs_no_page(number: str) -> None:
    """`int` refuses "²", which is a digit, and 5,000 figures."""
    added = f'<a href="?page={number}">next</a><img src="/lamp.jpg" width="{number}">'
    body = PRODUCT.replace(b"<body>", b"<body><div>") + added.encode()
    page = parse(body, URL, "text/html; charset=utf-8")
    assert extract(page).fields["name"] == "Lamp"
    assert len(find_links(page)) <= 1


def test_a_page_of_bytes_in_no_encoding_takes_a_few_times_its_size() -> None:
    """A list of its characters took a hundred times the page: 350 MB for 4 MB."""
    body = b"<html><body>" + b"\xff" * 1_000_000
    tracemalloc.start()
    try:
        utf8(body, "")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 12 * len(body)
