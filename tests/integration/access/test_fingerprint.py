"""The TLS lane looks like the browser it names; Scrapy's own client does not."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.access.identities import profiles
from tests.helpers import patient
from tests.integration.access.conftest import Fetch
from tests.integration.access.tls import Hello, serve_tls

CHROMIUM = shutil.which("chromium")


@pytest.fixture
def server(certificate: tuple[Path, Path]) -> Iterator[tuple[str, list[Hello]]]:
    with serve_tls(*certificate) as (port, seen):
        yield f"https://localhost:{port}/", seen


def hello_of(fetch: Fetch, server: tuple[str, list[Hello]], **settings: object) -> Hello:
    url, seen = server
    meta = {"lane": "plain"} if not settings else {"lane": "tls"}
    fetched = fetch({"url": url, "meta": meta}, DOWNLOAD_VERIFY_CERTIFICATES=False, **settings)
    assert fetched.answers[0].get("status") == 200, (fetched.answers, fetched.log[-3000:])
    return seen[-1]


def greased(values: list[int]) -> bool:
    """Only browsers of Chromium's family and Safari's send values that mean nothing."""
    return any(value & 0x0F0F == 0x0A0A for value in values)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_chromes_lane_says_what_a_real_chromium_says(
    fetch: Fetch, server: tuple[str, list[Hello]], tmp_path: Path
) -> None:
    url, seen = server
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--ignore-certificate-errors"]
    command += [f"--user-data-dir={tmp_path}", "--dump-dom", url]
    subprocess.run(command, capture_output=True, timeout=patient(60), check=False)
    real = next(hello for hello in seen if hello.http2)
    lane = hello_of(fetch, server, SEINE_IDENTITY="chrome-windows")
    assert lane.ja4 == real.ja4
    assert (lane.http2, lane.window) == (real.http2, real.window)


def test_chromes_lane_is_chrome(fetch: Fetch, server: tuple[str, list[Hello]]) -> None:
    hello = hello_of(fetch, server, SEINE_IDENTITY="chrome-windows")
    assert hello.ja4.startswith("t13d15")
    assert hello.ja4.split("_")[1] == "8daaf6152771"
    # X25519MLKEM768, X25519, P-256 and P-384, after a value that means nothing.
    assert greased(hello.groups[:1])
    assert hello.groups[1:] == [4588, 29, 23, 24]
    assert greased(hello.ciphers)
    assert hello.http2 == {1: 65536, 2: 0, 4: 6291456, 6: 262144}
    assert hello.window == 15663105


def test_firefoxes_lane_is_firefox(fetch: Fetch, server: tuple[str, list[Hello]]) -> None:
    hello = hello_of(fetch, server, SEINE_IDENTITY="firefox-linux")
    assert not greased(hello.ciphers + hello.groups)
    # Firefox alone offers finite fields, and limits the size of records (extension 28).
    assert hello.groups[-2:] == [256, 257]
    assert 28 in hello.extensions
    assert hello.http2 == {1: 65536, 2: 0, 4: 131072, 5: 16384}
    assert hello.window == 12517377


def test_each_browsers_lane_differs_from_scrapys_own(
    fetch: Fetch, server: tuple[str, list[Hello]]
) -> None:
    plain = hello_of(fetch, server)
    assert plain.alpn in ([], ["http/1.1"])
    assert not greased(plain.ciphers)
    shown = {}
    for browser in ("chrome", "edge", "firefox", "safari"):
        name = next(p.name for p in profiles().values() if p.browser == browser)
        hello = hello_of(fetch, server, SEINE_IDENTITY=name)
        assert hello.alpn[0] == "h2"
        shown[browser] = hello
        assert hello.ja4 != plain.ja4
    assert len({hello.ja4 for hello in shown.values()}) == len(shown)
    # Edge is built on Chromium.
    assert shown["edge"].ja4.split("_")[1] == shown["chrome"].ja4.split("_")[1]
    assert shown["edge"].http2 == shown["chrome"].http2


def test_chromes_ja3_changes_with_each_connection_and_its_ja4_does_not(
    fetch: Fetch, server: tuple[str, list[Hello]]
) -> None:
    hellos = [hello_of(fetch, server, SEINE_IDENTITY="chrome-windows") for _ in range(2)]
    assert len({h.ja3 for h in hellos}) == 2
    assert len({h.ja4 for h in hellos}) == 1
