"""I9: nothing that a site says leads to a private address, on whichever lane."""

from __future__ import annotations

import asyncio
import shutil
import socket
import time
from types import SimpleNamespace
from urllib.parse import urlparse

import pytest
from scrapy import Request

from crawler.access.browser_programs import NAMES
from crawler.cli.one_page import fetch as get_page
from scrapy_seine import meta as m
from scrapy_seine.engine.download.http.pool import Pool
from scrapy_seine.engine.download.private_addresses import AddressPolicy, Reach, policy_from
from scrapy_seine.engine.download.scrapy_client import TimedPool
from scrapy_seine.engine.download.socks_relay import DENIED, UNREACHABLE, Relay
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.errors import AddressRefused, ConfigError, SeineError
from tests.integration.access.conftest import Fetch
from tests.integration.access.raw import raw_site

PRIVATE = [
    *("127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *(
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "ff0e::1",
        "fec0::1",
    ),
    *("::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "::ffff:0:10.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1"),
    *("2001:0:53aa:64c:0:0:80ff:fffe", "2001:db8::1", "100::1", "", "localhost", "junk"),
]
PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::1"]
#: Waits for the end of a page's script.
TRIED = {"wait_for": "#tried", "wait_s": 60}
PAGE = [b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage"]


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_the_public_internet_is_private(address: str) -> None:
    assert AddressPolicy().is_private(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_the_public_internet_is_public(address: str) -> None:
    assert not AddressPolicy().is_private(address)


def test_the_operator_may_call_a_network_public_and_nothing_else() -> None:
    policy = AddressPolicy.parse("seeds", ["10.20.0.0/16"])
    assert not policy.is_private("10.20.0.1")
    assert not policy.is_private("::ffff:10.20.0.1")
    assert policy.is_private("10.21.0.1")


@pytest.mark.parametrize(
    "settings",
    [{"SEINE_PRIVATE_ADDRESSES": "some"}, {"SEINE_PUBLIC_NETWORKS": "10.0.0.1/8"}],
)
def test_a_wrong_setting_is_named(settings: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="SEINE_PRIVATE_ADDRESSES"):
        policy_from(settings)


def moved(to: str) -> list[bytes]:
    return [b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %b\r\n\r\n" % to.encode()]


@pytest.mark.parametrize("lane", ["plain", "tls"])
def test_a_redirect_reaches_no_private_address_however_it_is_written(
    fetch: Fetch, lane: str
) -> None:
    with raw_site({"/secret": PAGE, "/robots.txt": PAGE}, host="127.0.0.1") as inner:
        port = urlparse(inner.base).port
        number = int.from_bytes(bytes([127, 0, 0, 1]), "big")
        hosts = [
            *("127.0.0.1", "127.1", str(number), hex(number), "0177.0.0.1", "localhost."),
            *("[::ffff:127.0.0.1]", "0.0.0.0", "me@127.0.0.1", "127.0.0.1.", "%31%32%37.0.0.1"),
        ]
        site_answers = {f"/{n}": moved(f"http://{h}:{port}/secret") for n, h in enumerate(hosts)}
        with raw_site({**site_answers, "/ok": PAGE}, host="127.0.0.2") as outer:
            requests = [
                {"url": f"{outer.base}/{n}", "meta": {"lane": lane}} for n in range(len(hosts))
            ]
            requests.append({"url": f"{outer.base}/ok", "meta": {"lane": lane}})
            fetched = fetch(*requests)
            assert inner.asked == []
            assert len(outer.asked) == len(requests)
    *refused, good = fetched.answers
    assert good["status"] == 200
    told = [answer.get("error", "") for answer in refused]
    assert all(told), fetched.answers
    assert told[0].startswith("AddressRefused: 127.0.0.1")


def test_a_seeds_own_host_and_port_may_be_private_and_deny_means_none(fetch: Fetch) -> None:
    with raw_site({"/": moved("/in"), "/in": PAGE}) as site:
        assert fetch({"url": site.base + "/"}).answers[0]["status"] == 200
        answer = fetch({"url": site.base + "/"}, SEINE_PRIVATE_ADDRESSES="deny").answers[0]
        assert answer["error"].startswith("AddressRefused")
        assert answer["error"].endswith("=deny does not allow here; =allow does")
        assert len(site.asked) == 2
        with raw_site({"/": moved(site.base + "/in")}) as other:
            assert (
                fetch({"url": other.base + "/"}, SEINE_PRIVATE_ADDRESSES="allow").answers[0][
                    "status"
                ]
                == 200
            )


def test_what_a_seed_leads_to_may_reach_what_the_seed_may() -> None:
    reach = Reach(AddressPolicy(), InFlightTable())
    seed = Request("http://shop.internal:8000/")
    assert reach.permits(seed, "10.0.0.1")
    reach.record_host(seed, "10.0.0.1")
    child: dict[str, object] = {m.DEPTH: 1}
    m.complete(child, seed.meta)
    assert reach.permits(Request("http://shop.internal:8000/p", meta=child), "10.0.0.1")
    for url in ("http://shop.internal:8001/", "http://shop.internal/", "http://other:8000/"):
        assert not reach.permits(Request(url, meta=child), "10.0.0.1")
        assert reach.permits(Request(url, meta=child), "8.8.8.8")


def test_a_name_that_was_public_never_becomes_private() -> None:
    reach = Reach(AddressPolicy(), InFlightTable())
    seed = Request("http://shop.example/")
    reach.record_host(seed, "93.184.216.34")
    again = Request("http://shop.example/2")
    child: dict[str, object] = {m.DEPTH: 1}
    m.complete(child, seed.meta)
    assert m.HOME not in child
    for request in (
        seed,
        again,
        seed.replace(url="http://shop.example/3"),
        Request("http://shop.example/p", meta=child),
    ):
        assert not reach.permits(request, "127.0.0.1")


def test_a_host_whose_robots_txt_was_public_never_becomes_private() -> None:
    reach = Reach(AddressPolicy(), InFlightTable())
    seed = Request("http://shop.example/")
    robots = Request("http://shop.example/robots.txt", meta={m.HOME: reach.home_of(seed)})
    reach.record_host(robots, "93.184.216.34")
    assert not reach.permits(seed, "127.0.0.1")
    assert not reach.permits(robots, "127.0.0.1")
    assert reach.home_of(seed) == ""  # the browser and the TLS lane get it
    reach.record_host(seed, "93.184.216.34")
    assert seed.meta[m.HOME] == ""


def test_a_host_with_a_public_address_has_no_private_one() -> None:
    reach = Reach(AddressPolicy(), InFlightTable())
    seed = Request("http://shop.example/")
    assert reach.permitted(seed, ["10.0.0.1", "93.184.216.34"]) == ["93.184.216.34"]
    assert reach.permitted(seed, ["10.0.0.1", "10.0.0.2"]) == ["10.0.0.1", "10.0.0.2"]
    free = Reach(AddressPolicy.parse("allow"), InFlightTable())
    assert free.permitted(seed, ["10.0.0.1", "93.184.216.34"]) == ["10.0.0.1", "93.184.216.34"]


async def test_a_page_in_the_browser_reaches_no_name_that_becomes_private(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: its script asks its own host again."""
    with socket.create_server(("127.0.0.1", 0)) as inner:
        port = inner.getsockname()[1]
        with socket.create_server(("127.0.0.2", port)):
            relay = Relay(Reach(AddressPolicy.parse("seeds", ["127.0.0.2/32"]), InFlightTable()))
            addresses = iter(["127.0.0.2", "127.0.0.1"])

            async def rebound(host: str, port: int, **_: object) -> list[object]:
                return [(0, 0, 0, "", (next(addresses), port))]

            monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", rebound)
            home = f"shop.example:{port}"
            public = await relay._connect(home, "shop.example", port)
            assert not isinstance(public, int)
            public[1].close()
            assert await relay._connect(home, "shop.example", port) == DENIED
            assert relay.failure(home, home, 0) == "127.0.0.1"


async def test_a_place_that_does_not_answer_hides_no_refusal_of_it() -> None:
    """`127.0.0.1` and `127.0.0.1.` are one place, and no resolver knows the second."""
    relay = Relay(Reach(AddressPolicy(), InFlightTable()))
    began = time.monotonic()
    assert await relay._connect("", "127.0.0.1", 9) == DENIED
    assert await relay._connect("", "127.0.0.1.", 9) == UNREACHABLE
    assert relay.failure("", "127.0.0.1:9", began) == "127.0.0.1"
    assert relay.last_refusal("", began) == ("127.0.0.1:9", "127.0.0.1")
    assert relay.failure("", "127.0.0.1:9", time.monotonic() + 1) is None


@pytest.mark.parametrize("peer", ["127.0.0.1", "93.184.216.34"])
def test_scrapys_client_checks_the_address_that_it_is_connected_to(peer: str) -> None:
    """DNS rebinding: without Scrapy's cache of names it looks the name up again."""
    closed: list[bool] = []
    transport = SimpleNamespace(
        getPeer=lambda: SimpleNamespace(host=peer), loseConnection=lambda: closed.append(True)
    )
    connection = SimpleNamespace(transport=transport)
    pool = TimedPool(SimpleNamespace(), persistent=True)  # type: ignore[no-untyped-call]
    pool.reach = Reach(AddressPolicy(), InFlightTable())
    request = Request("http://shop.example/p", meta={m.DEPTH: 1})
    if peer == "127.0.0.1":
        with pytest.raises(AddressRefused):
            pool._check_peer(connection, request)
        assert closed
    else:
        assert pool._check_peer(connection, request) is connection


async def test_a_dead_first_address_costs_a_quarter_of_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """RFC 8305: a listener whose queue is full answers no SYN, as a dead host does."""
    with socket.socket() as dead, socket.create_server(("127.0.0.4", 0)) as alive:
        port = alive.getsockname()[1]
        dead.bind(("127.0.0.3", port))
        dead.listen(0)
        fillers = []
        for _ in range(3):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.3", port))
            fillers.append(filler)

        async def both(host: str) -> list[str]:
            return ["127.0.0.3", "127.0.0.4"]

        monkeypatch.setattr("scrapy_seine.engine.download.http.pool.all_addresses_of", both)
        pool = Pool(2, lambda: pytest.fail("no TLS"))
        began = time.monotonic()
        made = await asyncio.wait_for(pool.connect(urlparse(f"http://x:{port}/"), 120, list), 120)
        assert time.monotonic() - began < 30  # one after the other would share the limit
        assert str(made.address) == "127.0.0.4"
        made.abort()
        pool.close()
        for filler in fillers:
            filler.close()


async def test_only_permitted_addresses_are_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: a name with a public and a private address."""
    with socket.create_server(("127.0.0.1", 0)) as inner:
        port = inner.getsockname()[1]
        with socket.create_server(("127.0.0.2", port)):

            async def both(host: str) -> list[str]:
                return ["127.0.0.1", "127.0.0.2"]

            monkeypatch.setattr("scrapy_seine.engine.download.http.pool.all_addresses_of", both)
            reach = Reach(AddressPolicy.parse("seeds", ["127.0.0.2/32"]), InFlightTable())
            pool = Pool(2, lambda: pytest.fail("no TLS"))
            link = Request(f"http://x:{port}/", meta={m.DEPTH: 1})
            parts = urlparse(link.url)
            made = await pool.connect(parts, 5, lambda found: reach.permitted(link, found))
            assert str(made.address) == "127.0.0.2"
            made.abort()
            strict = Reach(AddressPolicy(), InFlightTable())
            with pytest.raises(AddressRefused):
                await pool.connect(parts, 5, lambda found: strict.permitted(link, found))
            inner.settimeout(0.1)
            with pytest.raises(TimeoutError):
                inner.accept()
            pool.close()


@pytest.mark.browser
@pytest.mark.parametrize("browser", list(NAMES))
def test_a_page_in_the_browser_reaches_no_private_address(fetch: Fetch, browser: str) -> None:
    """Neither by a redirect, nor by what the page loads or its script asks for, nor by UDP."""
    if not any(map(shutil.which, NAMES[browser])):
        pytest.skip(f"{browser} is not installed")
    with (
        raw_site({"/secret": PAGE, "/pixel": PAGE, "/api": PAGE}, host="127.0.0.1") as inner,
        socket.socket(type=socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(("127.0.0.1", 0))
        page = (
            f"<title>x</title><img src='{inner.base}/pixel'><iframe src='{inner.base}/secret'>"
            f"</iframe><script>const url = 'stun:127.0.0.1:{datagrams.getsockname()[1]}'\n"
            "async function call() {\n"
            "const peer = new RTCPeerConnection({iceServers: [{urls: url}]})\n"
            "peer.createDataChannel('x'); peer.setLocalDescription(await peer.createOffer())\n"
            "await new Promise(done => peer.onicecandidate = e => e.candidate || done()) }\n"
            f"fetch('{inner.base}/api', {{mode: 'no-cors'}}).catch(() => 0).then(call)"
            ".catch(() => 0).then(() => document.body.id = 'tried')</script>"
        ).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
        answers = {"/page": [head % len(page) + page], "/moved": moved(inner.base + "/secret")}
        with raw_site(answers, host="127.0.0.2") as outer:
            fetched = fetch(
                *(
                    {"url": outer.base + path, "meta": {"lane": "browser", "render": TRIED}}
                    for path in answers
                ),
                SEINE_BROWSER=True,
                PLAYWRIGHT_BROWSER_TYPE=browser,
                SEINE_BROWSER_BLOCK=[],
            )
        assert inner.asked == []
        datagrams.setblocking(False)
        with pytest.raises(BlockingIOError):
            datagrams.recv(100)
    shown, refused = fetched.answers
    assert 'id="tried"' in shown["body"]
    assert refused["error"].startswith("AddressRefused"), refused


async def test_a_command_that_looks_at_a_page_follows_it_to_no_private_address() -> None:
    with raw_site({"/secret": PAGE}) as inner:
        answers = {"/ok": PAGE, "/moved": moved(inner.base + "/secret")}
        with raw_site(answers, host="127.0.0.2") as outer:
            policy = AddressPolicy()
            assert (await get_page(f"{outer.base}/ok", "x", policy)).body == b"page"
            with pytest.raises(SeineError):
                await get_page(f"{outer.base}/moved", "x", policy)
            assert inner.asked == []
            allowed = AddressPolicy("allow")
            assert (await get_page(f"{outer.base}/moved", "x", allowed)).body == b"page"


def test_a_redirect_to_no_url_is_an_ignored_request_with_its_reason(fetch: Fetch) -> None:
    places = ("http://[::1", "http://h:99999/", "http://h:-1/")
    with raw_site({f"/{n}": moved(place) for n, place in enumerate(places)}) as site:
        fetched = fetch(*({"url": f"{site.base}/{n}"} for n in range(len(places))))
    assert [a["error"].partition(":")[0] for a in fetched.answers] == ["IgnoreRequest"] * 3


@pytest.mark.browser
def test_a_host_that_is_down_is_no_private_address_in_the_browser(fetch: Fetch) -> None:
    """Such a page is tried again; one that may not be fetched is not."""
    if not any(map(shutil.which, NAMES["chromium"])):
        pytest.skip("chromium is not installed")
    with raw_site({}) as site:
        url = site.base + "/"
    answer = fetch({"url": url, "meta": {"lane": "browser"}}, SEINE_BROWSER=1).answers[0]
    assert answer["error"].startswith("DownloadFailedError: no connection to 127.0.0.1:")


def test_a_host_that_is_down_is_named_on_the_tls_lane(fetch: Fetch) -> None:
    with raw_site({}) as site:
        url = site.base + "/"
    answer = fetch({"url": url, "meta": {"lane": "tls"}}).answers[0]
    assert answer["error"].startswith("DownloadFailedError: no connection to 127.0.0.1:")
