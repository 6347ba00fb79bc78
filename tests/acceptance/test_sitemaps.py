"""A shop whose products stand in its sitemaps alone: moved, behind a mark, and without end."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest

from tests.acceptance.test_bad_input import NAMED
from tests.helpers import serving

pytestmark = pytest.mark.acceptance
INDEX = "<sitemapindex><sitemap><loc>{0}/i{1}.xml</loc></sitemap>{2}</sitemapindex>"
PAGES = "<sitemap><loc>{0}/pages.xml</loc></sitemap>"


class Shop(BaseHTTPRequestHandler):
    """Its robots.txt begins with a mark, its sitemap has moved, and its index has no end."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        base, body, kind = f"http://{self.headers['Host']}", "", "text/html"
        if self.path == "/robots.txt":
            body, kind = f"\ufeffSitemap: {base}/sitemap.xml", "text/plain"
        elif self.path.startswith("/i"):
            first = PAGES.format(base) if self.path == "/i0.xml" else ""
            body, kind = INDEX.format(base, int(self.path[2:-4]) + 1, first), "text/xml"
        elif self.path == "/pages.xml":
            body, kind = f"<urlset><url><loc>{base}/p/lamp</loc></url></urlset>", "text/xml"
        elif self.path == "/p/lamp":
            body = NAMED
        elif self.path == "/":
            body = "<title>A shop</title>"
        moved = self.path == "/sitemap.xml"
        self.send_response(301 if moved else 200 if body else 404)
        if moved:
            self.send_header("Location", "/i0.xml")
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_products_behind_a_sitemap_that_moved_are_found_and_an_endless_index_ends(crawl) -> None:
    """I9: its redirect was not followed, and each index led to a further one for ever."""
    Shop.asked = []
    with serving(Shop) as base:
        crawl.seed(f"{base}/")
        worker = crawl.start()
        crawl.wait_for_end()
    assert worker.process.returncode == 0
    assert [row["sku"] for row in crawl.rows()] == ["N-2"]
    assert 5 <= sum(path.startswith("/i") for path in Shop.asked) <= 10
