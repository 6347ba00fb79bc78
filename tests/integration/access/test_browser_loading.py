"""When a page in the browser is loaded: also one that leads nowhere, waits, or lacks its rest."""

from __future__ import annotations

import shutil

import pytest

from crawler.access.browser_programs import NAMES
from tests.integration.access.conftest import Fetch
from tests.integration.access.raw import Step, raw_site
from tests.integration.access.test_browser import BROWSER, HEAD, leading

pytestmark = pytest.mark.browser
LAMP = "<h1>Lamp</h1>"
FILE = b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 4\r\n\r\nfile"
#: Nobody answers that long.
NEVER = 600.0


@pytest.fixture(params=list(NAMES))
def browser(request: pytest.FixtureRequest) -> str:
    """Each kind of browser that is installed."""
    kind = str(request.param)
    if not any(map(shutil.which, NAMES[kind])):
        pytest.skip(f"{kind} is not installed")
    return kind


def read(
    fetch: Fetch, browser: str, answers: dict[str, list[Step]], *paths: str
) -> tuple[list[dict[str, object]], list[str]]:
    """Return what pages were read as, and which paths were asked for."""
    with raw_site(answers) as site:
        found = fetch(
            *({"url": site.base + path, "meta": {"lane": "browser"}} for path in paths),
            **BROWSER,
            PLAYWRIGHT_BROWSER_TYPE=browser,
            SEINE_BROWSER_SECONDS=45,
            HTTPERROR_ALLOW_ALL=True,
            timeout_s=120,
        ).answers
        return found, site.paths


def test_a_page_that_tries_to_lead_elsewhere_and_stays_is_read(fetch: Fetch, browser: str) -> None:
    """The browser never says that it is loaded, so that it was a timeout each time."""
    answers: dict[str, list[Step]] = {
        "/nothing": [b"HTTP/1.1 204 No Content\r\n\r\n"],
        "/file": [FILE],
        **{
            f"/to{number}": [*leading(f"{LAMP}<script>location = '{target}'</script>")]
            for number, target in enumerate(("/nothing", "/file", "mailto:shop@shop.example"))
        },
    }
    found, _ = read(fetch, browser, answers, "/to0", "/to1", "/to2")
    assert [answer.get("status") for answer in found] == [200] * 3, found
    assert all(LAMP in str(answer["body"]) for answer in found)


def test_a_page_is_read_although_one_of_its_frames_never_answers(
    fetch: Fetch, browser: str
) -> None:
    """A frame of somebody else made each page of the shop a timeout."""
    answers: dict[str, list[Step]] = {
        "/": [*leading(f"{LAMP}<iframe src=/never></iframe>")],
        "/never": [NEVER],
    }
    (answer,), _ = read(fetch, browser, answers, "/")
    assert LAMP in str(answer.get("body")), answer


def test_a_page_is_not_read_before_the_data_that_it_asks_its_site_for(
    fetch: Fetch, browser: str
) -> None:
    """After five seconds the page without its product counted as read."""
    script = "fetch('/data').then(r => r.text()).then(t => document.body.innerHTML = t)"
    answers: dict[str, list[Step]] = {
        "/": [*leading(f"<p>Loading</p><script>{script}</script>")],
        "/data": [8.0, HEAD % (b"200 OK", len(LAMP)) + LAMP.encode()],
    }
    (answer,), _ = read(fetch, browser, answers, "/")
    assert f"<body>{LAMP}" in str(answer.get("body")), answer


def test_a_challenge_that_takes_some_seconds_is_waited_for(fetch: Fetch, browser: str) -> None:
    """It was read before it had let its reader in."""
    page = b"<title>x</title><script>setTimeout(() => location = '/in', 3000)</script>"
    answers: dict[str, list[Step]] = {
        "/": [HEAD % (b"403 Forbidden", len(page)) + page],
        "/in": [*leading(LAMP)],
    }
    (answer,), _ = read(fetch, browser, answers, "/")
    assert answer.get("status") == 200, answer


def test_half_a_page_fails_when_its_connection_ends(fetch: Fetch, browser: str) -> None:
    """Chromium never says that it is loaded, so that it held its worker until the limit."""
    answers: dict[str, list[Step]] = {"/": [HEAD % (b"200 OK", 900) + LAMP.encode(), "close"]}
    (answer,), _ = read(fetch, browser, answers, "/")
    assert str(answer.get("error")).startswith("DownloadFailedError"), answer


def test_a_frame_that_loads_itself_again_is_stopped(fetch: Fetch, browser: str) -> None:
    """It asked its site until the page was read."""
    answers: dict[str, list[Step]] = {
        "/": [*leading(f"{LAMP}<iframe src=/again></iframe>")],
        "/again": [*leading("<script>setTimeout(() => location.reload(), 20)</script>")],
    }
    (answer,), asked = read(fetch, browser, answers, "/")
    assert LAMP in str(answer.get("body")), answer
    assert 2 <= asked.count("/again") <= 6


def test_a_page_that_is_too_large_and_says_no_length_has_failed(fetch: Fetch, browser: str) -> None:
    """What was cut off counted as a whole page."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    with raw_site({"/": [head, b"<p>Lamp " * 500_000, "close"]}) as site:
        answer = fetch(
            {"url": f"{site.base}/", "meta": {"lane": "browser"}},
            **BROWSER,
            PLAYWRIGHT_BROWSER_TYPE=browser,
            DOWNLOAD_MAXSIZE=1_000_000,
        ).answers[0]
    assert str(answer.get("error")).startswith("DownloadCancelledError"), answer
