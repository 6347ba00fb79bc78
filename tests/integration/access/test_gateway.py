"""A gateway of the form ?api_key=…&url=…: what it is asked, and that its key is nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.helpers import serving
from tests.integration.access.conftest import Fetch

pytestmark = pytest.mark.redis
Gateway = tuple[str, list[tuple[str, dict[str, str]]]]
KEY = "s3cret-key"
#: Nobody answers there: whoever asks the site itself fails.
PAGE = "http://192.0.2.1/p/1?a=b&c=%C3%A4"


@pytest.fixture
def stores(redis_url: str, namespace: str) -> dict[str, str]:
    """Settings: where proxies are remembered."""
    return {"REDIS_URL": redis_url, "SEINE_FLEET": namespace}


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """A gateway, and what it was asked: request line and headers."""
    asked: list[tuple[str, dict[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append((f"{self.command} {self.path}", dict(self.headers)))
            if "/hangup" in self.path:
                self.close_connection = True
                return
            body = b"<title>Kettle</title><p>A sturdy kettle, 19.90 EUR.</p>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815  # http.server's name

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(Handler) as base:
        yield f"{base}/v1?api_key={KEY}&url={{url}}", asked


@pytest.mark.parametrize("lane", ["plain", "tls"])
def test_a_page_comes_through_it_and_stays_its_sites(
    fetch: Fetch,
    gateway: Gateway,
    stores: dict[str, str],
    lane: str,
) -> None:
    line, asked = gateway
    requests = [{"url": PAGE, "meta": {"lane": lane}}] * 2
    got = fetch(*requests, SEINE_PROXIES=line, **stores)
    assert [a["status"] for a in got.answers] == [200, 200], got.log
    assert "sturdy kettle" in got.answers[0]["body"]
    for line_, headers in asked:
        target = urlsplit(line_.split(" ")[1])
        assert (target.path, parse_qs(target.query)) == ("/v1", {"api_key": [KEY], "url": [PAGE]})
        assert headers["Host"].startswith("127.0.0.1:")
    assert KEY not in got.log
    assert f"(200) <GET {PAGE}>" in got.log


@pytest.mark.parametrize(
    ("page", "settings", "says"),
    [
        ("http://192.0.2.1/hangup", {}, ""),
        ("http://192.0.2.1/", {"DOWNLOAD_WARNSIZE": 20}, ""),
        ("http://192.0.2.1/", {"SEINE_CLIENT": "scrapy"}, "is asked by SEINE_CLIENT=seine alone"),
        ("http://192.0.2.1/", {"DOWNLOAD_BIND_ADDRESS": "127.0.0.1"}, "SEINE_CLIENT=seine alone"),
        ("http://127.0.0.1:9/", {"SEINE_PRIVATE_ADDRESSES": "deny"}, "is at a private address"),
    ],
)
def test_no_failure_tells_the_key_or_asks_the_site_itself(  # noqa: PLR0917
    fetch: Fetch,
    gateway: Gateway,
    stores: dict[str, str],
    page: str,
    settings: dict[str, object],
    says: str,
) -> None:
    more = {"RETRY_ENABLED": False, "ROTATING_PROXY_PAGE_RETRY_TIMES": 0, **settings}
    got = fetch({"url": page}, SEINE_PROXIES=gateway[0], **stores, **more)
    assert KEY not in got.log + str(got.answers)
    assert bool(gateway[1]) == (not says)
    assert says in str(got.answers[0].get("error"))
