"""A request made the short way is the one that Scrapy makes."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scrapy import Request

from scrapy_seine.engine.stored.serializer import _SAFE_URL, _check_head, make_request
from scrapy_seine.errors import DecodeError

HOSTS = st.text(string.ascii_lowercase + string.digits + ".-", min_size=1, max_size=70)
PORTS = st.one_of(st.just(""), st.integers(0, 99999).map(lambda port: f":{port}"))
PLACES = st.text(string.ascii_letters + string.digits + "/._~:@!$&'()*+,;=%-?#[]|\\^ ", max_size=40)


@settings(max_examples=500, deadline=None)
@given(scheme=st.sampled_from(["http", "https"]), host=HOSTS, port=PORTS, place=PLACES)
def test_a_url_taken_as_it_is_is_one_that_scrapy_leaves_alone(
    scheme: str, host: str, port: str, place: str
) -> None:
    url = f"{scheme}://{host}{port}/{place}"
    assume(_SAFE_URL.fullmatch(url))
    assert Request(url).url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/p/red-lamp_12.html?v=1&w=%20#part",
        "http://a.example/é?q=ü",
        "http://a.example/a b|c",
        "HTTP://A.example:80/",
        "http://a.example/it's?q='x'",
        "http://[::1]:8000/x",
        "http://a.example",
    ],
)
def test_every_url_becomes_what_scrapy_makes_of_it(url: str) -> None:
    assert make_request(Request, url).url == Request(url).url


def test_what_else_a_request_has_is_kept() -> None:
    given_ = {"url": "http://a.example/x", "meta": {"a": 1}, "priority": 3, "method": "POST"}
    assert make_request(Request, **given_).to_dict() == Request(**given_).to_dict()  # type: ignore[arg-type]


def test_a_url_that_is_to_stay_as_it_is_says_so_for_good() -> None:
    request = make_request(Request, "http://a.example/x y", {"verbatim_url": True})
    assert (request.url, request.meta) == ("http://a.example/x y", {"verbatim_url": True})


@pytest.mark.parametrize("wrong", ["\r", "\n", "\0", b"\r", b"\n", b"\0"])
def test_a_stored_header_stays_on_its_line(wrong: str | bytes) -> None:
    text: str | bytes = "a" + wrong + "b" if isinstance(wrong, str) else b"a" + wrong + b"b"
    for headers in ({"X-Note": text}, {"X-Note": [b"right", text]}, {text: "right"}):
        with pytest.raises(DecodeError, match="line break"):
            _check_head({"headers": headers})
    _check_head({"headers": {b"X-Note": [b"right", "\x0b\x0e\x01"]}, "method": "PUT"})
