"""The browser lane renders, keeps its memory and its temper, and shares the process."""

from __future__ import annotations

import shutil

import pytest

from crawler.access.browser_programs import NAMES
from crawler.demo.forward_proxies import Forward, forwarders
from crawler.demo.shop_process import served
from tests.integration.access.conftest import Fetch
from tests.integration.access.raw import raw_site

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
]
BROWSER = {"SEINE_BROWSER": True}
#: The proxies of these tests are seeds' own, on this machine.
ANY = {"SEINE_PRIVATE_ADDRESSES": "allow"}


def test_a_page_made_by_javascript_is_seen_as_a_reader_sees_it(fetch: Fetch) -> None:
    with served(products=5, guard=["script"]) as shop:
        plain, rendered = fetch(
            {"url": shop.url, "meta": {"lane": "plain"}},
            {"url": shop.url, "meta": {"lane": "browser"}},
            **BROWSER,
        ).answers
    assert plain["meta"]["verdict_rule"] == "javascript-shell"
    assert rendered["meta"]["page_verdict"] == "ok"
    assert 'href="/' in rendered["body"]


def test_all_lanes_work_side_by_side_in_one_process(fetch: Fetch) -> None:
    with served(products=5) as shop:
        fetched = fetch(
            *({"url": shop.url, "meta": {"lane": lane}} for lane in ("plain", "tls", "browser")),
            **BROWSER,
        )
    assert [a["status"] for a in fetched.answers] == [200, 200, 200]
    assert fetched.log.count("Starting download handler") <= 1
    # Our choice of a client, and that no Referer is written, is nobody's worry.
    assert "experimental" not in fetched.log
    assert "Referer header" not in fetched.log


def test_a_worker_without_a_browser_says_so(fetch: Fetch) -> None:
    answer = fetch({"url": "http://127.0.0.1:9/", "meta": {"lane": "browser"}}).answers[0]
    assert "no 'browser' lane" in answer["error"]


@pytest.mark.parametrize(("host", "is_said"), [("browser.invalid", True), ("localhost", False)])
def test_a_browser_on_another_machine_without_a_way_to_the_guard_is_said_at_the_start(
    fetch: Fetch, host: str, is_said: bool
) -> None:
    """Each page was a dead letter, whose error named a proxy that nobody had set."""
    with served(products=5) as shop:
        settings = {**BROWSER, "PLAYWRIGHT_CDP_URL": f"http://{host}:9"}
        log = fetch({"url": shop.url, "meta": {"lane": "plain"}}, **settings).log
        assert ("guard of private addresses cannot be reached" in log) == is_said
        log = fetch({"url": shop.url, "meta": {"lane": "plain"}}, **settings, **ANY).log
        assert "guard of private addresses" not in log


def test_the_robot_keeps_its_name_and_a_browser_has_no_odd_one(
    fetch: Fetch, agents: tuple[str, list[str]]
) -> None:
    url, seen = agents
    fetch({"url": url, "meta": {"lane": "browser"}}, **BROWSER)
    assert seen[-1].startswith("Seine (")
    fetch(
        {"url": url, "meta": {"lane": "browser", "identity": "browser"}},
        **BROWSER,
        SEINE_IDENTITY="browser",
    )
    assert " Chrome/" in seen[-1]
    assert "Headless" not in seen[-1]


def test_the_browser_leaves_through_the_requests_proxy(fetch: Fetch) -> None:
    way = Forward("http", "127.0.0.51", user="me", secret="p@ss")
    with served(products=5) as shop, forwarders(way):
        login = way.url.replace("p@ss", "p%40ss")
        answer = fetch(
            {"url": shop.url, "meta": {"lane": "browser", "proxy": login}}, **BROWSER, **ANY
        ).answers[0]
    assert answer.get("status") == 200, answer
    assert way.connections > 0


def test_a_page_that_never_answers_is_a_timeout_and_the_next_one_is_rendered(
    fetch: Fetch,
) -> None:
    with served(products=5, latency_ms=600_000) as slow, served(products=5) as shop:
        fetched = fetch(
            {"url": slow.url, "meta": {"lane": "browser"}},
            {"url": shop.url, "meta": {"lane": "browser"}},
            **BROWSER,
            # The limit counts for the good page, too, and for the start of its browser.
            SEINE_BROWSER_SECONDS=30,
            SEINE_BROWSER_PAGES=1,
        )
    assert "DownloadTimeoutError" in fetched.answers[0]["error"]
    assert fetched.answers[1].get("status") == 200, fetched.answers[1]


HEAD = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
#: A page, a missing one, and one without an answer; each is where other pages lead.
TARGETS: dict[str, list[bytes | str]] = {
    "/lamp": [HEAD % (b"200 OK", 13) + b"<h1>Lamp</h1>"],
    "/gone": [HEAD % (b"404 Not Found", 7) + b"missing"],
    "/dead": ["close"],
}


def leading(element: str) -> list[bytes]:
    """Return the answer of a page that has one element."""
    page = f"<title>x</title>{element}".encode()
    return [HEAD % (b"200 OK", len(page)) + page]


@pytest.mark.parametrize("browser", list(NAMES))
def test_a_page_that_leads_elsewhere_has_the_status_and_text_from_there(
    fetch: Fetch, browser: str
) -> None:
    """It had status 200 wherever it led, and one that led on at once failed each time."""
    if not any(map(shutil.which, NAMES[browser])):
        pytest.skip(f"{browser} is not installed")
    pages = {
        "/to/gone": leading("<script>location = '/gone'</script>"),
        "/to/lamp": leading("<script>location = '/lamp'</script>"),
        "/refresh": leading("<meta http-equiv=refresh content='0; url=/lamp'>"),
    }
    with raw_site({**TARGETS, **pages}) as site:
        answers = fetch(
            *({"url": site.base + path, "meta": {"lane": "browser"}} for path in pages),
            **BROWSER,
            PLAYWRIGHT_BROWSER_TYPE=browser,
            HTTPERROR_ALLOW_ALL=True,
        ).answers
    assert [answer.get("status") for answer in answers] == [404, 200, 200], answers
    assert all("Lamp" in answer["body"] for answer in answers[1:])


def test_a_page_that_leads_to_no_answer_has_failed(fetch: Fetch) -> None:
    """The browser's page about the error was taken for the site's, with status 200."""
    page = leading("<script>setTimeout(() => location = '/dead', 100)</script>")
    with raw_site({**TARGETS, "/to/dead": page}) as site:
        url = f"{site.base}/to/dead"
        answer = fetch({"url": url, "meta": {"lane": "browser"}}, **BROWSER).answers[0]
    assert answer.get("error", "").startswith("DownloadFailedError"), answer


def test_neither_a_service_worker_nor_an_opened_page_acts_for_a_page(fetch: Fetch) -> None:
    """A worker answered the site's later pages itself; opened pages asked the site at once."""
    script = (
        b"addEventListener('install', () => skipWaiting());"
        b"addEventListener('activate', e => e.waitUntil(clients.claim()));"
        b"addEventListener('fetch', e => e.respondWith(new Response('<p>from the worker')))"
    )
    javascript = HEAD.replace(b"html", b"javascript") % (b"200 OK", len(script)) + script
    answers = {
        "/first": leading(
            "<script>open('/opened'); navigator.serviceWorker.register('/worker.js')"
            ".then(() => navigator.serviceWorker.ready)</script>"
        ),
        "/worker.js": [javascript],
        "/opened": leading("<p>opened"),
        "/second": leading("<p>from the site"),
    }
    with raw_site(answers) as site:
        _, second = fetch(
            *(
                {"url": site.base + path, "meta": {"lane": "browser"}}
                for path in ("/first", "/second")
            ),
            **BROWSER,
            CONCURRENT_REQUESTS=1,
        ).answers
        assert "/opened" not in site.paths
    assert "from the site" in second.get("body", ""), second


def test_a_file_that_is_too_large_is_not_saved_to_its_end(fetch: Fetch) -> None:
    """A file without an end filled the disk with 2 GB in a quarter of a minute."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n\r\n"
    with raw_site({"/file.zip": [head, b"x" * 4_000_000, "close"]}) as site:
        answer = fetch(
            {"url": f"{site.base}/file.zip", "meta": {"lane": "browser"}},
            **BROWSER,
            DOWNLOAD_MAXSIZE=1_000_000,
        ).answers[0]
    assert answer.get("error", "").startswith("DownloadCancelledError"), answer


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
@pytest.mark.parametrize("lane", ["tls", "browser"])
def test_a_page_that_ends_with_its_connection_is_whole_if_it_has_an_end(
    fetch: Fetch, lane: str, version: bytes
) -> None:
    """Half of a page was read as all of it, because only the plain lane looked at its end."""
    head = b"HTTP/%s 200 OK\r\nContent-Type: text/html\r\n\r\n" % version
    half = b"<html><body><h1>Lamp</h1><p>A sturdy lamp.</p>"
    answers = {"/half": [head + half, "close"], "/whole": [head + half + b"</body>", "close"]}
    with raw_site(answers) as site:
        cut, whole = fetch(
            *({"url": site.base + path, "meta": {"lane": lane}} for path in answers), **BROWSER
        ).answers
    assert cut["meta"]["verdict_rule"] == "truncated", cut
    assert whole["meta"]["page_verdict"] == "ok", whole


def test_contexts_are_recycled(fetch: Fetch) -> None:
    with served(products=30) as shop:
        fetched = fetch(
            *({"url": f"{shop.url}?n={n}", "meta": {"lane": "browser"}} for n in range(12)),
            **BROWSER,
            SEINE_BROWSER_RECYCLE_PAGES=3,
            SEINE_BROWSER_CONTEXTS=2,
            SEINE_BROWSER_RESTART_PAGES=6,
        )
    assert [a["status"] for a in fetched.answers] == [200] * 12
    assert "'browser/contexts_closed': " in fetched.log
    assert "'playwright/context_count/max_concurrent': 2" in fetched.log or (
        "'playwright/context_count/max_concurrent': 1" in fetched.log
    )


def test_a_socks_proxy_with_a_password_is_named_with_what_to_do(fetch: Fetch) -> None:
    proxy = "socks5://me:hunter2@127.0.0.1:9"
    fetched = fetch(
        {"url": "http://127.0.0.1:9/", "meta": {"lane": "browser", "proxy": proxy}},
        **BROWSER,
        **ANY,
    )
    assert "cannot log in to the SOCKS proxy 127.0.0.1:9: list it as http://" in fetched.log
    assert "NotSupported" in fetched.answers[0]["error"]
    assert "hunter2" not in fetched.log


def test_a_text_waits_for_no_element_and_the_usual_limit_is_not_the_browsers(
    fetch: Fetch,
) -> None:
    with served(products=5, latency_ms=1500) as shop:
        (answer,) = fetch(
            {"url": f"{shop.url}robots.txt", "meta": {"lane": "browser"}},
            **BROWSER,
            SEINE_RENDER={"wait_for": "h1", "wait_s": 30},
            SEINE_BROWSER_SECONDS=20,
            DOWNLOAD_TIMEOUT=1,
        ).answers
    assert answer.get("status") == 200, answer
