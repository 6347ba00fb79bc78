"""One visitor, one browser, whole; and nothing of it stays on the request."""

from __future__ import annotations

import pytest
from scrapy import Request, Spider

from crawler.access.identities import candidates, fetch_site, identities_of, pick, profiles
from middlewares.identities import Profiles, dress
from scrapy_seine import meta as m
from scrapy_seine.engine.stored.serializer import to_fields
from scrapy_seine.errors import ConfigError

HINTS = {"sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"}


@pytest.mark.parametrize("profile", profiles().values(), ids=lambda p: p.name)
def test_a_profile_does_not_contradict_itself(profile) -> None:
    headers = dict(profile.headers)
    agent = profile.user_agent
    marks = {"chrome": "Chrome/", "edge": "Edg/", "firefox": "Firefox/", "safari": "Version/"}
    assert marks[profile.browser] in agent
    assert ("Mobile" in agent) == (profile.device == "mobile")
    # Only browsers built on Chromium send client hints, and theirs name the same version.
    assert (
        set(headers) >= HINTS if profile.browser in {"chrome", "edge"} else not HINTS & set(headers)
    )
    if profile.browser in {"chrome", "edge"}:
        version = agent.split("Chrome/")[1].split(".")[0]
        assert f'"Chromium";v="{version}"' in (headers["sec-ch-ua"] or "")
        assert (headers["sec-ch-ua-mobile"] == "?1") == (profile.device == "mobile")
    assert any(c.isdigit() for c in profile.emulation["profile"])
    assert profile.emulation["profile"].lower().startswith(profile.browser)


def test_there_are_the_four_browsers_and_both_devices() -> None:
    assert {p.browser for p in profiles().values()} == {"chrome", "edge", "firefox", "safari"}
    assert {p.device for p in profiles().values()} == {"desktop", "mobile"}


def test_a_visitor_keeps_his_browser_and_visitors_differ() -> None:
    names = candidates("browser")
    assert pick(names, "shop.example proxy-1") is pick(names, "shop.example proxy-1")
    assert len({pick(names, f"shop.example proxy-{i}").name for i in range(60)}) == len(names)


@pytest.mark.parametrize(
    ("url", "referer", "site"),
    [
        ("https://a.example/", "", "none"),
        ("https://a.example/2", "https://a.example/1", "same-origin"),
        ("https://www.a.example/", "https://a.example/", "same-site"),
        ("https://a.example/", "https://b.example/", "cross-site"),
    ],
)
def test_sec_fetch_site_follows_the_navigation(url: str, referer: str, site: str) -> None:
    assert fetch_site(url, referer) == site
    for profile in profiles().values():
        assert dict(profile.headers_for(url, referer=referer))["sec-fetch-site"] == site


def test_languages_follow_the_country_of_the_way_out() -> None:
    chrome, safari = profiles()["chrome-windows"], profiles()["safari-macos"]
    assert chrome.languages("fr") == "fr-FR,fr;q=0.9,en-US;q=0.8,en;q=0.7"
    assert safari.languages("FR") == "fr-FR,fr;q=0.9"
    assert chrome.languages("") == chrome.languages("ZZ") == "en-US,en;q=0.9"


def test_an_unknown_identity_is_named() -> None:
    with pytest.raises(ConfigError, match="netscape"):
        candidates("netscape")


def test_a_dressed_request_has_the_browsers_headers_in_the_browsers_order() -> None:
    request = Request(
        "https://a.example/2",
        headers={"User-Agent": "mine", "X-Token": "1", "Referer": "https://a.example/1"},
    )
    profile = profiles()["chrome-windows"]
    dress(request, profile)
    sent = [name.decode().lower() for name in request.headers]
    ordered = [name for name, value in profile.headers if value or name == "referer"]
    assert sent == [*ordered, "x-token"]
    assert request.headers["User-Agent"].decode() == profile.user_agent


def test_borrowed_headers_do_not_travel_with_the_request() -> None:
    request = Request(
        "https://a.example/", headers={"X-Token": "1", "Referer": "https://a.example/1"}
    )
    dress(request, profiles()["firefox-linux"])
    fields = to_fields(request, Spider("x"))
    assert fields["headers"] == {b"X-Token": [b"1"], b"Referer": [b"https://a.example/1"]}
    assert m.BORROWED not in fields.get("meta", {})


def test_a_site_that_chose_nothing_meets_the_robot() -> None:
    middleware = Profiles("bot", {"shop.example": "firefox"}, cookies=True)
    other, chosen = Request("https://other.example/"), Request("https://shop.example/")
    middleware.process_request(other)
    middleware.process_request(chosen)
    assert not other.headers
    assert not other.meta
    assert b"Firefox" in chosen.headers["User-Agent"]
    assert chosen.meta["cookiejar"] == "shop.example direct"


def test_cookies_change_with_the_way_out() -> None:
    middleware = Profiles("browser", {}, cookies=True)
    request = Request("https://shop.example/", meta={"proxy_id": "p1"})
    middleware.process_request(request)
    request.meta["proxy_id"] = "p2"
    middleware.process_request(request)
    assert request.meta["cookiejar"] == "shop.example p2"


def test_a_site_file_may_choose_for_its_site() -> None:
    class Files:
        @staticmethod
        def identities() -> set[str]:
            return {"firefox"}

    assert identities_of({}, object()) == ("bot", {}, False)
    assert identities_of({}, Files) == ("bot", {}, True)
    assert identities_of({"SEINE_IDENTITIES": '{"a.example": "chrome"}'}, None)[1:] == (
        {"a.example": "chrome"},
        True,
    )
    with pytest.raises(ConfigError, match="netscape"):
        identities_of({"SEINE_IDENTITY": "netscape"}, None)
