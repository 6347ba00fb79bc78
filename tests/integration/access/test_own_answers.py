"""A proxy's own answers: what one worker believes while the proxy begins to answer by itself."""

from __future__ import annotations

import asyncio
from http.server import BaseHTTPRequestHandler

import pytest
from scrapy import Request

from crawler.access.proxies import list_format
from crawler.access.proxies.own_answer import Shown, shown
from crawler.access.proxies.same_answers import FRONT, Asked
from middlewares import own_answers
from middlewares.own_answers import OwnAnswers, Seen
from scrapy_seine import meta as m
from tests.helpers import serving

PORTAL = b"<html><h1>Welcome to the hotel, please log in</h1>"
GONE = b"<html><h1>This lamp is gone, look for others</h1>"


class Proxy(BaseHTTPRequestHandler):
    """Reports an error, until it answers by itself."""

    answers_itself = False
    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        self.send_response(200 if self.answers_itself else 502)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PORTAL)))
        self.end_headers()
        self.wfile.write(PORTAL)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


async def test_a_known_product_is_not_missing_for_a_portal_that_began_after_the_last_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All known products were missing that were requested in the half minute after it."""
    monkeypatch.setattr(own_answers, "_SOON_S", 0.1)

    class Handler(Proxy):
        """This test's."""

    with serving(Handler) as address:
        [proxy], _ = list_format.parse([address])
        answers = OwnAnswers(lambda _: proxy)

        async def is_own(path: str, body: bytes, **meta: bool) -> bool:
            url = f"http://shop.example/{path}"
            request = Request(url, meta=meta)
            seen = Seen(
                asked=Asked(site="shop.example", url=url, source="one"),
                words=body.decode(),
                shown=shown(url, 200, body),
                meta={},
            )
            return bool((await answers.own_among(request, proxy.id, seen))[0])

        known = {m.KNOWN: True}
        assert not await is_own("p/1", GONE, **known)
        assert not await is_own("p/2", GONE, **known), "the site's own words are known"
        assert Handler.asked == 1
        Handler.answers_itself = True
        found = await asyncio.gather(*(is_own(f"p/{n}", PORTAL, **known) for n in range(3, 9)))
        assert found == [True] * 6
        assert Handler.asked == 2, "it is asked once for all"


@pytest.mark.parametrize(
    ("status", "body", "front", "is_gate", "is_own"),
    [
        (200, PORTAL, PORTAL, False, True),
        (404, GONE, GONE, False, True),
        (200, GONE, b"<html><h1>A shop for lamps and chairs</h1>", False, False),
        (200, PORTAL, PORTAL, True, False),
        (200, PORTAL, b"", False, False),
    ],
)
async def test_what_the_front_page_shows_too_is_the_proxys_own(
    status: int, body: bytes, front: bytes, is_gate: bool, is_own: bool
) -> None:
    """The proxy reports an error for a host that does not exist, and a gate is on each page."""

    class Handler(Proxy):
        """This test's."""

    async def front_of(*_: object) -> Shown | None:
        return shown("http://shop.example/", status, front) if front else None

    with serving(Handler) as address:
        [proxy], _ = list_format.parse([address])
        answers = OwnAnswers(lambda _: proxy, front_of)
        url = "http://shop.example/p/1"
        asked = Asked(site="shop.example", url=url, source="one")
        seen = Seen(asked, "", shown(url, status, body), {}, is_gate)
        request = Request(url)
        for _ in range(2):
            where, _ = await answers.own_among(request, proxy.id, seen)
            assert where == (FRONT if is_own else "")
        if is_own and status == 404:  # its other pages come, so it has no front page
            answers.note_page(proxy.id, "shop.example")
            assert await answers.own_among(request, proxy.id, seen) == ("", [])


async def test_a_site_without_a_front_page_is_believed_while_its_other_pages_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That was forgotten whenever the proxy was asked anew; the front page may become another's."""
    monkeypatch.setattr(own_answers, "_KNOWN_S", 0.1)
    bodies = [GONE]

    class Handler(Proxy):
        """This test's."""

    async def front_of(*_: object) -> Shown | None:
        return shown("http://shop.example/", 404, bodies[0])

    with serving(Handler) as address:
        [proxy], _ = list_format.parse([address])
        answers = OwnAnswers(lambda _: proxy, front_of)

        async def where() -> str:
            url = "http://shop.example/p/1"
            asked = Asked(site="shop.example", url=url, source="one")
            seen = Seen(asked, "", shown(url, 404, bodies[0]), {})
            return (await answers.own_among(Request(url), proxy.id, seen))[0]

        assert await where() == FRONT
        answers.note_page(proxy.id, "shop.example")
        for _ in range(2):
            await asyncio.sleep(0.15)
            assert not await where()
        bodies[0] = PORTAL
        await asyncio.sleep(0.15)
        assert await where() == FRONT, "the proxy's account has ended"
