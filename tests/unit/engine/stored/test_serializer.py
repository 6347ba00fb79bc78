"""A request comes back from the frontier as the spider made it, and nothing else does (I8, I9)."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest

from crawler.requested_address import requested_address
from scrapy_seine import meta as m
from scrapy_seine.engine.stored.logins import hand_down_login, origin_of
from scrapy_seine.engine.stored.serializer import (
    from_blob,
    not_before_ms,
    push_of,
    to_fields,
    to_push,
)
from scrapy_seine.errors import BadMeta, BadRequest, DecodeError, EncodeError
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.encoding.seal import Seal

URL = "http://shop.example/p/1"


class Shop(Spider):
    name = "shop"

    def parse(self, response: Any) -> None: ...

    def failed(self, failure: Any) -> None: ...


SPIDER = Shop()


def back(request: Request) -> Request:
    return from_blob(encode(to_fields(request, SPIDER)), SPIDER)


@pytest.mark.parametrize("kind", [Request, FormRequest, JsonRequest])
def test_a_request_comes_back_with_all_that_scrapy_keeps_of_it(kind: type[Request]) -> None:
    given = kind(
        URL, method="POST", body=b"\x00a", cookies={"a": "1"}, priority=-3, dont_filter=True,
        encoding="latin-1", flags=["seen"], cb_kwargs={"page": 2}, meta={"own": [1, {"b": None}]},
        headers={"X-Note": ["one", "two"]}, callback=SPIDER.parse, errback=SPIDER.failed,
    )  # fmt: skip
    found = back(given)
    assert type(found) is kind
    assert found.to_dict(spider=SPIDER) == given.to_dict(spider=SPIDER)


def test_what_is_default_is_not_stored() -> None:
    """Each byte of it would be kept for each of millions of requests."""
    assert to_fields(Request(URL), SPIDER) == {"url": URL}


def test_a_class_that_scrapy_does_not_know_is_refused() -> None:
    class Own(Request):
        pass

    with pytest.raises(EncodeError, match=r"Own is not a request class of Scrapy"):
        to_fields(Own(URL), SPIDER)


def test_another_objects_method_and_a_function_are_no_callbacks() -> None:
    for callback in (Shop().parse, lambda response: None, print):
        with pytest.raises(EncodeError, match="is not a method of spider 'shop'"):
            to_fields(Request(URL, callback=callback), SPIDER)


@pytest.mark.parametrize(
    ("chosen", "stays"),
    [({}, True), ({"_rotating_proxy": True}, False), ({"_rotating_proxy": False}, True)],
)
def test_a_proxy_that_a_middleware_chose_is_chosen_anew_for_the_next_try(
    chosen: dict[str, Any], stays: bool
) -> None:
    own = {"proxy": "http://a.example:1", "download_slot": "slow"}
    headers = {"Proxy-Authorization": "Basic eA==", "X-Note": "1"}
    fields = to_fields(Request(URL, meta={**own, **chosen}, headers=headers), SPIDER)
    assert {key: fields.get("meta", {}).get(key) for key in own} == (
        own if stays else dict.fromkeys(own)
    )
    assert (b"Proxy-Authorization" in fields["headers"]) is stays
    assert b"X-Note" in fields["headers"]


def test_what_an_identity_lent_a_request_is_not_stored() -> None:
    meta = {m.BORROWED: ["user-agent"]}
    request = Request(URL, headers={"User-Agent": "x", "Accept": "y"}, meta=meta)
    assert set(to_fields(request, SPIDER)["headers"]) == {b"Accept"}


@pytest.mark.parametrize("visitor", [True, False])
def test_what_a_browser_was_prepared_with_is_not_stored(visitor: bool) -> None:
    meta = {"browser_visitor": visitor, "playwright_include_page": True}
    fields = to_fields(Request(URL, meta=meta), SPIDER)
    assert ("playwright_include_page" in fields.get("meta", {})) is not visitor


def test_a_login_leaves_the_url_and_is_sent_as_a_header_to_that_place_alone() -> None:
    fields = to_fields(Request("http://me:word@shop.example/p"), SPIDER)
    assert fields["url"] == "http://shop.example/p"
    assert fields["headers"] == {b"Authorization": [b"Basic bWU6d29yZA=="]}
    assert fields["meta"] == {m.LOGIN: "http://shop.example"}


def test_a_login_that_was_stored_in_a_url_leaves_it_as_well() -> None:
    found = from_blob(encode({"url": "http://me:word@shop.example/p"}), SPIDER)
    assert (found.url, found.headers["Authorization"]) == (
        "http://shop.example/p", b"Basic bWU6d29yZA==",
    )  # fmt: skip
    at_sign = from_blob(encode({"url": "http://shop.example/@me"}), SPIDER)
    assert (at_sign.url, dict(at_sign.headers)) == ("http://shop.example/@me", {})


@pytest.mark.parametrize(
    ("url", "own", "handed"),
    [
        ("http://shop.example/q", {}, True),
        ("http://shop.example:80/q", {}, True),
        ("https://shop.example/q", {}, False),
        ("http://other.example/q", {}, False),
        ("ftp://shop.example/q", {}, False),
        ("http://shop.example/q", {"Authorization": "Bearer own"}, False),
    ],
)
def test_a_link_gets_its_pages_login_where_the_login_is_for(
    url: str, own: dict[str, str], handed: bool
) -> None:
    """A password goes to no other host, port or scheme."""
    page = Request(URL, headers={"Authorization": "Basic x"}, meta={m.LOGIN: "http://shop.example"})
    link = Request(url, headers=own)
    hand_down_login(link, page)
    assert (link.headers.get("Authorization") == b"Basic x") is handed
    assert link.meta.get(m.LOGIN) == ("http://shop.example" if handed else None)


def test_a_page_without_a_login_hands_none_down() -> None:
    link = Request(URL)
    hand_down_login(link, Request(URL))
    assert dict(link.headers) == {}


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({}, 0), ({"delay": 2.5}, -2500), ({"not_before": 1_800_000_000.5}, 1_800_000_000_500),
        ({"delay": 0, "not_before": 7}, 7000), ({"not_before": None}, 0), ({"delay": None}, 0),
        ({"delay": 1, "not_before": 7}, -1000),
    ],
)  # fmt: skip
def test_a_wait_is_counted_by_the_crawls_clock_and_a_time_is_absolute(
    meta: dict[str, Any], expected: int
) -> None:
    """I6: a wait is negative, and the server adds its own time to it."""
    assert not_before_ms(meta) == expected


@pytest.mark.parametrize("meta", [{"delay": "soon"}, {"delay": -1}, {"not_before": "noon"}])
def test_a_wait_that_is_none_is_refused_before_anything_is_stored(meta: dict[str, Any]) -> None:
    with pytest.raises(BadMeta):
        not_before_ms(meta)
    with pytest.raises(BadRequest, match=r"^http://shop\.example/p/1: "):
        to_push(Request(URL, meta=meta), SPIDER, fingerprint=1)


@pytest.mark.parametrize(
    "meta", [{"site_id": 7}, {"known": [1]}, {"scope": ["a"]}, {"render": "yes"}, {"lane": 3}]
)
def test_a_value_that_a_name_of_ours_may_not_have_stays_in_the_worker(meta: dict[str, Any]) -> None:
    """A project that uses the name for values of its own finds them in its callback."""
    with pytest.raises(EncodeError, match=f"meta.{next(iter(meta))} is "):
        to_push(Request(URL, meta=meta), SPIDER, fingerprint=1)


@pytest.mark.parametrize("name", ["step", "profile", "verdict"])
def test_a_plain_word_is_the_projects_own_key(name: str) -> None:
    """A key of ours that does not travel would take the project's value away without a word."""
    assert m.key_of(name) is None


def test_a_push_goes_where_its_request_goes_or_where_it_is_to_wait() -> None:
    request = Request(URL, priority=5, meta={m.JOB_ID: "a b"})
    push = to_push(request, SPIDER, fingerprint=7, force=True)
    assert (push.domain, push.fingerprint, push.force, push.priority, push.job) == (
        "shop.example", 7, True, 5, "a_b",
    )  # fmt: skip
    other = push_of(request, lambda: {"url": URL}, fingerprint=None, host="slot")
    assert (other.domain, decode(other.blob)) == ("slot", {"url": URL})


def test_a_push_is_signed_where_the_fleet_signs() -> None:
    seal = Seal("shop", ["secret"])
    push = to_push(Request(URL), SPIDER, fingerprint=1, seal=seal)
    seal.check(push.to_stored())
    with pytest.raises(DecodeError, match="not signed"):
        seal.check(to_push(Request(URL), SPIDER, fingerprint=1).to_stored())


@pytest.mark.parametrize(
    "fields",
    [
        {"encoding": "klingon"}, {"method": "GE T"}, {"method": "GET\r\nX: y"}, {"method": 7},
        {"headers": {"X-Note": 7}}, {"headers": 7}, {"meta": 7}, {"cookies": 7}, {"priority": "x"},
            {"cookies": [7]}, {"cookies": "a=1"},
        {"url": "ftp://a.example/"}, {"url": "shop"}, {"nonsense": 1}, {"_class": "scrapy.Spider"},
    ],
)  # fmt: skip
def test_a_stored_request_that_is_none_is_refused_by_its_url(fields: dict[str, Any]) -> None:
    """I8: it is set aside with a reason, and raises nothing else."""
    url = str(fields.get("url", URL))
    with pytest.raises(DecodeError) as refused:
        from_blob(encode({"url": URL, **fields}), SPIDER)
    assert str(refused.value).startswith(f"{url}: ")


@pytest.mark.parametrize("cookies", [{"a": "1"}, [{"name": "a", "value": "1"}]])
def test_cookies_come_back_in_either_form(cookies: Any) -> None:
    assert back(Request(URL, cookies=cookies)).cookies == cookies


def test_a_stored_method_is_sent_as_it_is() -> None:
    assert from_blob(encode({"url": URL, "method": "PROPFIND"}), SPIDER).method == "PROPFIND"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://shop.example:80/x", "http://shop.example"),
        ("https://shop.example:8443/", "https://shop.example:8443"),
        ("HTTPS://Shop.Example/", "https://shop.example"),
    ],
)
def test_an_origin_has_no_port_that_its_scheme_has_anyway(url: str, origin: str) -> None:
    assert origin_of(url) == origin


def test_a_product_is_stored_under_the_address_that_was_asked_for_first() -> None:
    way = {"redirect_urls": ["http://shop.example/old?b=1", "http://shop.example/newer"]}
    assert requested_address(Request(URL, meta=way)) == "http://shop.example/old?b=1"
    assert requested_address(Request(URL)) == URL
    assert requested_address(Request(URL, meta={"redirect_urls": ["http://["]})) == "http://["


def test_a_method_that_its_decorator_renamed_travels_by_its_name_in_the_spider() -> None:
    """A decorator without functools.wraps gives all its methods one name, and none is lost here."""

    def safe(method: Any) -> Any:
        def inner(self: Any, response: Any) -> Any:
            return method(self, response)

        return inner

    class Decorated(Spider):
        name = "decorated"

        @safe
        def parse(self, response: Any) -> None: ...

        @safe
        def item(self, response: Any) -> None: ...

        def inner(self, response: Any) -> None: ...

    spider = Decorated()
    for name in ("parse", "item", "inner"):
        fields = to_fields(Request(URL, callback=getattr(spider, name)), spider)
        assert fields["callback"] == name
        assert from_blob(encode(fields), spider).callback == getattr(spider, name)


def test_a_method_that_the_class_has_overridden_is_not_taken_for_the_one_over_it() -> None:
    """`super().parse` came back as `self.parse`, and the page was read by the wrong code."""

    class Sub(Shop):
        def parse(self, response: Any) -> None: ...

        @property
        def over(self) -> Any:
            return super().parse

    spider = Sub()
    with pytest.raises(EncodeError, match="has no name in spider"):
        to_fields(Request(URL, callback=spider.over), spider)


@pytest.mark.parametrize("home", ["Arsenal", "", "db:5432", 7])
def test_a_projects_own_home_is_a_value_like_any_other(home: object) -> None:
    """It was taken for the private host that a page may lead to: its links were refused."""
    found = back(Request(URL, meta={"home": home, m.HOME: "shop.internal:80"}))
    assert (found.meta["home"], found.meta[m.HOME]) == (home, "shop.internal:80")
    assert m.HOME not in back(Request(URL, meta={"home": home})).meta


def test_the_private_host_that_an_earlier_version_stored_is_read() -> None:
    found = from_blob(encode({"url": URL, "meta": {"home": "shop.internal:80"}}), SPIDER)
    assert (found.meta[m.HOME], "home" in found.meta) == ("shop.internal:80", False)
