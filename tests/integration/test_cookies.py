"""Cookies under the add-on: a login by one worker serves all, and no log names a cookie's value."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from redis.asyncio import Redis
from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings

from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.middlewares import fleet_cookies
from scrapy_seine.middlewares.fleet_cookies import FleetCookies
from scrapy_seine.middlewares.jars_in_redis import FleetJars
from tests.helpers import serving
from tests.integration.feeds import kit

pytestmark = pytest.mark.redis
PAGES = 60
SPIDER = """
import os
import scrapy


class Members(scrapy.Spider):
    name = "tree"

    async def start(self):
        yield scrapy.Request(self.base + "/login")

    def parse(self, response):
        yield scrapy.FormRequest.from_response(
            response, formdata={"user": "me", "password": "word"}, callback=self.inside
        )

    def inside(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.page)

    def page(self, response):
        yield {"page": response.url.rsplit("/", 1)[1], "who": response.text, "worker": os.getpid()}
"""


class Members(BaseHTTPRequestHandler):
    """A form of login, and pages for who is logged in."""

    protocol_version = "HTTP/1.1"
    logins: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        inside = "sid=s3cr3t-of-me" in self.headers.get("Cookie", "")
        if self.path == "/login":
            form = "<form method=post action=/login><input name=user><input name=password></form>"
            self.answer(200, form, [("Set-Cookie", "form=f0rm; Path=/")])
        elif not inside:
            self.answer(403, "who are you?")
        elif self.path == "/":
            self.answer(200, "".join(f"<a href=/p/{n}>{n}</a>" for n in range(PAGES)))
        else:
            self.answer(200, "me")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        self.logins.append(body)
        known = "password=word" in body and "form=f0rm" in self.headers.get("Cookie", "")
        cookie = [("Set-Cookie", "sid=s3cr3t-of-me; Path=/; HttpOnly")] if known else []
        self.answer(302, "", [("Location", "/"), *cookie])

    def answer(self, status: int, text: str, headers: Any = ()) -> None:
        """Send a page."""
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def test_a_login_by_one_worker_serves_all(tmp_path: Path, redis_url: str, namespace: str) -> None:
    Members.logins.clear()
    (tmp_path / "tree.py").write_text(SPIDER, "utf-8")
    with serving(Members) as base:
        begin = partial(kit.start, tmp_path, redis_url, namespace, base, "-O", "out.jl")
        slow = {"SEINE_DOMAIN_DELAY_MS": 60, "COOKIES_DEBUG": True, "LOG_LEVEL": "DEBUG"}
        workers = [begin(**slow) for _ in range(2)]
        logs = [kit.finish(worker, tmp_path) for worker in workers]
    items = [json.loads(line) for line in (tmp_path / "out.jl").read_text("utf-8").splitlines()]
    assert sorted(int(item["page"]) for item in items) == list(range(PAGES))
    assert {item["who"] for item in items} == {"me"}
    assert len({item["worker"] for item in items}) == 2
    assert len(Members.logins) == 1
    assert "Sending cookies to" in logs[-1]
    assert "s3cr3t" not in logs[-1]
    assert "f0rm" not in logs[-1]


def made(redis: Redis, crawl: str, state: str = "run1", **settings: Any) -> FleetCookies:
    """Make the middleware of one worker."""
    crawler: Any = SimpleNamespace(
        settings=Settings({"SEINE_CRAWL": crawl, "SEINE_OUTAGE_LIMIT": 1, **settings}),
        spidercls=SimpleNamespace(name="shop"),
    )
    crawler.seine_worker = SimpleNamespace(member=SimpleNamespace(redis=redis), state=state)
    return FleetCookies(crawler)


async def sent(middleware: FleetCookies, request: Request) -> str:
    """Return the cookies that a request leaves with."""
    waiting = middleware.process_request(request)
    if waiting is not None:
        await waiting
    return (request.headers.get("Cookie") or b"").decode()


async def got(middleware: FleetCookies, request: Request, *cookies: str) -> None:
    """Receive a response that sets cookies."""
    response = Response(request.url, headers={"Set-Cookie": list(cookies)})
    waiting = middleware.process_response(request, response)
    assert not isinstance(waiting, Response)
    assert await waiting is response


async def test_a_link_waits_in_another_worker_for_the_cookies_of_its_page(
    redis_client: Redis, namespace: str
) -> None:
    one, two = made(redis_client, namespace), made(redis_client, namespace)
    page, link = Request("http://www.a.example/"), Request("http://a.example/1")
    assert await sent(two, link.copy()) == ""  # it has looked, and looks no more for some seconds
    await sent(one, page)
    await got(one, page, "sid=1; Domain=a.example", "gone=1; Domain=a.example")
    assert await sent(two, link.copy()) == ""
    link.meta["jar"] = page.meta["jar"]
    assert await sent(two, link) == "sid=1; gone=1"
    await got(two, link, "gone=; Max-Age=0; Domain=a.example", "more=2; Domain=a.example")
    after = Request("http://a.example/2", meta={"jar": link.meta["jar"]})
    assert await sent(one, after) == "sid=1; more=2"


async def test_workers_that_change_a_jar_at_once_keep_each_others_cookies(
    redis_client: Redis, namespace: str
) -> None:
    one, two = made(redis_client, namespace), made(redis_client, namespace)
    request = Request("http://a.example/")
    for middleware in (one, two):
        await sent(middleware, request.copy())
    await got(one, request.copy(), "a=1")
    await got(two, request.copy(), "b=2")
    assert await sent(two, request.copy()) == "a=1; b=2"


@pytest.mark.parametrize(
    "other",
    [
        {"meta": {"cookiejar": 2}},
        {"meta": {"cookiejar": "1"}},
        {"meta": {"cookiejar": 1, "identity": "browser"}},
        {"meta": {"cookiejar": 1}, "url": "http://b.example/"},
        {"meta": {"cookiejar": 1}, "state": "run2"},
    ],
)
async def test_a_jar_is_of_one_run_cookiejar_identity_and_site(
    redis_client: Redis, namespace: str, other: dict[str, Any]
) -> None:
    mine = Request("http://a.example/", meta={"cookiejar": 1})
    one = made(redis_client, namespace)
    await sent(one, mine)
    await got(one, mine, "sid=1")
    two = made(redis_client, namespace, other.pop("state", "run1"))
    asked = Request(other.pop("url", mine.url), **other)
    assert await sent(two, asked) == ""
    same = made(redis_client, namespace)
    assert await sent(same, Request(mine.url, meta={"cookiejar": 1})) == "sid=1"


async def test_an_identity_has_other_cookies_by_another_way_out(
    redis_client: Redis, namespace: str
) -> None:
    one = made(redis_client, namespace)
    visitor = {"identity": "browser", "proxy": "http://me:word@p:1"}
    first = Request("http://a.example/", meta=visitor)
    await sent(one, first)
    await got(one, first, "sid=1")
    assert await sent(one, Request("http://a.example/", meta=visitor)) == "sid=1"
    elsewhere = visitor | {"proxy": "http://q:1"}
    assert await sent(one, Request("http://a.example/", meta=elsewhere)) == ""


async def test_a_jar_expires_and_is_forgotten_without_a_word(
    redis_client: Redis, namespace: str
) -> None:
    one, request = made(redis_client, namespace), Request("http://a.example/")
    await got(one, request, "sid=1")
    (key,) = await redis_client.keys(f"{{{namespace}}}:jar:*")
    assert 86_000 < await redis_client.ttl(key) <= 86_400
    await redis_client.delete(key)
    two = made(redis_client, namespace)
    again = Request("http://a.example/", meta={"jar": request.meta["jar"]})
    assert await sent(two, again) == ""
    assert two.process_request(again.copy()) is None  # it does not look each time


async def test_cookies_that_nobody_signed_are_not_believed(
    redis_client: Redis, namespace: str
) -> None:
    secret = {"SEINE_SECRET": "x" * 32}
    unsigned, signed = made(redis_client, namespace), made(redis_client, namespace, **secret)
    request = Request("http://a.example/")
    await got(unsigned, request, "sid=forged")
    assert await sent(signed, request.copy()) == ""
    await got(signed, request.copy(), "sid=1")
    assert await sent(made(redis_client, namespace, **secret), request.copy()) == "sid=1"


@pytest.mark.parametrize(
    "junk", [b"", b"\x01", b"\x01[]", b"\x01{}", b"\x02", b"\x01" + b"[" * 100_000, b"\xff"]
)
async def test_junk_in_a_jar_is_passed_over(
    redis_client: Redis, namespace: str, junk: bytes
) -> None:
    one, request = made(redis_client, namespace), Request("http://a.example/")
    await got(one, request, "sid=1")
    (key,) = await redis_client.keys(f"{{{namespace}}}:jar:*")
    await redis_client.hset(key, "a.example\n/\nother", junk)  # type: ignore[misc, arg-type]
    await redis_client.hset(key, "", "9")  # type: ignore[misc]
    assert await sent(made(redis_client, namespace), request.copy()) == "sid=1"


async def test_a_jar_whose_version_is_no_number_begins_anew(
    redis_client: Redis, namespace: str
) -> None:
    """Whoever can write to Redis must not cost a page by it."""
    one = made(redis_client, namespace)
    change = one._fleet().change
    assert await change("j", {}, []) == 1
    await redis_client.hset(f"{{{namespace}}}:jar:j", "", "soon")  # type: ignore[misc]
    assert [await change("j", {}, []), await change("j", {}, [])] == [1, 2]


async def test_a_cookie_that_is_only_prolonged_is_not_sent_to_the_fleet_again(
    redis_client: Redis, namespace: str
) -> None:
    one, request = made(redis_client, namespace), Request("http://a.example/")
    await got(one, request, "sid=1; Max-Age=1000")
    for age in (1000, 1010):
        await got(one, request, f"sid=1; Max-Age={age}")
    jars = FleetJars(redis_client, namespace, Seal())
    name = request.meta["jar"].split(" ")[0]
    assert await jars.version(name) == 1
    await got(one, request, "sid=1; Max-Age=2000")
    assert await jars.version(name) == 2


async def test_many_requests_at_once_look_once(
    redis_client: Redis, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    look = FleetJars.version

    async def counted(self: FleetJars, name: str) -> int:
        looks.append(name)
        return await look(self, name)

    monkeypatch.setattr(FleetJars, "version", counted)
    one = made(redis_client, namespace)
    await asyncio.gather(*(sent(one, Request(f"http://a.example/{n}")) for n in range(50)))
    assert len(looks) == 1


def test_a_worker_keeps_only_so_many_jars(
    redis_client: Redis, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_cookies, "MOST_JARS", 3)
    one = made(redis_client, namespace)
    for n in range(5):
        one._jar(Request(f"http://a{n}.example/"))
    assert len(one._shared) == 3
