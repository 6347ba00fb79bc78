"""The plain lane's client does as Scrapy's own does, or better, whatever a site sends."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.integration.access.conftest import Fetch, Fetched
from tests.integration.access.misdeeds import hostile_site
from tests.integration.access.raw import CLOSE, RESET, Step, raw_site

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Twice: b\r\nx-twice: a\r\n"
OK = HEAD + b"Content-Length: 4\r\n\r\npage"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
BIG = b"x" * 300_000
MOVED = b"HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n"

#: What both clients read the same.
SAME: dict[str, list[Step]] = {
    "/ok": [OK],
    "/chunked": [CHUNKED + b"2\r\npa\r\n", 0.05, b"2\r\nge\r\n0\r\n\r\n"],
    "/slow": [OK[:9], 0.05, OK[9:40], 0.05, OK[40:-2], 0.05, OK[-2:]],
    "/until-close": [HEAD + b"\r\npa", 0.05, b"ge", CLOSE],
    "/old": [b"HTTP/1.0 200 OK\nContent-Type: text/html\n\npage", CLOSE],
    "/no-reason": [b"HTTP/1.1 200\r\nContent-Length: 4\r\n\r\npage"],
    "/no-colon": [b"HTTP/1.1 200 OK\r\nhello there\r\nX: y\r\nContent-Length: 4\r\n\r\npage"],
    "/folded": [b"HTTP/1.1 200 OK\r\nX: y\r\n  z\r\nContent-Length: 4\r\n\r\npage"],
    "/continue": [b"HTTP/1.1 100 Continue\r\n\r\n" + OK],
    "/early": [b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 0.05, OK],
    "/empty": [HEAD + b"Content-Length: 0\r\n\r\n"],
    "/none": [b"HTTP/1.1 204 No Content\r\n\r\n"],
    "/moved": [MOVED],
    "/big": [HEAD + b"Content-Length: 300000\r\n\r\n" + BIG],
    "/big-chunk": [CHUNKED + b"493e0\r\n" + BIG + b"\r\n0\r\n\r\n"],
    "/cut": [HEAD + b"Content-Length: 100\r\n\r\npage", CLOSE],
    "/cut-chunk": [CHUNKED + b"9\r\npage", CLOSE],
    "/bad-chunk": [CHUNKED + b"4\r\npage\r\nwhat\r\n", 0.5],
    "/reset": [HEAD + b"Content-Length: 100\r\n\r\npage", 0.2, RESET],
    "/nothing": [CLOSE],
    "/half-head": [b"HTTP/1.1 200 OK\r\nContent-", CLOSE],
    "/garbage": [b"\x00\xffHTTP/9.9 what\r\n\r\n", 0.5],
    "/two-lengths": [HEAD + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\npages", 0.5],
    "/unknown-coding": [HEAD + b"Transfer-Encoding: gzip\r\n\r\npage", 0.5],
    "/silence": [9.0],
    "/stops": [HEAD + b"Content-Length: 9\r\n\r\npage", 9.0],
    "/large": [HEAD + b"Content-Length: 900000\r\n\r\n", 9.0],
    "/endless": [HEAD + b"\r\n", BIG, BIG, 9.0],
}
#: Settings: of the project's client; of Scrapy's own, the only one that can bind an address.
OURS = {"DOWNLOAD_TIMEOUT": 4, "DOWNLOAD_MAXSIZE": 500_000}
SCRAPYS = OURS | {"SEINE_CLIENT": "scrapy"}

#: The other loop that Scrapy may be told to run on; its transports are none of asyncio's classes.
UVLOOP = "uvloop.Loop"


def told(fetched: Fetched) -> list[dict[str, Any]]:
    """What came, without what differs from one time to the next, and reasons in words."""
    answers = []
    for answer in fetched.answers:
        kept = {k: v for k, v in answer.items() if k not in ("meta", "number")}
        if "error" in kept:
            kept["error"] = kept["error"].partition(":")[0]
        if "headers" in kept:
            kept["headers"] = sorted(map(tuple, kept["headers"]))
        answers.append(kept)
    return answers


@pytest.mark.parametrize(("fails", "loop"), [(True, None), (False, None), (True, UVLOOP)])
def test_it_reads_what_scrapys_own_reads(fetch: Fetch, fails: bool, loop: str | None) -> None:
    extra = {"DOWNLOAD_FAIL_ON_DATALOSS": fails}
    with raw_site(SAME) as site:
        requests = [{"url": site.base + path} for path in SAME]
        scrapys = told(fetch(*requests, **SCRAPYS, **extra))
        asked = [request for _, request in site.asked]
        site.asked.clear()
        fetched = fetch(*requests, **OURS, **extra, ASYNCIO_EVENT_LOOP=loop)
    ours = told(fetched)
    assert "Traceback" not in fetched.log
    assert dict(zip(SAME, ours, strict=True)) == dict(zip(SAME, scrapys, strict=True))
    assert {request for _, request in site.asked} == set(asked)


def test_it_asks_as_scrapys_own_asks(fetch: Fetch) -> None:
    with raw_site({"/x?a=1;b": [OK], "/form": [OK], "/head": [OK[:-4]]}) as site:
        requests: list[dict[str, Any]] = [
            {"url": site.base + "/x?a=1;b#there", "headers": {"dnt": "1", "X-A": "b\r\nc: d"}},
            {"url": site.base + "/form", "method": "POST", "body": "a=1&b=2"},
            {"url": site.base + "/form", "method": "POST"},
            {"url": site.base + "/head", "method": "HEAD", "headers": {"Host": "b.example"}},
        ]
        scrapys = told(fetch(*requests, **SCRAPYS))
        asked = sorted(request for _, request in site.asked)
        site.asked.clear()
        assert told(fetch(*requests, **OURS)) == scrapys
        assert sorted(request for _, request in site.asked) == asked


ONE = {"CONCURRENT_REQUESTS": 1}


def test_a_connection_is_used_again(fetch: Fetch) -> None:
    with raw_site({"/a": [OK], "/b": [CHUNKED + b"0\r\n\r\n"], "/c": [MOVED], "/ok": [OK]}) as site:
        fetch(*({"url": site.base + path} for path in ("/a", "/b", "/c", "/a")), **ONE)
        assert site.connections == [0] * 5


LIE = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nlie"


@pytest.mark.parametrize(
    "steps",
    [
        [OK + LIE],
        [OK.replace(b"X-Twice: b", b"Connection: close")],
        [HEAD + b"\r\npage", CLOSE],
    ],
)
def test_a_connection_is_not_used_again(fetch: Fetch, steps: list[Step]) -> None:
    with raw_site({"/a": steps, "/b": [OK]}) as site:
        fetched = fetch({"url": site.base + "/a"}, {"url": site.base + "/b"}, **ONE)
        assert [answer["body"] for answer in fetched.answers] == ["page", "page"]
        assert site.connections == [0, 1]


@pytest.mark.parametrize("loop", [None, UVLOOP])
def test_an_answer_nobody_asked_for_is_no_requests_answer(fetch: Fetch, loop: str | None) -> None:
    told = threading.Barrier(2)
    with (
        raw_site({"/a": [OK, LIE, told], "/b": [OK]}) as site,
        raw_site({"/between": [told, OK]}, host="127.0.0.2") as other,
    ):
        urls = [site.base + "/a", other.base + "/between", site.base + "/b"]
        fetched = fetch(*({"url": url} for url in urls), **ONE, ASYNCIO_EVENT_LOOP=loop)
        assert [answer["body"] for answer in fetched.answers] == ["page"] * 3
        assert site.connections == [0, 1]


@pytest.mark.parametrize("end", [CLOSE, RESET])
def test_a_kept_connection_that_is_closed_is_replaced_once(fetch: Fetch, end: str) -> None:
    with raw_site({"/a": [OK], "/b": [end], "/b+": [OK], "/c": [end]}) as site:
        fetched = fetch(*({"url": site.base + path} for path in ("/a", "/b", "/c")), **ONE)
        assert [answer.get("body") for answer in fetched.answers] == ["page", "page", None]
        assert fetched.answers[2]["error"].startswith("DownloadFailedError")
        assert list(zip(site.paths, site.connections, strict=True)) == [
            ("/a", 0),
            ("/b", 0),
            ("/b", 1),
            ("/c", 1),
            ("/c", 2),
        ]


def test_what_changes_something_is_not_sent_twice(fetch: Fetch) -> None:
    with raw_site({"/a": [OK], "/b": [CLOSE]}) as site:
        post = {"url": site.base + "/b", "method": "POST", "body": "x"}
        fetched = fetch({"url": site.base + "/a"}, post, **ONE)
        assert "error" in fetched.answers[1]
        assert site.paths == ["/a", "/b"]


def test_where_nobody_listens_and_hosts_that_are_none_fail_by_their_names(fetch: Fetch) -> None:
    with raw_site({}) as site:
        pass
    fetched = fetch({"url": site.base + "/"}, {"url": "http://nowhere.invalid/"})
    refused, unknown = (answer["error"].partition(":")[0] for answer in fetched.answers)
    assert (refused, unknown) == ("DownloadConnectionRefusedError", "CannotResolveHostError")


def test_a_host_may_have_a_name_or_a_long_address(fetch: Fetch) -> None:
    with raw_site({"/": [OK]}) as four, raw_site({"/": [OK]}, host="::1") as six:
        named = four.base.replace("127.0.0.1", "localhost")
        fetched = fetch({"url": f"{named}/"}, {"url": f"{six.base}/"})
        assert [answer["ip"] for answer in fetched.answers] == ["127.0.0.1", "::1"]
        assert f"Host: {named.removeprefix('http://')}\r\n".encode() in four.asked[0][1]
        assert f"Host: {six.base.removeprefix('http://')}\r\n".encode() in six.asked[0][1]


@pytest.mark.parametrize("loop", [None, UVLOOP])
def test_tls_reads_what_scrapys_own_reads(
    fetch: Fetch, certificate: tuple[Path, Path], loop: str | None
) -> None:
    with raw_site(SAME, certificate=certificate) as site:
        base = site.base.replace("127.0.0.1", "localhost")
        requests = [{"url": base + path} for path in SAME]
        scrapys = told(fetch(*requests, **SCRAPYS))
        fetched = fetch(*requests, **OURS, ASYNCIO_EVENT_LOOP=loop)
    ours = told(fetched)
    assert "Traceback" not in fetched.log
    assert all(answer.get("certificate", True) for answer in ours)
    assert dict(zip(SAME, ours, strict=True)) == dict(zip(SAME, scrapys, strict=True))


def test_tls_connections_are_used_again(fetch: Fetch, certificate: tuple[Path, Path]) -> None:
    with raw_site({"/a": [OK], "/big": SAME["/big"]}, certificate=certificate) as site:
        fetched = fetch(*({"url": site.base + path} for path in ("/a", "/big", "/a")), **ONE)
        assert [len(answer["body"]) for answer in fetched.answers] == [4, 300_000, 4]
        assert site.connections == [0, 0, 0]


@pytest.mark.parametrize("verify", [True, False])
def test_a_new_connection_resumes_the_tls_session_of_its_own_host_only(
    fetch: Fetch, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, verify: bool
) -> None:
    """A handshake with keys and certificates is most of what a new connection costs."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    answers: dict[str, list[Step]] = {"/a": [OK, CLOSE]}
    with (
        raw_site(answers, certificate=certificate) as site,
        raw_site(answers, certificate=certificate) as other,
    ):
        named = [x.base.replace("127.0.0.1", "localhost") for x in (site, site, other, site)]
        settings = ONE | {"DOWNLOAD_VERIFY_CERTIFICATES": verify}
        fetched = fetch(*({"url": f"{base}/a"} for base in named), **settings)
        assert [answer.get("body") for answer in fetched.answers] == ["page"] * 4
        assert all(answer["certificate"] for answer in fetched.answers)
        assert site.resumed == [False, True, True]
        assert other.resumed == [False]


def test_a_server_that_forgot_the_tls_session_is_greeted_anew(
    fetch: Fetch, certificate: tuple[Path, Path]
) -> None:
    """Each connection has a context of its own there, which cannot read another's tickets."""
    answers: dict[str, list[Step]] = {"/a": [OK, CLOSE]}
    with raw_site(answers, certificate=certificate, forgets=True) as site:
        fetched = fetch(*({"url": f"{site.base}/a"} for _ in range(3)), **ONE)
        assert [answer.get("body") for answer in fetched.answers] == ["page"] * 3
        assert site.resumed == [False] * 3


def test_tls_sends_a_large_body(fetch: Fetch, certificate: tuple[Path, Path]) -> None:
    with raw_site({"/form": [OK]}, certificate=certificate) as site:
        post = {"url": site.base + "/form", "method": "POST", "body": "x" * 1_000_000}
        assert fetch(post).answers[0]["body"] == "page"
        assert site.asked[0][1].endswith(b"\r\n\r\n" + b"x" * 1_000_000)


def test_a_certificate_is_verified_where_it_is_asked(
    fetch: Fetch, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_site({"/": [OK]}, certificate=certificate) as site:
        named, wrong = site.base.replace("127.0.0.1", "localhost"), site.base
        verify = {"DOWNLOAD_VERIFY_CERTIFICATES": True}
        unsigned = fetch({"url": f"{named}/"}, **verify)
        assert unsigned.answers[0]["error"].startswith("DownloadFailedError")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        trusted = fetch({"url": f"{named}/"}, {"url": f"{wrong}/"}, **verify)
        assert trusted.answers[0]["body"] == "page"
        assert trusted.answers[1]["error"].startswith("DownloadFailedError")


def test_plain_http_where_tls_is_expected_fails(fetch: Fetch) -> None:
    with hostile_site() as (base, _):
        fetched = fetch({"url": base.replace("http:", "https:") + "/"}, DOWNLOAD_TIMEOUT=5)
        assert fetched.answers[0]["error"].startswith("DownloadFailedError")


STOPS = {"tests.integration.access.stops.Stops": 1}


@pytest.mark.parametrize("settings", [OURS, SCRAPYS])
def test_a_receiver_of_signals_stops_a_download(fetch: Fetch, settings: dict[str, Any]) -> None:
    endless: list[Step] = [HEAD + b"\r\npage", 20.0]
    paths = ["/stop-head", "/stop-body", "/stop-head-fail", "/stop-body-fail", "/ok"]
    with raw_site(dict.fromkeys(paths, endless) | {"/ok": [OK]}) as site:
        requests = [{"url": site.base + path} for path in paths]
        head, body, head_fails, body_fails, ok = fetch(
            *requests, EXTENSIONS=STOPS, **settings
        ).answers
    assert (head["body"], head["flags"]) == ("", ["download_stopped"])
    assert (body["body"], body["flags"]) == ("page", ["download_stopped"])
    assert head_fails["error"].startswith("StopDownload")
    assert body_fails["error"].startswith("StopDownload")
    assert (ok["body"], ok["flags"]) == ("page", [])


def test_a_request_has_limits_of_its_own(fetch: Fetch) -> None:
    with raw_site({"/big": SAME["/big"], "/silence": [9.0], "/cut": SAME["/cut"]}) as site:
        big, warned, silent, cut = (
            {"url": site.base + path, "meta": meta}
            for path, meta in (
                ("/big", {"download_maxsize": 1000}),
                ("/big", {"download_warnsize": 1000}),
                ("/silence", {"download_timeout": 0.3}),
                ("/cut", {"download_fail_on_dataloss": False}),
            )
        )
        fetched = fetch(big, warned, silent, cut)
    assert fetched.answers[0]["error"].startswith("DownloadCancelledError")
    assert len(fetched.answers[1]["body"]) == len(BIG)
    assert fetched.log.count("larger than download warn size (1000)") == 1
    assert fetched.answers[2]["error"].startswith("DownloadTimeoutError")
    assert (fetched.answers[3]["body"], fetched.answers[3]["flags"]) == ("page", ["dataloss"])


def test_the_latency_ends_with_the_head(fetch: Fetch) -> None:
    with raw_site({"/": [0.2, HEAD + b"Content-Length: 4\r\n\r\n", 4.0, b"page"]}) as site:
        (answer,) = fetch({"url": f"{site.base}/"}).answers
    assert 0.2 <= answer["meta"]["download_latency"] < 4.0
