"""I8: whatever a spider does with a seed is that seed's own end, with its reason."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from scrapy import Request

from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.starting.seed_format import MOST_REQUESTS, requests_of
from scrapy_seine.errors import BadSeed


class Custom(FrontierSpider):
    name = "custom"

    def __init__(self, read: Callable[[bytes], Any]) -> None:
        super().__init__()
        self.read = read

    def make_request_from_data(self, data: bytes) -> Any:
        return self.read(data)


def raised(error: BaseException) -> Callable[[bytes], Any]:
    def read(data: bytes) -> Any:
        raise error

    return read


def recurse(data: bytes) -> Any:
    return recurse(data)


PAGE = Request("http://a.example/")


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda data: {}["url"], "KeyError: 'url'"),
        (lambda data: json.loads("{"), "JSONDecodeError: "),
        (recurse, "RecursionError: "),
        (raised(MemoryError()), "MemoryError"),
        (raised(ValueError("x" * 9000)), "ValueError: xxx"),
        (raised(SystemExit(3)), "SystemExit: 3"),
        (lambda data: sys.exit(1), "SystemExit"),
        (raised(GeneratorExit()), "GeneratorExit"),
        (raised(UnicodeError("\ud800")), "UnicodeError"),
        (lambda data: None, "a NoneType of it, no request"),
        (lambda data: "http://a.example/", "a str of it"),
        (lambda data: b"x", "a bytes of it"),
        (lambda data: {"url": "x"}, "a dict of it"),
        (lambda data: 5, "a int of it"),
        (lambda data: [], "made no request"),
        (lambda data: [PAGE, None], "a NoneType of it"),
        (lambda data: (PAGE for _ in iter(int, 1)), f"more than {MOST_REQUESTS}"),
        (lambda data: PAGE.replace(meta={"ladder_step": "x"}), "only the engine may set it"),
        (lambda data: PAGE.replace(meta={"download_timeout": "30"}), "meta.download_timeout"),
        (lambda data: PAGE.replace(headers={"A": "b\r\nC: d"}), "line break"),
        (lambda data: PAGE.replace(method="A B"), "method"),
    ],
)
def test_what_a_spider_makes_of_a_seed_is_that_seeds_own_reason(
    read: Callable[[bytes], Any], told: str
) -> None:
    with pytest.raises(BadSeed) as caught:
        requests_of(Custom(read), b"anything")
    assert told in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("blank", ["", " ", "\u00a0", "\u3000", "\ufeff", "\x1c"])
def test_a_seed_is_bound_by_its_column_whatever_the_spider_does_with_it(blank: str) -> None:
    seed = blank + '{"url": "http://a.example/", "meta": {"bindaddress": "127.0.0.1"}}'
    with pytest.raises(BadSeed, match=r"meta\.bindaddress"):
        requests_of(Custom(lambda data: PAGE), seed.encode())


def test_a_spider_may_set_what_no_seed_may_and_may_make_several_requests() -> None:
    meta = {"bindaddress": "127.0.0.1", "own": 5}
    made = requests_of(Custom(lambda data: [PAGE, PAGE.replace(meta=meta)]), b"x")
    assert [request.meta for request in made] == [{}, meta]
    assert requests_of(Custom(lambda data: iter([PAGE])), b"x") == [PAGE]


def test_the_form_of_scrapy_redis_is_read_as_it_was() -> None:
    seed = {"url": "http://a.example/s", "meta": {"page": 1}, "method": "POST", "q": "x y"}
    (request,) = requests_of(FrontierSpider(name="plain"), json.dumps(seed).encode())
    assert (request.method, request.body, request.meta) == ("POST", b"q=x+y", {"page": 1})


@pytest.mark.parametrize(
    "seed",
    [
        b"\xef\xbb\xbfhttps://a.example/p?q=1\r\n",
        b'\xef\xbb\xbf{"url": "https://a.example/p?q=1"}',
        b'"https://a.example/p?q=1"',
    ],
)
def test_an_address_behind_a_byte_order_mark_or_in_json_is_a_seed(seed: bytes) -> None:
    """Other programs push them; each was refused, and its reason named the JSON's Python type."""
    [request] = requests_of(FrontierSpider("any"), seed)
    assert request.url == "https://a.example/p?q=1"


def test_a_text_in_json_that_is_no_address_is_refused_by_that() -> None:
    with pytest.raises(BadSeed, match="'shop' has no http:// or https:// in front"):
        requests_of(FrontierSpider("any"), b'"shop"')
