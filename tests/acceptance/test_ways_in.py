"""Shops into which no link of a page leads: sitemaps of usual names, the header's next page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.acceptance.conftest import said
from tests.helpers import serving

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
PRODUCTS, PER_PAGE = 12, 4


def product(number: int) -> str:
    return (
        f"<html lang=en><title>Lamp {number}</title><h1>Lamp No. {number}</h1><p class=price>"
        f"£{number + 10}.50</p><form method=post action=/cart><button>Add to basket</button></form>"
    )


@contextmanager
def shop(
    front: str, *, sitemap: str = "", header: bool = False, other_host: str = ""
) -> Iterator[str]:
    """A shop whose listing says in the header alone where it goes on, or with a sitemap.

    The sitemap names the pages on *other_host*, if any.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address, base = urlsplit(self.path), f"http://{self.headers['Host']}"
            next_page, body = 0, ""
            if address.path == "/":
                body = front
            elif address.path.startswith("/product/"):
                body = product(int(address.path.rpartition("-")[2]))
            elif address.path == "/c/all":
                page = int(parse_qs(address.query).get("page", ["1"])[0])
                first = (page - 1) * PER_PAGE
                body = "<html lang=en>" + "".join(
                    f'<a href="/product/lamp-{n}"><img src="/{n}.jpg">Lamp</a>'
                    for n in range(first, min(first + PER_PAGE, PRODUCTS))
                )
                next_page = page + 1 if first + PER_PAGE < PRODUCTS else 0
            elif address.path == sitemap:
                urls = "".join(
                    f"<url><loc>{other_host or base}/product/lamp-{n}</loc></url>"
                    for n in range(PRODUCTS)
                )
                body = f"<urlset>{urls}</urlset>"
            self.send_response(200 if body else 404)
            if next_page and header:
                self.send_header("Link", '</feed>; rel="alternate"')
                self.send_header("Link", f'</c/all?page={next_page}>; rel="next"')
            self.send_header("Content-Type", "text/html" if "<html" in body else "application/xml")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(Handler) as base:
        yield base


EMPTY = "<html lang=en><title>App</title><div id=root></div><script src=/main.js></script></html>"


@pytest.mark.parametrize("name", ["/sitemap.xml", "/sitemap_index.xml", "/wp-sitemap.xml"])
def test_a_front_page_without_links_is_left_for_a_sitemap_that_nobody_names(crawl, name):
    with shop(EMPTY, sitemap=name) as url:
        crawl.seed(f"{url}/")
        crawl.start()
        crawl.wait_for_end(60)
    assert crawl.query("SELECT count(*) FROM products") == [(PRODUCTS,)]


def test_the_next_page_may_stand_in_a_header_alone(crawl):
    with shop('<html lang=en><a href="/c/all">Shop</a></html>', header=True) as url:
        crawl.seed(f"{url}/")
        crawl.start()
        crawl.wait_for_end(60)
    assert crawl.query("SELECT count(*) FROM products") == [(PRODUCTS,)]


@pytest.mark.parametrize(("linked", "found"), [(3, PRODUCTS), (1, 1)])
def test_a_sitemap_of_another_host_is_the_shop_s_if_pages_lead_to_some_of_it(crawl, linked, found):
    """A moved shop's sitemap listed all products below its old name, which no line said."""
    links = "".join(f'<a href="/product/lamp-{n}">Lamp {n}</a>' for n in range(linked))
    with shop(
        f"<html lang=en>{links}</html>", sitemap="/sitemap.xml", other_host="http://old.example"
    ) as url:
        crawl.seed(f"{url}/")
        worker = crawl.start()
        crawl.wait_for_end(60)
    assert crawl.query("SELECT count(*) FROM products") == [(found,)]
    is_said = "its 12 pages are left out, because they are another site's" in said(worker)
    assert is_said is (found < PRODUCTS)
