"""An answer that cannot be unpacked or decoded ends with a sentence, and within the limits."""

from __future__ import annotations

import codecs
import gzip
import secrets
import zlib
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.settings import Settings
from scrapy.statscollectors import StatsCollector

from scrapy_seine.charsets import CODECS
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.reading.reading_limit import Unreadable
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.model import Lease
from scrapy_seine.frontier.retry_rules import decide
from scrapy_seine.middlewares.decompress import Decompress
from scrapy_seine.middlewares.robots import RobotsMiddleware
from scrapy_seine.politeness.robots_cache import Known

URL = "http://shop.example/"


def crawler_of(**settings: Any) -> Crawler:
    crawler = Crawler(Spider, Settings(settings))
    crawler.stats = StatsCollector(crawler)
    return crawler


def received(
    middleware: Decompress, crawler: Crawler, body: bytes, tries: int = 0, **headers: str
) -> tuple[InFlight, Response | Request | str]:
    """Pass a leased request's answer through; its entry, and what came of it."""
    request = Request(URL, meta={"retry_count": tries})
    inflight = worker_of(crawler).inflight
    inflight.connect(lambda entry: None, lambda kind, _, n, __: decide(kind, n))
    lease = Lease(id="1", token="1", slot_ms=0, delay_ms=0, deliveries=0, stored=b"")
    entry = inflight.begin(request, lease)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        return entry, middleware.process_response(
            request, HtmlResponse(URL, headers=named, body=body)
        )
    except IgnoreRequest as error:
        return entry, str(error)


@pytest.fixture
def crawler() -> Crawler:
    return crawler_of()


def test_a_body_for_which_a_module_lacks_is_tried_elsewhere_and_named(
    crawler: Crawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(*_: Any, **__: Any) -> bytes:
        raise ImportError("No module named 'zstandard'")

    monkeypatch.setattr("scrapy.downloadermiddlewares.httpcompression._unzstd", without)
    middleware = Decompress.from_crawler(crawler)
    entry, back = received(middleware, crawler, b"\x28\xb5\x2f\xfd", Content_Encoding="zstd")
    assert isinstance(back, Request)
    assert (entry.outcome, entry.kind) == ("retry", "broken")
    assert "packed (zstd) and cannot be unpacked: this worker has no module" in entry.reason
    entry, said = received(
        middleware, crawler, b"\x28\xb5\x2f\xfd", tries=3, Content_Encoding="zstd"
    )
    assert entry.outcome == "bury"
    assert "packed (zstd)" in str(said)


def test_a_damaged_body_is_retried_with_a_sentence(crawler: Crawler) -> None:
    middleware = Decompress.from_crawler(crawler)
    entry, _ = received(middleware, crawler, b"no brotli at all", Content_Encoding="br")
    assert (entry.outcome, entry.kind) == ("retry", "broken")
    assert entry.reason.startswith("its body is packed (br) and cannot be unpacked: ")


def test_unpacking_counts_as_reading(crawler: Crawler, monkeypatch: pytest.MonkeyPatch) -> None:
    """I11: a body may take as long to unpack as the limit allows, and its site is told of."""
    middleware, overran = Decompress.from_crawler(crawler), []
    worker_of(crawler).inflight.overran = overran.append

    def call(*_: Any) -> Any:
        raise Unreadable("reading took more than 5 s of CPU")

    monkeypatch.setattr(middleware.limit, "call", call)
    entry, back = received(middleware, crawler, gzip.compress(b"x"), Content_Encoding="gzip")
    assert isinstance(back, Request)
    assert (entry.outcome, entry.kind) == ("retry", "unreadable")
    assert overran == [entry]


@pytest.mark.parametrize("charset", ["rot13", "hex", "zlib", "klingon", "base64"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("body", "text"), [("Größe".encode(), "Größe"), (b"Gr\xf6\xdfe", "Größe")])
def test_a_charset_that_is_none_is_taken_as_browsers_take_it(
    crawler: Crawler, charset: str, body: bytes, text: str, *, packed: bool
) -> None:
    headers = {"Content_Type": f"text/html; charset={charset}"}
    if packed:
        headers["Content_Encoding"], body = "gzip", gzip.compress(body)
    entry, response = received(Decompress.from_crawler(crawler), crawler, body, **headers)
    assert isinstance(response, HtmlResponse)
    assert response.text == text
    assert not entry.outcome


@pytest.mark.parametrize(
    "charset",
    ["rot13", "zlib", "undefined", "idna", "punycode", "unicode_escape", "cp037"],
)
@pytest.mark.parametrize(
    "form",
    [
        '<meta charset="{}">',
        "<META CharSet \n = {}>",
        '<meta http-equiv=content-type content="text/html; charset={}">',
        '<?xml version="1.0" encoding="{}"?>',
        '<!-- charset="utf-8" --><meta charset={}>',
    ],
)
def test_a_page_that_names_a_charset_of_pythons_is_read_as_browsers_read_it(
    crawler: Crawler, charset: str, form: str
) -> None:
    """Some are none of text and raise in the callback, some make other text of the page."""
    text = "Größe \\u0041"
    for encoding in ("utf-8", "cp1252"):
        body = form.format(charset).encode() + f"<html><p>{text}</p>".encode(encoding)
        _, response = received(
            Decompress.from_crawler(crawler), crawler, body, Content_Type="text/html"
        )
        assert response.css("p::text").get() == text


@pytest.mark.parametrize("charset", ["utf-8", "Shift_JIS", "gb2312", "windows-1251", "latin1", "x"])
def test_a_page_that_names_a_charset_of_browsers_stays_as_it_is(
    crawler: Crawler, charset: str
) -> None:
    body = f"<meta charset={charset}><p>x</p>".encode()
    _, response = received(Decompress.from_crawler(crawler), crawler, body)
    assert isinstance(response, HtmlResponse)
    assert response._encoding is None


def test_a_robots_txt_that_takes_too_long_is_away_for_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    middleware = RobotsMiddleware.from_crawler(crawler_of(ROBOTSTXT_OBEY=True))

    def call(*_: Any) -> Any:
        raise Unreadable("reading took more than 5 s of CPU")

    known = Known("rules", b"User-agent: *\nDisallow: /x", 86_400.0)
    assert middleware._read(known, URL)[2] == 86_400.0
    monkeypatch.setattr(middleware.limit, "call", call)
    robots, _, left_s = middleware._read(known, URL)
    assert (robots.state, left_s) == ("away", 5.0)


def test_each_encoding_that_may_be_named_has_a_codec_of_that_name():
    """The names are written out: one that Python spells otherwise would refuse its pages."""
    assert {codecs.lookup(name).name for name in CODECS} == CODECS


brotli: Any = pytest.importorskip("brotli")


def _packed_by(kind: str, body: bytes) -> bytes:
    if kind == "br":
        return bytes(brotli.compress(body))
    if kind == "raw":
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packer.compress(body) + packer.flush()
    return zlib.compress(body) if kind == "deflate" else gzip.compress(body)


@pytest.mark.parametrize("kind", ["gzip", "x-gzip", "deflate", "raw", "br"])
def test_a_packed_page_that_is_cut_off_is_tried_again_and_one_that_is_whole_is_not(
    crawler: Crawler, kind: str
) -> None:
    """I10: what is shown of it is a page like others, and its last links were lost."""
    links = "".join(f"<a href=/{secrets.token_hex(8)}>link</a>" for _ in range(2000))
    body = f"<html><body>{links}".encode()
    packed = _packed_by(kind, body)
    middleware = Decompress.from_crawler(crawler)
    named = {"Content_Encoding": "deflate" if kind == "raw" else kind}
    _, whole = received(middleware, crawler, packed, **named)
    assert isinstance(whole, Response)
    assert whole.body == body
    entry, again = received(middleware, crawler, packed[: len(packed) * 2 // 3], **named)
    assert isinstance(again, Request)
    assert "is cut off" in entry.reason
    closed = _packed_by(kind, body + b"</body></html>")
    without_sum = closed[:-8] if "gzip" in kind else closed
    assert isinstance(received(middleware, crawler, without_sum, **named)[1], Response)


def test_members_and_junk_behind_a_packed_page_are_no_cut(crawler: Crawler) -> None:
    middleware = Decompress.from_crawler(crawler)
    for packed in (gzip.compress(b"<p>a") + gzip.compress(b"<p>b"), gzip.compress(b"<p>") + b"x"):
        _, found = received(middleware, crawler, packed, Content_Encoding="gzip")
        assert isinstance(found, Response)
