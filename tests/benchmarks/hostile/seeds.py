"""Hostile seeds: what somebody may `lpush`, by mistake or not."""

from __future__ import annotations

import json
import pickle
import random
from itertools import count
from typing import Any

from scrapy_seine import meta as m
from tests.benchmarks.hostile.kinds import (
    NUMBERS,
    STRINGS,
    Canaries,
    Item,
    Source,
    damaged,
    gzipped,
    junk,
    nested,
)

#: Keys of a seed's object, with those of scrapy-redis.
KEYS = ("url", "method", "meta", "headers", "cookies", "priority", "dont_filter", "body", "q")
#: Keys in meta that Scrapy, its extensions or this project read.
META = (
    *sorted(v for k, v in vars(m).items() if k.isupper() and isinstance(v, str)),
    *("download_slot", "download_timeout", "download_maxsize", "download_latency", "bindaddress"),
    *("proxy", "_auth_proxy", "proxy_lease", "cookiejar", "dont_redirect", "redirect_times"),
    *("redirect_urls", "redirect_reasons", "handle_httpstatus_list", "handle_httpstatus_all"),
    *("max_retry_times", "dont_retry", "retry_times", "dont_obey_robotstxt", "is_start_request"),
    *("verbatim_url", "verdict", "verdict_rule", "profile", "step", "pool_now", "playwright"),
    *("playwright_context", "playwright_page_methods", "playwright_page_init_callback", "shelf"),
    *("wreq_emulation", "impersonate", "_rotating_proxy", "browser_visitor", "ftp_user", "depth"),
)
_METHODS = (
    "CONNECT",
    "TRACE",
    "DELETE",
    "get",
    "",
    "\r\n",
    "G" * 9000,
    "GE T",
    "GET / HTTP/1.1\r\n",
)


class _Touch:
    """Pickled, it makes a file where it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self.path, "w")


def pickles(canaries: Canaries) -> list[bytes]:
    """Pickles that leave a trace, in each protocol."""
    return [pickle.dumps(_Touch(str(canaries.touched)), protocol=n) for n in range(6)]


def seeds(dice: random.Random, base: str, canaries: Canaries) -> Source:
    """Make hostile seeds; *base* is a hostile site that seeds may name."""
    fixed = [*_urls(base, canaries), *_texts(canaries), *_objects(base, canaries)]
    safe = [data[:5000] for data in fixed if b"127." not in data]
    first = [Item(f"seed {n}", data) for n, data in enumerate(fixed)]
    return Source(
        first, (Item(f"seed {n}", _generated(dice, f"{base}/seed/{n}", safe)) for n in count(9000))
    )


def _urls(base: str, canaries: Canaries) -> list[bytes]:
    place, secret = base.removeprefix("http://"), canaries.secret
    hosts = [
        *(
            "a.invalid:99999",
            "a.invalid:-1",
            "a.invalid:abc",
            "a.invalid:",
            "a.invalid:0",
            "[",
            "]",
        ),
        *("[::1", "[zz]:80", "[::1]]", "a b.invalid", "a\0b.invalid", "%00", "....", "-.invalid"),
        *("a" * 5000, "a." * 400 + "invalid", "ａ.invalid", "xn--.invalid", "xn--a-ß.invalid"),
        *(
            "\u202e.invalid",
            "a..invalid",
            "_.invalid",
            "*",
            "a,b",
            "a%2fb.invalid",
            "",
            "@",
            ":",
            "?",
        ),
        *(
            f"user:{secret}@[",
            f"user:{secret}@a.invalid:99999",
            f"user:{secret}@",
            f":{secret}@{place}",
        ),
        *(
            f"user:{secret}@{place}",
            f"{secret}@{place}",
            f"u%0d%0a:{secret}@{place}",
            f"a@b:{secret}@{place}",
        ),
        *(
            "127.0.0.1:1:2",
            "٣.invalid",
            "a.invalid:８０",
            "a\\b.invalid",
            "a.invalid:1e3",
            "a.invalid:+80",
        ),
    ]
    schemes = [
        "file",
        "javascript",
        "data",
        "ftp",
        "gopher",
        "s3",
        "chrome",
        "view-source",
        "HTTP ",
        "",
    ]
    urls = [f"http://{host}/" for host in hosts] + [f"{s}://{place}/" for s in schemes]
    urls += [
        f"file://{canaries.file}",
        f"FILE:{canaries.file}",
        f"http:{place}",
        f"//{place}/",
        "http:",
    ]
    urls += [
        f"{base}/{path}" for path in ("\ud800", "a b", "%", "%zz", "\r\nHost: x", "x" * 9000, "\0")
    ]
    urls += [f"{base}/?{'a=1&' * 20_000}", f"{base}/{'../' * 5000}", f"{base}/{'%2e%2e/' * 3000}"]
    urls += [f"{base}/{';' * 5000}", f"{base}?{'%' * 5000}", f"{base}#{'#' * 50_000}"]
    return [url.encode("utf-8", "surrogatepass") for url in urls]


def _texts(canaries: Canaries) -> list[bytes]:
    texts = ["[" * 100_000, "{" * 100_000, '{"a":' * 50_000, '"' * 9, "-" * 50_000, "9" * 6000]
    texts += [
        "null",
        "true",
        "[]",
        '""',
        "{}",
        "1",
        "-1",
        "NaN",
        "Infinity",
        "[1,2",
        "\ufeff{}",
        "//",
    ]
    texts += [
        '{"url"',
        '{"url": "',
        '[{"url": "http://a.invalid/"}]',
        "# a comment",
        "url",
        "a" * 3_000_000,
    ]
    data = [text.encode() for text in texts]
    data += [
        b"",
        b" ",
        b"\n\n",
        b"\0" * 1000,
        b"\xff\xfe",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        bytes(range(256)),
    ]
    data += ["http://a.invalid/".encode(name) for name in ("utf-16", "utf-32", "utf-7", "cp037")]
    data += [
        gzipped(b"http://a.invalid/"),
        b"\x80\x04.",
        b"\x01\x81\xa3url\xa1x",
        *pickles(canaries),
    ]
    return data


def _objects(base: str, canaries: Canaries) -> list[bytes]:
    url, made = f"{base}/seed/object", list[dict[str, Any]]()
    values = (*STRINGS[:9], *NUMBERS, None, True, [], {}, [[]], {"a": {"b": 1}}, nested(900))
    made += [{"url": url, key: value} for key in KEYS[1:] for value in values]
    made += [{"url": value} for value in values]
    made += [{"url": url, "method": method} for method in _METHODS]
    for key in META:
        made += [{"url": f"{url}?{key}", "meta": {key: value}} for value in ("x", 1e308, {"a": []})]
    secret = canaries.secret
    made += [
        {"url": url, "meta": {"delay": "NaN"}},
        {"url": url, "meta": {"not_before": "soon"}},
        {"url": url, "meta": {"borrowed_headers": 5}},
        {"url": url, "meta": {"proxy": "http://127.3.0.1:1/seed-proxy"}},
        {"url": url, "meta": {"proxy": f"http://user:{secret}@127.3.0.1:1"}},
        {
            "url": url,
            "headers": {"Host": "127.3.0.1", "Content-Length": "999", "Transfer-Encoding": "x"},
        },
        {"url": url, "headers": {"X\r\nY": "a\r\nb: c", "": "", "é": "ü", "a" * 70_000: "b"}},
        {"url": url, "headers": {"Cookie": ["a", 1, None, {"b": []}]}},
        {"url": url, "cookies": [{"name": "a", "value": {"b": 1}}, 5]},
        {"url": url, "meta": {"callback": "_set_crawler"}, "callback": "_set_crawler"},
        {"url": url.replace("://", f"://user:{secret}@"), "meta": {"site_id": "hostile"}},
        {"url": f"file://{canaries.file}", "meta": {}},
        {"url": url, "a": "b" * 900_000, "method": "POST"},
        {"url": url, **{f"field{n}": n for n in range(20_000)}},
    ]
    return [json.dumps(value).encode() for value in made]


def _generated(dice: random.Random, url: str, safe: list[bytes]) -> bytes:
    way = dice.randrange(4)
    if way == 0:
        return damaged(dice, dice.choice(safe))
    seed: dict[str, Any] = {"url": url}
    for _ in range(dice.randrange(1, 4)):
        if way == 1:
            seed[dice.choice(KEYS[1:])] = junk(dice)
        else:
            seed.setdefault("meta", {})[dice.choice(META)] = junk(dice)
    return json.dumps(seed).encode()
