"""Credentials of a URL become a header at entry, go to their own site only, and are never shown."""

from __future__ import annotations

import base64

import pytest
from scrapy import Request, Spider

from scrapy_seine import meta as m
from scrapy_seine.engine.stored import serializer
from scrapy_seine.engine.stored.logins import hand_down_login
from scrapy_seine.fingerprint import fingerprint
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.reads.dead_letters import parse_note
from scrapy_seine.reads.fleet import shown_fields, stored_fields
from scrapy_seine.urls import split_login

URL = "http://me:p%40ss:word@shop.example:8000/x@y?z=@"
BASIC = b"Basic " + base64.b64encode(b"me:p@ss:word")


class Shop(Spider):
    name = "shop"


def again(request: Request) -> Request:
    """The request as a worker leases it."""
    return serializer.from_blob(serializer.to_push(request, Shop(), fingerprint=None).blob, Shop())


def test_a_login_of_the_url_becomes_a_header() -> None:
    made = again(Request(URL))
    assert made.url == "http://shop.example:8000/x@y?z=@"
    assert made.headers[b"Authorization"] == BASIC
    assert b"word" not in serializer.to_push(Request(URL), Shop(), fingerprint=None).blob


def test_one_that_was_stored_in_the_url_becomes_one_as_well() -> None:
    made = serializer.from_blob(encode({"url": URL}), Shop())
    assert (made.url.count("@"), made.headers[b"Authorization"]) == (2, BASIC)


def test_a_header_of_the_requests_own_stays() -> None:
    assert (
        again(Request(URL, headers={"Authorization": "Bearer x"})).headers[b"Authorization"]
        == b"Bearer x"
    )


@pytest.mark.parametrize(
    ("url", "goes"),
    [
        ("http://shop.example:8000/p", True),
        ("http://Shop.example.:8000/p", True),
        ("http://shop.example/p", False),
        ("https://shop.example:8000/p", False),
        ("http://shop.example.evil:8000/p", False),
        ("http://shop.example:8000@evil/p", False),
        ("nothing", False),
    ],
)
def test_links_to_the_same_place_are_asked_with_it_and_no_others(url: str, goes: bool) -> None:
    page = again(Request(URL))
    try:
        link = Request(url)
    except ValueError:
        link = Request("about:blank")
    hand_down_login(link, page)
    assert (b"Authorization" in link.headers) is goes
    assert (m.LOGIN in link.meta) is goes


def test_a_spiders_own_header_goes_to_no_link() -> None:
    page = again(Request("http://shop.example/", headers={"Authorization": "Bearer x"}))
    link = Request("http://shop.example/p")
    hand_down_login(link, page)
    assert b"Authorization" not in link.headers


def test_nobody_is_shown_what_logs_in() -> None:
    blob = encode(
        {
            "url": URL,
            "headers": {b"Authorization": [BASIC], b"Cookie": [b"sid=word"]},
            "cookies": {"sid": "word"},
            "meta": {"proxy": "http://a:word@p:1"},
        }
    )
    for shown in (shown_fields(decode(blob)), stored_fields(b"0 d\n" + blob)):
        assert "word" not in str(shown)
        assert BASIC.decode() not in str(shown)
    assert "word" not in str(parse_note(b'{"error": "no answer of %b"}' % URL.encode()))


def test_the_page_is_the_same_whoever_asks() -> None:
    assert fingerprint(URL) == fingerprint(split_login(URL)[0])
