"""I9: whatever a site writes, no worker asks a private address that no seed named."""

from __future__ import annotations

import json
from urllib.parse import urlparse

import pytest

from tests.integration.access.raw import raw_site

pytestmark = pytest.mark.acceptance
PAGE = [b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage"]


def answer(kind: str, text: str) -> list[bytes]:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n"
    return [(head + text).encode()]


def moved(to: str) -> list[bytes]:
    return [f"HTTP/1.1 302 x\r\nContent-Length: 0\r\nLocation: {to}\r\n\r\n".encode()]


def test_redirects_sitemaps_and_robots_lead_to_no_private_address(crawl):
    paths = ("/map.xml", "/robots.txt", "/secret", "/nested.xml")
    with raw_site(dict.fromkeys(paths, PAGE), host="127.0.0.1") as inner:
        port = urlparse(inner.base).port
        inners = [
            inner.base,
            f"http://localhost:{port}",
            f"http://0.0.0.0:{port}",
            f"http://[::ffff:127.0.0.1]:{port}",
            f"http://127.1:{port}",
        ]
        lines = "".join(f"Sitemap: {base}/map.xml\n" for base in inners)
        nested = "".join(f"<sitemap><loc>{base}/nested.xml</loc></sitemap>" for base in inners)
        links = "".join(f'<a href="/away/{n}">x</a>' for n in range(len(inners)))
        front = f'<html><meta charset="utf-8"><body>{links}<a href="/refresh">y</a></body></html>'
        refresh = f'<meta http-equiv="refresh" content="0;url={inner.base}/secret">'
        pages = {
            "/": answer("text/html", front),
            "/robots.txt": answer("text/plain", f"{lines}Sitemap: /map.xml\n"),
            "/map.xml": answer("text/xml", f"<sitemapindex>{nested}</sitemapindex>"),
            "/refresh": answer("text/html", refresh),
            **{f"/away/{n}": moved(f"{base}/secret") for n, base in enumerate(inners)},
        }
        with raw_site(pages, host="127.0.0.2") as outer:
            crawl.seed(f"{outer.base}/")
            worker = crawl.start()
            crawl.wait_for_end()
        asked = set(outer.paths)
    assert inner.asked == []
    assert worker.process.returncode == 0
    assert {"/map.xml", "/refresh", *(f"/away/{n}" for n in range(len(inners)))} <= asked
    notes = [json.loads(note) for note in crawl.redis.hgetall(crawl.keys.autopsy).values()]
    assert {note["reason"] for note in notes} == {"address"}
    assert len(notes) >= 2 * len(inners)


def test_a_seeds_host_that_was_public_to_one_worker_is_not_private_to_the_next(crawl):
    """Whoever owns a name may give each worker another address."""
    with raw_site({"/": PAGE, "/next": PAGE, "/robots.txt": PAGE}) as site:
        base = site.base.replace("127.0.0.1", "localhost")
        crawl.workers.settings = {**crawl.workers.settings, "SEINE_PUBLIC_NETWORKS": "127.0.0.1/32"}
        crawl.seed(f"{base}/")
        crawl.start()
        crawl.wait_for_end()
        crawl.workers.settings = {**crawl.workers.settings, "SEINE_PUBLIC_NETWORKS": ""}
        crawl.seed(f"{base}/next")
        crawl.start()
        crawl.wait_for_end()
        assert site.paths == ["/robots.txt", "/"]
    notes = [json.loads(note) for note in crawl.redis.hgetall(crawl.keys.autopsy).values()]
    assert [note["reason"] for note in notes] == ["address"]
