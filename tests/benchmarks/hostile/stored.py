"""Hostile stored requests: good ones of a real crawl, changed, and what never was one."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import msgpack

from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.frontier.encoding.codec import VERSION, decode
from spiders.catalog import CatalogSpider
from tests.benchmarks.hostile.kinds import (
    NUMBERS,
    STRINGS,
    Canaries,
    Item,
    Source,
    damaged,
    junk,
    nested,
)
from tests.benchmarks.hostile.seeds import META, pickles

#: Methods that are the spider's own and take a page: a stored request may name these.
CALLBACKS = frozenset(
    name
    for kind in CatalogSpider.__mro__[: CatalogSpider.__mro__.index(FrontierSpider)]
    for name, made in vars(kind).items()
    if inspect.isfunction(made)
    and not hasattr(FrontierSpider, name)
    and "response" in list(inspect.signature(made).parameters)[1:2]
) | {"parse"}
FIELDS = ("url", "method", "headers", "body", "cookies", "encoding", "priority", "dont_filter")
MORE = ("callback", "errback", "meta", "flags", "cb_kwargs", "_class")
#: Path of a request whose callback nothing may run; whoever asks for it would have run it.
FORBIDDEN = "/forbidden/"
_CLASSES = (
    *("os.system", "scrapy.Spider", "scrapy.utils.misc.load_object", "scrapy.http.Response"),
    *("scrapy.crawler.CrawlerProcess", "scrapy.http.request.form.FormRequest", "builtins.eval", ""),
    *("scrapy.http.XmlRpcRequest", "scrapy.http.JsonRequest", "scrapy.nothing.there", ".", "é"),
)
_SCHEMES = (
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://{place}/x",
    "gopher://{place}/",
    "s3://a/b",
)


def pack(value: Any) -> bytes:
    """Pack whatever it is; numbers and texts that msgpack does not know come as near as can be."""
    return bytes(msgpack.packb(_packable(value), unicode_errors="surrogatepass"))


def _packable(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-(2**63), min(2**64 - 1, value))
    if isinstance(value, Mapping):
        return {key: _packable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        flat = value
        for _ in range(400):  # deeper than msgpack packs in one go
            if len(flat) != 1 or not isinstance(flat[0], list):
                return [_packable(inner) for inner in value]
            flat = flat[0]
        return []
    return value


def good_ones(blobs: Sequence[bytes], base: str) -> list[dict[str, Any]]:
    """The fields of requests that a crawl stored, moved to the hostile site *base*."""
    found = []
    for blob in blobs:
        fields = decode(blob)
        old = urlsplit(fields["url"]).netloc
        found.append(_moved(fields, old, base.removeprefix("http://")))
    return found


def _moved(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, bytes):
        return value.replace(old.encode(), new.encode())
    if isinstance(value, dict):
        return {_moved(key, old, new): _moved(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [_moved(inner, old, new) for inner in value]
    return value


def stored(
    dice: random.Random, base: str, good: Sequence[dict[str, Any]], canaries: Canaries
) -> Source:
    """Make blobs for the domain of *base*, out of *good* fields."""

    def fresh(number: int) -> dict[str, Any]:
        fields = dict(good[number % len(good)])
        fields["url"] = f"{base}/stored/{number}"
        fields["meta"] = {**(fields.get("meta") or {}), "site_id": "hostile"}
        return fields

    fixed = [
        *(VERSION + pack(fields) for fields in _fixed(fresh, base, canaries)),
        *_no_requests(canaries),
    ]
    made = (Item(f"stored {n}", _generated(dice, fresh(n))) for n in count(9000))
    more = (item for item in made if _stays(item.data, base))
    return Source([Item(f"stored {n}", blob) for n, blob in enumerate(fixed)], more)


def _fixed(fresh: Any, base: str, canaries: Canaries) -> Iterator[dict[str, Any]]:
    number = iter(range(10_000))
    for name in dir(CatalogSpider):
        if name in CALLBACKS or not callable(getattr(CatalogSpider, name)):
            continue
        for key in ("callback", "errback"):
            url = f"{base}{FORBIDDEN}{key}/{name}"
            yield {**fresh(next(number)), "url": url, key: name}
    for name in (
        "crawler",
        "settings",
        "logger",
        "knows",
        "redis",
        "state",
        "no_such",
        "parse.__func__",
    ):
        yield {**fresh(next(number)), "url": f"{base}{FORBIDDEN}callback/{name}", "callback": name}
    values = (
        *STRINGS[:10],
        *NUMBERS[::3],
        None,
        True,
        [],
        {},
        [[]],
        {"a": {"b": b"\xff"}},
        nested(300),
    )
    for key in (*FIELDS, *MORE):
        for value in values[:: 2 if key in FIELDS else 3]:
            yield {**fresh(next(number)), key: value}
    for name in _CLASSES:
        yield {**fresh(next(number)), "_class": name}
    for url in _away(base, canaries):
        yield {**fresh(next(number)), "url": url}
    for key in META:
        fields = fresh(next(number))
        yield {**fields, "meta": {**fields["meta"], key: values[next(number) % len(values)]}}
    yield from _shaped(fresh, number, canaries)


def _away(base: str, canaries: Canaries) -> list[str]:
    """URLs that no stored request may lead to."""
    place = canaries.inside[0].removeprefix("http://")
    urls = [
        f"file://{canaries.file}",
        f"FILE://{canaries.file}",
        f"file:{canaries.file}",
        "http:///x",
    ]
    urls += [
        f"file://localhost{canaries.file}",
        "about:blank",
        "chrome://version",
        "http:file:///x",
    ]
    urls += [scheme.format(place=place) for scheme in _SCHEMES]
    urls += [f"{inside}/stored-{n}" for n, inside in enumerate(canaries.inside)]
    urls += [
        f"http://{base.removeprefix('http://')}@{place}/stored-user",
        f"HTTP://{place}/stored-case",
    ]
    return [
        *urls,
        f"{base}/a\r\nX-Injected: 1",
        f"{base}/\x1b[31m",
        f"{base}/\ud800",
        f"{base}/" + "x" * 99_999,
    ]


def _shaped(fresh: Any, number: Iterator[int], canaries: Canaries) -> Iterator[dict[str, Any]]:
    """Of the right types, and wrong all the same."""
    secret = canaries.secret
    headers: list[Any] = [
        {b"Host": [b"127.3.0.1"]},
        {b"X-\xff\xfe": [b"\xff\xfe"]},
        {b"X\r\nY": [b"a\r\nb: c"]},
        {"X": [{"a": 1}]},
        {b"Content-Length": [b"99999"], b"Transfer-Encoding": [b"chunked"]},
        {b"X": [b"a" * 1_000_000]},
        {b"Authorization": [b"Basic " + secret.encode()]},
        {str(n): [b"x"] for n in range(5000)},
    ]
    for value in headers:
        yield {**fresh(next(number)), "headers": value}
    # A spider may have its proxy on its own machine: nobody listens where these lead.
    metas: list[dict[str, Any]] = [
        {"proxy": "http://127.3.0.1:1/stored-proxy"},
        {"proxy": f"http://user:{secret}@127.3.0.1:1"},
        {"playwright": True, "playwright_page_methods": [["evaluate", "1"]]},
        {"redirect_urls": [5, None]},
        {"download_timeout": -1},
        {"download_timeout": float("nan")},
        {"download_maxsize": "x"},
        {"handle_httpstatus_list": 7},
        {"deep": nested(250)},
        {"wide": ["x"] * 300_000},
        {"dont_obey_robotstxt": True, "lane": "browser", "lane_now": "browser"},
    ]
    for meta in metas:
        yield {**fresh(next(number)), "meta": meta}
    for name in (
        "rot13",
        "zlib_codec",
        "idna",
        "utf-16",
        "no-such",
        "a" * 9000,
        "mbcs",
        "undefined",
    ):
        yield {**fresh(next(number)), "encoding": name}
    for arguments in (
        {"response": 1},
        {"origin": 5},
        {1: 2},
        {"self": 1},
        {"search": {"low": "x"}},
    ):
        yield {**fresh(next(number)), "callback": "parse_probe", "cb_kwargs": arguments}
    yield {**fresh(next(number)), "body": b"x" * 5_000_000, "method": "POST"}


def _no_requests(canaries: Canaries) -> list[bytes]:
    """Bytes that never were a stored request."""
    found = [
        b"",
        b"\x01",
        b"\x00",
        b"\x02\x80",
        b"{",
        b"\xc1\xff",
        bytes(range(256)),
        b"\x01" * 9000,
    ]
    found += [VERSION + b"\x91" * depth + b"\xc0" for depth in (200, 1000, 100_000, 3_000_000)]
    found += [VERSION + b"\x81\xa1a" * depth + b"\xc0" for depth in (200, 1000, 100_000)]
    found += [
        VERSION + head
        for head in (b"\xdf\xff\xff\xff\xff", b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff")
    ]
    found += [VERSION + b"\xc7\x01" + bytes([code]) + b"\x91" for code in range(7)]
    found += [
        VERSION + pack(value) for value in (None, 5, "x", [], {}, {"url": 5}, {"url": None}, {5: 6})
    ]
    deep = VERSION + b"\xd4\x01\xc0"
    for _ in range(60):
        deep = VERSION + bytes(msgpack.packb(msgpack.ExtType(1, deep[1:])))
    return [*found, deep, *pickles(canaries), *(VERSION + blob for blob in pickles(canaries))]


def _generated(dice: random.Random, fields: dict[str, Any]) -> bytes:
    way = dice.randrange(4)
    if way == 0:
        return damaged(dice, VERSION + pack(fields))
    for _ in range(dice.randrange(1, 4)):
        if way == 1:
            fields[dice.choice((*FIELDS[1:], *MORE[2:]))] = junk(dice)
        elif way == 2:
            fields["meta"][dice.choice(META)] = junk(dice)
        else:
            fields["headers"] = {str(junk(dice, 0)): [junk(dice, 1)] for _ in range(3)}
    return VERSION + pack(fields)


def _stays(blob: bytes, base: str) -> bool:
    """Whether a damaged request still names the hostile site, or nothing that could be asked."""
    try:
        url = msgpack.unpackb(blob[1:], strict_map_key=False, unicode_errors="replace")["url"]
    except Exception:
        return True
    return not isinstance(url, str) or url.startswith(f"{base}/")
