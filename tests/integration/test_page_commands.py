"""`scrapy explain`, `savepage` and `newsite` on pages of the demo shop, as a user runs them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import psycopg2
import pytest

from crawler.demo.shop_process import served
from crawler.extract import extract, parse
from crawler.extract.template import Book
from crawler.learned_sites import template_rows
from crawler.stores.template_rows import write_templates
from tests import started
from tests.benchmarks.shops import SHOPS, things
from tests.helpers import patient, serving
from tests.pages import cases, judged, same


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    with served(products=400) as running:
        yield running.url


def scrapy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return started.run(
        [sys.executable, "-m", "scrapy", *arguments],
        capture_output=True, text=True, timeout=patient(60), check=False,
    )  # fmt: skip


def product_url(shop: str) -> str:
    listing = json.loads(scrapy("explain", "--json", f"{shop}sitemap.xml").stdout)
    assert listing["kind"] == "other"
    home = json.loads(scrapy("explain", "--json", shop).stdout)
    shelf = next(link["url"] for link in home["links"] if "/c/" in link["url"])
    shown = json.loads(scrapy("explain", "--json", shelf).stdout)
    assert shown["kind"] == "listing"
    return str(next(link["url"] for link in shown["links"] if "/p/" in link["url"]))


def test_pages_are_explained_saved_and_made_a_site_file(shop: str, tmp_path: Path) -> None:
    url = product_url(shop)
    told = json.loads(scrapy("explain", "--json", url).stdout)
    assert told["kind"] == "product"
    assert told["fields"]["name"]
    assert set(told["sources"]) >= {"name", "price"}
    assert told["reasons"]
    template = told["template"]
    assert template["confidence"].keys() >= {"name", "price"}
    assert template["votes"]["price"]
    assert template["doubts"] == {}
    assert template["known"]
    shown = scrapy("explain", url).stdout
    assert "links would be followed" in shown
    assert f"template {template['cluster']}, version 1, learned from 0 pages" in shown
    assert f"{template['confidence']['price']:.0%}" in shown

    saved = scrapy("savepage", url, "--into", str(tmp_path), "--name", "one")
    assert saved.returncode == 0, saved.stderr
    (case,) = cases(tmp_path)
    wrong = {k: v for k, v in judged(case, case.found()).items() if not same(k, *v)}
    assert {name for name in wrong if name != "regular_price"} == set()
    again = scrapy("savepage", url, "--into", str(tmp_path), "--name", "one")
    assert (again.returncode, "exists" in again.stderr) == (1, True)

    made = scrapy("newsite", f"{url.rpartition('/p/')[0]}/c/tents", "--into", str(tmp_path),
                  "--name", "my_shop")  # fmt: skip
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "my_shop.py").read_text()
    compile(text, "my_shop.py", "exec")
    assert "class MyShop(Site)" in text
    assert 'domains = ("127.0.0.1",)' in text
    again = scrapy("newsite", url, "--into", str(tmp_path), "--name", "books")
    assert again.returncode == 1
    assert "a site file has the name 'books' already" in again.stderr
    assert not (tmp_path / "books.py").exists()


@pytest.mark.parametrize(
    ("status", "robots", "looks"),
    [
        (404, "", True),
        (200, "User-agent: *\nDisallow: /p/", False),
        (503, "", False),
        (429, "", False),
    ],
)
def test_a_new_sites_pages_are_asked_for_as_its_robots_txt_allows(
    tmp_path: Path, status: int, robots: str, looks: bool
) -> None:
    """One that could not be read was taken for one that allows all."""
    asked: list[str] = []
    links = "".join(f'<li><a href="/p/lamp-{n}">Lamp {n}</a></li>' for n in range(3))

    class Shop(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            is_robots = self.path == "/robots.txt"
            body = (robots if is_robots else f"<html><ul>{links}</ul></html>").encode()
            self.send_response(status if is_robots else 200)
            self.send_header("Content-Type", "text/plain" if is_robots else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with serving(Shop) as url:
        made = scrapy("newsite", f"{url}/", "--into", str(tmp_path), "--name", "lamps")

    assert made.returncode == 0, made.stderr
    assert asked[:2] == ["/", "/robots.txt"]
    assert any(path.startswith("/p/") for path in asked) == looks
    assert ("robots.txt cannot be read" in made.stderr) == (status in {503, 429})


def test_explain_shows_no_password_of_an_address(tmp_path: Path) -> None:
    saved = tmp_path / "page.html"
    saved.write_text("<a href=/p/1>Lamp</a>", "utf-8")
    for options in ((), ("--json",)):
        done = scrapy("explain", str(saved), "--url", "http://me:hidden@a.example/", *options)
        assert done.returncode == 0, done.stderr
        assert "hidden" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("explain", "http://127.0.0.1:1/x"), "127.0.0.1:1"),
        (("explain", "nofile.html"), "--url"),
        (("explain", __file__, "--url", "htp://a.example/"), "'htp://a.example/' is no http://"),
        (("explain", __file__, "--url", "http://a.example:x/"), "'x' is no port"),
        (("explain", "nofile.html", "--url", "http://a.example/"), "cannot be read"),
        (("newsite", "http://127.0.0.1:1/"), "127.0.0.1:1"),
        (("newsite", "http://127.0.0.1:1/", "--name", "no name"), "cannot name a site"),
    ],
)
def test_what_cannot_be_had_is_one_line(arguments: tuple[str, ...], complaint: str) -> None:
    ended = scrapy(*arguments)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert complaint in ended.stderr


@pytest.mark.postgres
def test_a_page_is_held_against_what_is_stored_of_its_site(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = next(shop for shop in SHOPS if shop.name == "woo")
    goods, book = things(41, 3), Book()
    for thing in goods[:40]:
        book.judge("woo.example", extract(parse(shop.page(thing, True), shop.url(thing))))
    with psycopg2.connect(database) as connection, connection.cursor() as cursor:
        write_templates(cursor, list(template_rows(book, 1, datetime.now(UTC))))
    wrong = shop.page(goods[40], True).replace(f'"price": "{goods[40].price}"', '"price": "1.00"')
    (tmp_path / "page.html").write_text(wrong)
    monkeypatch.setenv("DATABASE_URL", database)
    page = (str(tmp_path / "page.html"), "--url", shop.url(goods[40]))
    template = json.loads(scrapy("explain", "--json", *page).stdout)["template"]
    assert template["pages"] == 40
    assert template["doubts"]["price"]["kind"] == "dispute"
    assert template["confidence"]["price"] <= 0.3 < template["confidence"]["name"]
    shown = scrapy("explain", *page).stdout
    assert "1 template stored for site woo.example" in shown
    assert "price is doubtful (dispute)" in shown
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    template = json.loads(scrapy("explain", "--json", *page).stdout)["template"]
    assert "cannot be read" in template["known"]
