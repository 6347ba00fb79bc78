"""An answer that cannot be unpacked or decoded ends with a sentence, and within the limits."""

from __future__ import annotations

import codecs
import gzip
import secrets
import sys
import zlib
from collections.abc import Awaitable, Callable
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
from scrapy_seine.middlewares.packed_formats import UNPACKERS, Damaged, unpack
from scrapy_seine.middlewares.robots import RobotsMiddleware
from scrapy_seine.politeness.robots_cache import FetchedRobots

URL = "http://shop.example/"


def crawler_of(**settings: Any) -> Crawler:
    crawler = Crawler(Spider, Settings(settings))
    crawler.stats = StatsCollector(crawler)
    return crawler


def received(
    middleware: Decompress, crawler: Crawler, body: bytes, tries: int = 0, **headers: str
) -> tuple[InFlight, Response | Request | Awaitable[Response | Request] | str]:
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
    monkeypatch.setitem(sys.modules, zstd.__name__, None)
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


async def test_a_body_is_unpacked_in_turn_where_the_process_is_busy(crawler: Crawler) -> None:
    """Bodies that arrive together would else block the loop until the watchdog ends the worker."""
    middleware = Decompress.from_crawler(crawler)
    middleware.limit.queue.is_busy = True
    page = gzip.compress(b"<h1>Lamp</h1>")
    _, pending = received(middleware, crawler, page, Content_Encoding="gzip")
    _, plain = received(middleware, crawler, b"<h1>Lamp</h1>")

    assert isinstance(pending, Awaitable)
    unpacked = await pending
    assert isinstance(plain, Response)
    assert isinstance(unpacked, Response)
    assert unpacked.body == plain.body


def test_a_damaged_body_is_retried_with_a_sentence(crawler: Crawler) -> None:
    middleware = Decompress.from_crawler(crawler)
    entry, _ = received(middleware, crawler, b"no brotli at all", Content_Encoding="br")
    assert (entry.outcome, entry.kind) == ("retry", "broken")
    assert entry.reason.startswith("its body is packed (br) and cannot be unpacked: ")


def test_a_body_of_ten_thousands_of_frames_is_refused_before_it_takes_seconds() -> None:
    frame = zstd.compress(b"")
    assert unpack(frame * 9_000 + zstd.compress(b"a page"), "zstd") == b"a page"
    with pytest.raises(Damaged, match="more than 10000 frames"):
        unpack(frame * 1_000_000, "zstd")


@pytest.mark.parametrize("kind", sorted(UNPACKERS))
def test_the_first_bytes_of_a_packed_body_are_no_damage(kind: str) -> None:
    """Of robots.txt only the first part is read; a smaller one that is cut is damaged still."""
    packers: dict[str, Callable[[bytes], bytes]] = {
        "deflate": zlib.compress,
        "br": brotli.compress,
        "zstd": zstd.compress,
    }
    text, most = secrets.token_bytes(200_000), 100_000
    packed = packers.get(kind, gzip.compress)(text)
    assert unpack(packed, kind, first=most) == text[:most]
    begun = unpack(packed[:most], kind, first=most)
    assert text.startswith(begun)
    with pytest.raises(Damaged):
        unpack(packed[: most - 1], kind, first=most)


def test_unpacking_counts_as_reading(crawler: Crawler, monkeypatch: pytest.MonkeyPatch) -> None:
    """I11: a body may take as long to unpack as the limit allows, and its site is told of."""
    middleware, overran = Decompress.from_crawler(crawler), []
    worker_of(crawler).inflight.on_overrun = overran.append

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

    known = FetchedRobots("rules", b"User-agent: *\nDisallow: /x", 86_400.0)
    assert middleware._parse(known, URL)[2] == 86_400.0
    monkeypatch.setattr(middleware.limit, "call", call)
    robots, _, left_s = middleware._parse(known, URL)
    assert (robots.state, left_s) == ("away", 5.0)


def test_each_encoding_that_may_be_named_has_a_codec_of_that_name():
    """The names are written out: one that Python spells otherwise would refuse its pages."""
    assert {codecs.lookup(name).name for name in CODECS} == CODECS


def _raw(body: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(body) + packer.flush()


def _by_hand(body: bytes) -> bytes:
    """Pack as a well-known script in PHP does: zlib's data behind half of gzip's head."""
    return b"\x1f\x8b\x08\0\0\0\0\0" + zlib.compress(body)


def _with_names(body: bytes) -> bytes:
    """A gzip body whose head has all optional parts."""
    packed = gzip.compress(body)
    extra = b"\x05\0abcde" + b"page.html\0" + b"a comment\0" + b"\1\2"
    return packed[:3] + b"\x1e" + packed[4:10] + extra + packed[10:]


brotli: Any = pytest.importorskip("brotli")
zstd: Any = pytest.importorskip(
    "backports.zstd" if sys.version_info < (3, 14) else "compression.zstd"
)


def _summed(body: bytes) -> bytes:
    """Pack by zstd with its checksum, which it writes only where it is asked to."""
    packed: bytes = zstd.compress(body, options={zstd.CompressionParameter.checksum_flag: 1})
    return packed


LINKS = "".join(f"<a href=/{secrets.token_hex(8)}>link</a>" for _ in range(2000))
PAGE = f"<html><body>{LINKS}</body></html>".encode()
#: Content-Encoding, and what packs so.
PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZIP", gzip.compress),
    "gzip by hand": ("gzip", _by_hand),
    "gzip with names": ("gzip", _with_names),
    "gzip in members": ("gzip", lambda body: gzip.compress(body[:99]) + gzip.compress(body[99:])),
    "deflate": ("deflate", zlib.compress),
    "raw": ("deflate", _raw),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", _summed),
    "zstd in frames": ("zstd", lambda body: _summed(body[:99]) + _summed(body[99:])),
    "gzip, gzip": ("gzip, gzip", lambda body: gzip.compress(gzip.compress(body))),
    "deflate, br": ("deflate, br", lambda body: brotli.compress(zlib.compress(body))),
    "zstd, gzip": ("zstd,gzip", lambda body: gzip.compress(zstd.compress(body))),
}
packed_somehow = pytest.mark.parametrize("how", PACKERS)


@packed_somehow
def test_a_packed_page_is_unpacked_whatever_stands_behind_its_end(
    crawler: Crawler, how: str
) -> None:
    """I10: some servers write in pieces, or append a line to a file that is packed already."""
    name, pack = PACKERS[how]
    middleware = Decompress.from_crawler(crawler)
    for behind in (b"", b"<!-- cached -->", bytes(700)):
        _, page = received(middleware, crawler, pack(PAGE) + behind, Content_Encoding=name)
        assert isinstance(page, HtmlResponse)
        assert page.body == PAGE
        assert "Content-Encoding" not in page.headers


@packed_somehow
@pytest.mark.parametrize("left", [0.05, 0.4, 0.99])
def test_a_packed_page_that_is_cut_off_is_tried_again(
    crawler: Crawler, how: str, left: float
) -> None:
    """I10: what can be unpacked of it is a page like others, and its last links were lost."""
    name, pack = PACKERS[how]
    packed = pack(PAGE)
    middleware = Decompress.from_crawler(crawler)
    cut = packed[: int(len(packed) * left)]
    entry, again = received(middleware, crawler, cut, Content_Encoding=name)
    assert isinstance(again, Request)
    assert (entry.outcome, entry.kind) == ("retry", "broken")
    assert entry.reason == f"its body is packed ({name}) and is cut off"
    entry, said = received(middleware, crawler, cut, tries=9, Content_Encoding=name)
    assert (entry.outcome, said) == ("bury", entry.reason)


@pytest.mark.parametrize("how", [how for how in PACKERS if how not in {"br", "raw"}])
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_packed_page_that_is_damaged_in_its_middle_is_tried_again(
    crawler: Crawler, how: str, place: float
) -> None:
    """I10: it was taken for a page, with what came before the damage or with other letters.

    Brotli and bare deflate have no checksum: other letters cannot be told there.
    """
    name, pack = PACKERS[how]
    packed = bytearray(pack(PAGE))
    at = int(len(packed) * place)
    packed[at : at + 40] = bytes(byte ^ 0x55 for byte in packed[at : at + 40])
    middleware = Decompress.from_crawler(crawler)
    entry, again = received(middleware, crawler, bytes(packed), Content_Encoding=name)
    assert isinstance(again, Request), again
    assert (entry.outcome, entry.kind) == ("retry", "broken")
    assert entry.reason.startswith(f"its body is packed ({name}) and ")


def test_a_gzip_page_without_a_checksum_is_whole_and_one_with_a_wrong_one_is_not(
    crawler: Crawler,
) -> None:
    middleware, packed = Decompress.from_crawler(crawler), gzip.compress(PAGE)
    for whole in (packed[:-8], packed[:-5]):
        assert isinstance(
            received(middleware, crawler, whole, Content_Encoding="gzip")[1], HtmlResponse
        )
    wrong = packed[:-8] + b"none" + packed[-4:]
    entry, again = received(middleware, crawler, wrong, Content_Encoding="gzip")
    assert isinstance(again, Request)
    assert "its checksum is wrong" in entry.reason


@pytest.mark.parametrize("name", ["identity", "none", "UTF-8", "", "utf-8, gzip", "gzip, utf-8"])
def test_a_name_that_is_no_packing_is_passed_over(crawler: Crawler, name: str) -> None:
    """I10: as in browsers; it made a page of no text, which nobody read, without a word."""
    body = gzip.compress(PAGE) if "gzip" in name else PAGE
    entry, page = received(Decompress.from_crawler(crawler), crawler, body, Content_Encoding=name)
    assert isinstance(page, HtmlResponse)
    assert page.css("a::text").get() == "link"
    assert not entry.outcome


def test_a_page_that_is_packed_in_a_way_that_nobody_knows_fails(crawler: Crawler) -> None:
    middleware = Decompress.from_crawler(crawler)
    entry, again = received(
        middleware,
        crawler,
        gzip.compress(PAGE),
        Content_Encoding="compress",
        Content_Type="text/html",
    )
    assert isinstance(again, Request)
    assert entry.reason == "its body is packed (compress) and no decoder for that is installed"


@pytest.mark.parametrize("kind", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_grows_beyond_the_limit_is_set_aside(kind: str) -> None:
    crawler = crawler_of(DOWNLOAD_MAXSIZE=100_000)
    packed = PACKERS[kind][1](bytes(5_000_000))
    entry, said = received(Decompress.from_crawler(crawler), crawler, packed, Content_Encoding=kind)
    assert "DOWNLOAD_MAXSIZE is 100000" in str(said)
    assert entry.kind == "size"


@pytest.mark.parametrize(
    ("sent", "asked", "is_taken"),
    [
        ("bytes 0-89/100", "", False),
        ("bytes 10-99/100", "", False),
        ("bytes 0-99/100", "", True),
        ("bytes 0-99/*", "", True),
        ("bytes 0-89/100", "bytes=0-89", True),
        ("", "", True),
        ("bytes */100", "", True),
    ],
)
def test_a_part_of_a_page_that_nobody_asked_for_is_no_page(
    crawler: Crawler, sent: str, asked: str, *, is_taken: bool
) -> None:
    """Its links behind the cut would be lost."""
    request = Request(URL, headers={"Range": asked} if asked else {})
    inflight = worker_of(crawler).inflight
    inflight.connect(lambda entry: None, lambda kind, _, n, __: decide(kind, n))
    lease = Lease(id="1", token="1", slot_ms=0, delay_ms=0, deliveries=0, stored=b"")
    entry = inflight.begin(request, lease)
    headers = {"Content-Range": sent} if sent else {}
    response = HtmlResponse(URL, status=206, headers=headers, body=b"<p>")
    back = Decompress.from_crawler(crawler).process_response(request, response)
    assert (back is response) == is_taken
    assert is_taken or (entry.outcome, entry.kind) == ("retry", "broken")
