"""Lists of proxies: each form is read, a bad line costs itself only, and no secret is shown."""

from __future__ import annotations

import pytest

from crawler.access.proxies.list_format import parse


@pytest.mark.parametrize(
    ("line", "url"),
    [
        ("203.0.113.7:8080", "http://203.0.113.7:8080"),
        ("proxy.example:8080:user:pa:ss", "http://user:pa%3Ass@proxy.example:8080"),
        ("user:pass@proxy.example:8080", "http://user:pass@proxy.example:8080"),
        ("https://proxy.example:8443/", "https://proxy.example:8443"),
        ("socks5://user:p%40ss@proxy.example:1080", "socks5://user:p%40ss@proxy.example:1080"),
        ("http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080"),
    ],
)
def test_each_form_of_a_line_is_read(line: str, url: str) -> None:
    proxies, bad = parse([line])
    assert (bad, [p.url for p in proxies]) == ([], [url])
    assert (proxies[0].pool, proxies[0].country, proxies[0].provider) == ("datacenter", "", "")


def test_a_line_says_what_kind_of_proxy_it_is() -> None:
    proxy = parse(["p.example:1 pool=residential country=de provider=acme"])[0][0]
    assert (proxy.pool, proxy.country, proxy.provider) == ("residential", "DE", "acme")


def test_exits_of_a_gateway_differ_by_their_credentials() -> None:
    proxies, _ = parse(
        ["http://u-{session}:s@gw.example:7 sessions=3", "http://other:s@gw.example:7"]
    )
    assert len({p.id for p in proxies}) == 4
    assert [p.pool for p in proxies] == ["gateway", "gateway", "gateway", "datacenter"]


def test_a_gateway_that_is_asked_by_a_url_shows_no_key() -> None:
    line = "https://api.gw.example/v1?api_key=s3cret-{session}&url={url}&render=true sessions=2"
    proxies, bad = parse([line, "http://gw.example:8080/?url={url}&k=2"])
    assert bad == []
    assert [p.id.partition("#")[0] for p in proxies] == [
        *["api.gw.example:443"] * 2,
        "gw.example:8080",
    ]
    assert {p.pool for p in proxies} == {"gateway"}
    assert all(p.is_gateway for p in proxies)
    assert "s3cret" not in repr(proxies) + "".join(p.id for p in proxies)


@pytest.mark.parametrize(
    "line",
    [
        "https://gw.example/{url}",
        "https://{url}/?k=1",
        "https://gw.example/?k=1&url={url}#x",
        "https://me:word@gw.example/?url={url}",
        "socks5://gw.example:1/?url={url}",
        "gw.example/?url={url}",
        "https:///?url={url}",
        "https://gw.example:x/?url={url}",
        "https://gw.example/?k=ключ&url={url}",
        "https://gw.example/?country={country}&url={url}",
        "https://gw.example/?k=<key>&url={url}",
        "nonsense",
        "p.example",
        "p.example:http",
        "p.example:99999",
        "ftp://p.example:21",
        "http://:8080",
        "http://p.example:80/path",
        "http://u:pa/ss@p.example:80",
        "p.example:80 pool=mobile",
        "p.example:80 country=Germany",
        "p.example:80 something",
        "http://u{session}@p.example:80 sessions=0",
        "http://u-{sessionid}:p@p.example:80",
        "http://[p:80",
    ],
)
def test_a_bad_line_is_named_by_its_number_and_the_others_are_used(line: str) -> None:
    proxies, bad = parse(["# ours", "", "a.example:1", line, "b.example:2", "a.example:1"])
    assert [p.url for p in proxies] == ["http://a.example:1", "http://b.example:2"]
    assert [b.number for b in bad] == [4]
    assert bad[0].reason


@pytest.mark.parametrize("path", ["/etc/proxies.txt", "./proxies.txt", "~/proxies", "proxies.txt"])
def test_a_files_path_in_the_place_of_an_address_names_its_setting(path: str) -> None:
    """ "The address names no host" told nobody that SEINE_PROXIES takes no path."""
    _, (bad,) = parse([path])
    assert "SEINE_PROXIES_PATH" in bad.reason


def test_a_comment_may_stand_behind_a_proxy() -> None:
    proxies, bad = parse(["a.example:1 # the good one", "b.example:2:me:a#b country=DE #paid"])
    assert [(p.url, p.country) for p in proxies] == [
        ("http://a.example:1", ""),
        ("http://me:a%23b@b.example:2", "DE"),
    ]
    assert not bad


def test_no_secret_is_shown() -> None:
    proxies, bad = parse(
        ["http://me:hunter2@p.example:1", "me:hunter2/x@p.example:1", "h:1:me:hunter2 x"]
    )
    shown = f"{proxies} {[p.id for p in proxies]} {bad}"
    assert len(bad) == 2
    assert "hunter2" not in shown
    assert "me:" not in shown
