"""The benchmarks measure what they say: the same job on all sides, a distance that is one."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.request import build_opener, urlopen

import pytest
from bs4 import BeautifulSoup
from redis import Redis
from scrapy.http import HtmlResponse

from crawler.demo.catalogue import ShopProduct
from crawler.demo.judge import compare
from crawler.demo.pages import Site
from crawler.extract import find_links, parse
from tests.benchmarks import benchmarks_page
from tests.benchmarks.distance import distant
from tests.benchmarks.guard import Bar, Found
from tests.benchmarks.sides import css, soup
from tests.benchmarks.sides.values import price, stock
from tests.benchmarks.site_connection import through_proxy, trusting_context
from tests.benchmarks.target import target
from tests.benchmarks.verify import rows_of

BASE = "http://shop.invalid"
SITE = Site(120)


def read(product: ShopProduct, side: str) -> tuple[dict[str, Any], set[str]]:
    """What a side's parser finds on a product's page: the row, and where it would go."""
    url, body = BASE + product.path, SITE.page(product.path).body
    if side == "css":
        response = HtmlResponse(url, body=body, encoding="utf-8")
        links = css.extractor("shop.invalid").extract_links(response)
        found, addresses = css.product(response), {link.url for link in links}
    else:
        tree = BeautifulSoup(body, "html.parser")
        found, addresses = soup.product(tree, url), soup.links(tree, url)
    assert found is not None
    return rows_of([json.loads(json.dumps(found))])[0], addresses


@pytest.mark.parametrize("side", ["css", "soup"])
def test_a_side_with_a_parser_of_its_own_does_the_same_job(side: str) -> None:
    for product in SITE.products:
        row, addresses = read(product, side)
        ours = parse(SITE.page(product.path).body, BASE + product.path)

        assert compare(product.expected(), row) == []
        assert addresses == {link.url for link in find_links(ours)}


def test_a_written_parser_knows_the_shops_words() -> None:
    assert price("1.234,50 €") == price("$1,234.50") == price("CHF 1'234.50") == "1234.50"
    assert stock("https://schema.org/InStock") == stock("Auf Lager") == "InStock"
    assert stock("Currently unavailable") == "OutOfStock"
    assert Decimal(price("12,00 EUR")) == 12


@pytest.mark.alone
def test_a_distant_server_answers_later_and_not_one_after_the_other(redis_url: str) -> None:
    with distant(redis_url, 20) as far, Redis.from_url(far) as redis:
        redis.ping()
        began = time.monotonic()
        redis.ping()
        once = time.monotonic() - began
        with redis.pipeline(transaction=False) as many:
            for _ in range(200):
                many.ping()
            began = time.monotonic()
            many.execute()
            together = time.monotonic() - began

    assert once >= 0.02
    assert together < 20 * once


def test_the_target_counts_what_it_answers_on_all_its_domains() -> None:
    with target(products=30, latency_ms=20, hosts=3) as site:
        for url in site.urls:
            began = time.monotonic()
            with urlopen(url) as answer:
                assert b"Demo Shop" in answer.read()
            assert time.monotonic() - began >= 0.02

        assert site.stats(reset=False)["pages"] == 3
        assert site.stats()["at_once"] == 1
        assert site.stats()["pages"] == 0


def test_the_bar_lets_fifteen_percent_pass() -> None:
    bar = Bar(cpu_ratio=0.5, reading_ratio={"20": 1.1}, margin=0.15, reading_margin=0.06)

    assert bar.passes(Found(seine=[9.0, 2.3, 2.2], plain=[4.0, 4.0, 4.0]).ratio)
    assert not bar.passes(Found(seine=[9.0, 2.4, 2.2], plain=[4.0, 4.0, 4.0]).ratio)


def test_what_was_measured_replaces_what_stood_between_the_marks(tmp_path: Path) -> None:
    point = {"workers": 1, "domains": 10, "pages_per_s": 20.0, "efficiency": 1.0, "cpu_ms": 3.0}
    point |= {"redis_ms": 0.1, "postgres_ms": 0.1, "machine_busy_percent": 50.0}
    machine = {"cores": 2, "cpu": "a CPU", "memory_gb": 8, "load_at_start": [0.1], "versions": {}}
    found = {"command": "make bench", "minutes": 1, "machine": machine, "verified": {}}
    path = tmp_path / "benchmarks.md"
    path.write_text(f"before {benchmarks_page.BEGIN} old {benchmarks_page.END} after", "utf-8")

    benchmarks_page.write({**found, "workers": [point]}, tmp_path)

    text = path.read_text("utf-8")
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert "old" not in text
    assert "| 1 | 10 | 20 | 100 % |" in text
    assert "<svg" in (tmp_path / "bench-workers.svg").read_text("utf-8")


def test_a_site_by_tls_gives_as_many_answers_a_connection_as_it_is_told() -> None:
    with target(products=10, https=True, per_connection=2) as site:
        client = HTTPSConnection("127.0.0.1", site.port, context=trusting_context())
        heads = []
        for _ in range(4):
            client.request("GET", "/")
            answer = client.getresponse()
            assert b"Seine Demo Shop" in answer.read()
            heads.append(answer.headers["Connection"])
        client.close()
        assert heads == [None, "close", None, "close"]
        assert site.stats()["pages"] == 4


def test_a_proxy_is_used_by_what_is_begun_meanwhile_and_passes_a_connection_on_once() -> None:
    with target(products=10) as site, through_proxy() as proxy:
        for _ in range(2):
            with build_opener().open(site.url) as answer:
                assert b"<title>" in answer.read()
        assert site.stats()["pages"] == 2
        assert proxy.connections == 2
