"""I11: the time to read is linear in the input, and no value costs a page."""
# ruff: noqa: E501

from __future__ import annotations

import gzip
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from lxml import etree
from scrapy.http import HtmlResponse

import crawler.access
import crawler.cleaning
import crawler.extract
from crawler.cleaning.product import clean
from crawler.cleaning.text import identifier, plain
from crawler.extract import extract, parse, words
from crawler.extract.lazy_patterns import Lazy
from crawler.extract.links import sitemap_format as sitemaps
from crawler.extract.links.sitemap_format import read_sitemap
from crawler.extract.links.sitemap_news import is_news
from crawler.extract.page import page as pages
from crawler.extract.words.listed_words import WordFinder
from scrapy_seine import attribute_limit
from scrapy_seine.attribute_limit import MOST
from scrapy_seine.engine.fastpath.spider_calls import SpiderCalls
from scrapy_seine.engine.reading.reading_limit import ReadingLimit
from scrapy_seine.politeness.robots_rules import Robots
from scrapy_seine.urls import MAX_LENGTH
from tests.benchmarks import readers

URL = "http://a.example/p/lamp-12"
#: Characters of a run, and what is too short to compare with a run of four times as many.
_LENGTH, _SHORT_LENGTH, _SHORT_S = 2_000, 50, 0.001
#: Four times the run takes a linear pattern 4 times as long, and 16 times one that takes the square.
_GROWTH = 9
_Tried = Callable[[re.Pattern[Any], Any], float]


@pytest.mark.alone
def test_twice_the_input_takes_about_twice_the_time() -> None:
    found = readers.measured(short=True)
    assert found["faults"] == {}


def _patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Each pattern that reads a page; those of `words` read our own lists alone."""
    for package in (crawler.extract, crawler.cleaning, crawler.access):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if module.name.startswith(words.__name__):
                continue
            for name, value in vars(importlib.import_module(module.name)).items():
                for place, found in enumerate(_patterns_in(value)):
                    yield f"{module.name}.{name}.{place}", found
    for name, value in vars(attribute_limit).items():
        for place, found in enumerate(_patterns_in(value)):
            yield f"{attribute_limit.__name__}.{name}.{place}", found


def _patterns_in(value: Any, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    value = value.compiled if isinstance(value, Lazy) else value
    owner = getattr(value, "__self__", None)
    if isinstance(found := value if isinstance(value, re.Pattern) else owner, re.Pattern):
        yield found
    elif isinstance(value, WordFinder):  # one pattern of all words tries what each of them does
        yield words._compiled(value.rule(words.any_of))
    elif isinstance(value, list | tuple) and depth:
        for inner in value:
            yield from _patterns_in(inner, depth - 1)
    elif depth and getattr(value, "__closure__", None):
        if (value.__module__, value.__name__) == (words.__name__, "find"):
            value("д")  # its pattern is compiled when it is first asked for
        for cell in value.__closure__:
            yield from _patterns_in(cell.cell_contents, depth - 1)


def test_a_start_compiles_none_of_the_patterns_that_wait_for_a_text() -> None:
    """A page of most shops needs a third of them."""
    told = subprocess.check_output([sys.executable, "-c", _COMPILED], text=True)
    made, compiled = json.loads(told)
    assert made > 0
    assert compiled == []


_COMPILED = """
import json, sys
import spiders.catalog
from crawler.extract.lazy_patterns import Lazy
modules = [vars(m) for name, m in sys.modules.items() if name.startswith("crawler.extract")]
made = [(name, one) for own in modules for name, one in own.items() if isinstance(one, Lazy)]
print(json.dumps([len(made), [name for name, one in made if "compiled" in vars(one)]]))
"""
PATTERNS = dict(_patterns())
#: Who calls these cuts the text short, or has a short one.
_OF_SHORT_TEXTS = frozenset(
    {"_NEXT_LABEL", "_TO", "_APART", "EXTRA_COSTS", "_BUY_SHORT", "_SCHEME", "_SCIENCE", "_PER_UNIT", "_PER_PIECE", "_PAIR",
     "_RANGE", "_PLAIN", "_HOST", "_WWW_HOST", "_FRONT", "_HOME", "_PAGE_PARAMETER", "_DISPLAY_PARAMETER", "_IDENTITY",
     "_SOLD", "SOLD", "SOON", "NOTIFIES", "_ASKS", "_ASKS_IN_BOX", "_SAVED"}
)  # fmt: skip


def _is_anchored(module: str, value: str) -> bool:
    """Whether its module tries a pattern at one place of a text only, so that no run is searched."""
    source = inspect.getsource(importlib.import_module(module))
    uses = set(re.findall(rf"\b{value}\.(\w+)", source))
    return bool(uses) and uses <= {"match", "fullmatch"}


def _pieces(pattern: re.Pattern[Any]) -> list[str]:
    """Characters, words and the begin of a pattern, and one of each kind that it may name."""
    source = pattern.pattern
    source = source if isinstance(source, str) else source.decode("latin-1")
    letters = sorted(set(re.sub(r"\\[a-zA-Z]", "", source)))
    words = sorted(set(re.findall(r"[^\W\d_]{3,11}", source)))
    usual = [" ", "\n", "9", "a", "_", "-", ".", "9 ", "a ", " 9", " 999", "\u00a0", "é"]
    begin = re.match(r"(?:[^\\.^$*+?{}\[\]()|]{2,}(?![*+?{]))?", source)[0]  # type: ignore[index]
    begins = [begin, f"{begin} "] if begin else []  # begins again and again, and never ends
    return list(dict.fromkeys([*usual, *begins, *letters[:: len(letters) // 20 + 1], *words[:12]]))


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_no_square_of_a_run(name: str) -> None:
    pattern = PATTERNS[name]
    module, value = name.rsplit(".", 2)[0], name.split(".")[-2]
    length = _SHORT_LENGTH if value in _OF_SHORT_TEXTS else _LENGTH
    tried = _match_s if _is_anchored(module, value) or length < _LENGTH else _search_s
    slow = [piece for piece in _pieces(pattern) if _takes_a_square(pattern, piece, tried, length)]
    assert slow == []


def test_a_pattern_that_takes_a_square_is_noticed() -> None:
    # A clock that runs faster meanwhile hides a square, so that one of some tries has to see it.
    assert any(_takes_a_square(re.compile(r"\s*x"), " ", _search_s) for _ in range(5))
    assert not _takes_a_square(re.compile(r"(?<!\s)\s++x"), " ", _search_s)


def _takes_a_square(
    pattern: re.Pattern[Any], piece: str, tried: _Tried, length: int = _LENGTH
) -> bool:
    """Compares two lengths, because a bar in seconds would judge the machine."""
    return all(
        (short := tried(pattern, _run(pattern, piece, length))) > _SHORT_S
        and tried(pattern, _run(pattern, piece, length * 4)) > _GROWTH * short
        for _ in range(3)
    )


def _run(pattern: re.Pattern[Any], piece: str, length: int) -> Any:
    text = piece * (length // len(piece)) + "\x01"
    return text if isinstance(pattern.pattern, str) else text.encode("utf-8", "replace")


def _match_s(pattern: re.Pattern[Any], text: Any) -> float:
    before = time.thread_time()
    pattern.match(text)
    return time.thread_time() - before


def _search_s(pattern: re.Pattern[Any], text: Any) -> float:
    before = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    return time.thread_time() - before


def test_a_tag_keeps_some_of_its_attributes() -> None:
    body = (
        b"<h1>Lamp</h1><p class=price " + b" ".join(b"a%d" % n for n in range(32_000)) + b">$5</p>"
    )
    page = parse(body, URL, "text/html")
    tag = page.root.find(".//p")
    assert tag.get("class") == "price"
    assert len(tag.keys()) <= MOST + 1
    assert tag.text == "$5"


def test_a_spiders_own_selectors_read_a_tag_in_its_bounds() -> None:
    body = b"<p class=price " + b" ".join(b"a%d='>'" % n for n in range(32_000)) + b">$5</p>"
    response = HtmlResponse(URL, body=body, encoding="utf-8")
    SpiderCalls(Mock(), Mock(), ReadingLimit(0)).prepare_page(response)
    assert len(response.css("p")[0].attrib) <= MOST + 1
    assert response.css(".price::text").get() == "$5"
    assert response.body is body


def test_a_sitemap_that_grows_without_end_is_read_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_BYTES", 100_000)
    entry = b"<url><loc>http://a.example/x</loc></url>"
    packed = gzip.compress(b"<urlset>" + entry + b" " * 50_000_000)
    assert read_sitemap(packed, URL).pages == [("http://a.example/x", "")]


def test_a_sitemaps_entities_are_no_more_than_text() -> None:
    body = (
        b'<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
        b"<urlset><url><loc>http://a.example/&b;&c;</loc></url></urlset>"
    )
    assert read_sitemap(body, URL).pages == [("http://a.example/&b;&c;", "")]


@pytest.mark.parametrize(
    "changed", ["9999-12-31", "Mon, 01 Jan 99999999999 00:00:00", "0000-00-00", "\u0661" * 9, ""]
)
def test_a_date_that_is_none_is_news(changed: str) -> None:
    assert is_news(changed, readers._NOW)


def test_a_rate_of_any_length_is_a_day_at_most() -> None:
    body = b"User-agent: *\nRequest-rate: 1/" + b"9" * 400
    assert Robots.parse("rules", body).delay_s("Seine") == 86_400


_VALUES = (
    '"Infinity"', "Infinity", "-Infinity", "NaN", "1e400", "9" * 4000, "9" * 5000, "-1", "true", "null",
    "[]", "{}", "[[[[1]]]]", "[" * 400 + "]" * 400, '"\\ud800"', '"\\u0000"', '"99999-99-99"', '""',
    '"' + "9" * 5000 + '"', '{"@value": NaN}', '"\\u200e\\u202e"', "1e-400", '{"@id": [1]}',
)  # fmt: skip
_FIELDS = (
    "name", "sku", "gtin13", "mpn", "brand", "description", "image", "productID", "color", "url", "@id", "@type",
    "aggregateRating", "offers", "hasVariant", "isVariantOf", "additionalProperty", "itemListElement",
)  # fmt: skip
_INNER = {
    "offers": ("price", "priceCurrency", "availability", "priceSpecification", "url", "lowPrice"),
    "aggregateRating": ("ratingValue", "reviewCount", "ratingCount"),
    "hasVariant": ("name", "sku", "offers", "hasVariant", "url"),
}


@pytest.mark.parametrize("value", _VALUES, ids=range(len(_VALUES)))
def test_no_value_costs_the_page_or_another_field(value: str) -> None:
    inputs = [f'"{field}": {value}' for field in _FIELDS]
    inputs += [f'"{f}": {{"{inner}": {value}}}' for f, names in _INNER.items() for inner in names]
    for told in inputs:
        block = '{"@type": "Product", "name": "Lamp", "x": {"@id": "#a", "b": 1}, "offers": {"price": 5}, %s}'
        for kind in ("ld+json", "json"):
            script = f'<script type="application/{kind}">{block % told}</script>'
            page = parse(f"<h1>Lamp</h1><p class=price>$5</p>{script}", URL, "text/html")
            found = extract(page)
            assert found.unread == {}, told
            found.merge()
            product = found.product()
            if product is not None:
                clean(product, readers._NOW)
                text = json.dumps([product.variants, product.attributes], allow_nan=False)
                assert "\x00" not in f"{product}{text}"


@pytest.mark.parametrize("edges", ["5", "null", "true", '"x"', '[5, {"node": [[]]}]'])
def test_variants_of_any_shape_cost_no_source(edges: str) -> None:
    state = f'{{"name": "Lamp", "price": 5, "currency": "EUR", "variants": {{"edges": {edges}}}}}'
    script = f'<script type="application/json">{state}</script>'
    found = extract(parse(f"<title>Lamp</title>{script}<h1>Lamp</h1>", URL))
    assert found.unread == {}
    assert found.offered["state"]["price"] == 5


def test_a_source_that_raises_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OverflowError("cannot convert")

    monkeypatch.setattr("crawler.extract.structured.product_fields.product_fields", broken)
    ld = '<script type="application/ld+json">{"@type":"Product","name":"Lamp","offers":{"price":5}}</script>'
    body = f"<h1>Lamp</h1><p class=price>$5.00</p><button>Add to cart</button>{ld}"
    found = extract(parse(body, URL, "text/html"))
    assert list(found.unread) == ["json-ld"]
    assert str(found.fields["price"]) == "5.00"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [("\u200eAB-12", "AB-12"), ("A\u202eB\u202c", "AB"), ("AB\u200d", "AB"), ("\u200e", None)],
)
def test_an_identifier_holds_nothing_unseen(raw: str, expected: str | None) -> None:
    assert identifier(raw) == expected


def test_a_number_that_json_does_not_know_is_left_out() -> None:
    assert plain([float("inf"), float("nan"), 10**30, 5, 1.5]) == [None, None, None, 5, 1.5]


def test_a_page_in_pieces_is_the_page_in_one() -> None:
    rows = "".join(f'<li class="a">£{n} &amp; <b>naïve</b><!-- {n} -->' for n in range(30_000))
    body = f"<!doctype html><title>Lamp</title><ul>{rows}</ul><script>if (a < b) c()</script>"
    raw = body.encode()
    assert len(raw) > 2 * pages._PIECE_BYTES
    assert etree.tostring(pages._parsed_tree(raw)) == etree.tostring(
        etree.fromstring(raw, pages._PARSER)
    )


def test_a_base_of_any_length_costs_its_page_no_link() -> None:
    page = parse(f"<base href='/{'a/' * 9000}'><a href=/p/1>x</a>", URL)
    assert page.resolve("/p/1") == "http://a.example/p/1"
    assert len(page.base) <= MAX_LENGTH
