"""Where a page in the browser leads, each site's rules and pause are kept as for its own pages."""

from __future__ import annotations

import shutil
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from typing import ClassVar

import pytest

from tests.acceptance.conftest import Crawl
from tests.acceptance.test_pace import asked_in_browser, seed_lane
from tests.helpers import serving_noted

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
]


class _Leading(BaseHTTPRequestHandler):
    """`/moved` and `/script` lead to the next path, or to another site's."""

    protocol_version = "HTTP/1.1"
    other: ClassVar[str] = ""

    def do_GET(self) -> None:
        _, kind, *rest = self.path.split("/", 2)
        target = "/" + "".join(rest).replace("other/", f"{self.other}/")
        target = target[1:] if self.other and self.other in target else target
        text = f"<html><title>x</title><p>page {self.path}</html>"
        if kind == "script":
            text = text.replace("<p>", f"<script>location = '{target}'</script><p>")
        if kind == "robots.txt":
            text = "User-agent: *\nDisallow: /closed"
        self.send_response(302 if kind == "moved" else 200)
        if kind == "moved":
            self.send_header("Location", target)
        self.send_header("Content-Type", "text/plain" if kind == "robots.txt" else "text/html")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.alone
def test_a_redirect_in_the_browser_keeps_its_sites_pause(crawl: Crawl) -> None:
    """Each followed the other at once, because the browser followed them without asking."""
    delay_s = 1.0
    asked = asked_in_browser(crawl, _Leading, ["/moved/moved/moved/lamp", "/chair"], delay_s)
    times = [at for at, path in asked if path != "/favicon.ico"]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) == 4, asked
    assert min(gaps) > 0.9 * delay_s, gaps
    assert crawl.total("done") == 2, crawl.redis.hgetall(crawl.keys.counters)


@pytest.mark.parametrize("way", ["script", "moved"])
def test_a_page_of_another_site_is_asked_for_by_that_sites_rules(crawl: Crawl, way: str) -> None:
    """It was asked for within the page, whatever its robots.txt said, and without a slot."""
    crawl.workers.settings = {
        **crawl.workers.settings,
        "ROBOTSTXT_OBEY": 1,
        "SEINE_BROWSER": 1,
        "SEINE_PRIVATE_ADDRESSES": "allow",
    }
    with (
        serving_noted(_Leading) as (other, asked),
        serving_noted(type("Here", (_Leading,), {"other": other})) as (site, _),
    ):
        targets = [f"{site}/{way}/other/{path}" for path in ("closed", "open")]
        seed_lane(crawl, "browser", targets)
        crawl.start()
        crawl.wait_for_end(90)
    assert "/open" in {path for _, path in asked}
    assert "/closed" not in {path for _, path in asked}
