"""I9: whoever can write to Redis names no proxy at a private address."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.settings import Settings

from scrapy_seine import meta as m
from scrapy_seine.engine.download.private_addresses import AddressPolicy, Reach
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.local_requests import off_the_web
from scrapy_seine.engine.starting.download_handlers import own_schemes
from scrapy_seine.errors import AddressRefused
from scrapy_seine.frontier.model import Lease

URL = "http://shop.example/"
PRIVATE = "http://me:word@10.0.0.5:3128"


def leased(table: InFlightTable, **meta: Any) -> Request:
    request = Request(URL, meta=meta)
    lease = Lease(id="1", token="1", slot_ms=0, delay_ms=0, deliveries=0, stored=b"")
    table.begin(request, lease)
    return request


@pytest.fixture
def table() -> InFlightTable:
    return InFlightTable()


@pytest.fixture
def reach(table: InFlightTable, monkeypatch: pytest.MonkeyPatch) -> Reach:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)

    async def resolved(host: str) -> list[str]:
        return ["127.0.0.1"] if host in {"localhost", "0x7f000001", "127.1"} else [host]

    monkeypatch.setattr("scrapy_seine.engine.download.private_addresses.addresses_of", resolved)
    return Reach(AddressPolicy(), table)


@pytest.mark.parametrize(
    "proxy",
    [
        *(PRIVATE, "http://169.254.169.254", "http://localhost:6379", "socks5h://[::1]:9050"),
        *("http://0x7f000001:80", "http://127.1:80", "http://[::ffff:10.0.0.1]:80"),
    ],
)
async def test_a_private_proxy_is_refused_without_its_password(
    table: InFlightTable, reach: Reach, proxy: str
) -> None:
    request = leased(table, proxy=proxy)
    with pytest.raises(AddressRefused, match="is at a private address") as refused:
        await reach.check_proxy(request)
    assert "word" not in str(refused.value)
    # robots.txt would count as "there is none" if it were refused for another place than its own.
    assert refused.value.place == "shop.example:80"
    robots = Request(URL + "robots.txt", meta={"proxy": proxy, m.INSTEAD_OF: request})
    with pytest.raises(AddressRefused):
        await reach.check_proxy(robots)


async def test_the_operator_s_and_the_middlewares_own_proxies_may_be_private(
    table: InFlightTable, reach: Reach
) -> None:
    reach.trust(["http://10.0.0.5:3128"])
    await reach.check_proxy(leased(table, proxy=PRIVATE))
    chosen = leased(table)
    chosen.meta["proxy"] = "http://10.0.0.9:3128"
    await reach.check_proxy(chosen)
    await reach.check_proxy(leased(table, proxy="http://93.184.216.34:3128"))
    await Reach(AddressPolicy.parse("allow"), table).check_proxy(leased(table, proxy=PRIVATE))


async def test_an_environment_s_proxy_may_be_private(
    table: InFlightTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What HttpProxyMiddleware sets travels with a redirect of a page that it was set on."""
    monkeypatch.setenv("http_proxy", "http://10.0.0.5:3128")
    await Reach(AddressPolicy(), table).check_proxy(leased(table, proxy=PRIVATE))


@pytest.mark.parametrize("named", [None, "http://93.184.216.34:3128"])
def test_what_a_middleware_chose_is_not_stored_for_the_next_try(
    table: InFlightTable, named: str | None
) -> None:
    request = leased(table, proxy=named)
    request.meta["proxy"] = "http://10.0.0.9:3128"
    copy = request.replace()
    entry = table.entry_of(request)
    assert entry is not None
    entry.take_proxy_back(copy)
    assert copy.meta.get("proxy") == named


@pytest.mark.parametrize(
    ("proxy", "stays"),
    [
        *((PRIVATE, True), ("http://localhost:8118", True), ("socks5://tor:9050", True)),
        *(
            ("http://proxy.example:3128", False),
            ("http://93.184.216.34:3128", False),
            (None, False),
        ),
    ],
)
async def test_a_request_by_the_spider_s_own_private_proxy_stays_and_is_sent(
    table: InFlightTable, reach: Reach, proxy: str | None, *, stays: bool
) -> None:
    """The next one stays as well: other workers have not seen the spider name the proxy."""
    for _ in range(2):
        assert bool(reach.reason_to_stay(Request(URL, meta={"proxy": proxy}))) is stays
    await reach.check_proxy(leased(table, proxy=proxy))


def test_a_request_by_a_listed_private_proxy_may_go_to_any_worker(reach: Reach) -> None:
    reach.trust([PRIVATE])
    assert not reach.reason_to_stay(Request(URL, meta={"proxy": PRIVATE}))


@pytest.mark.parametrize(
    ("url", "by_start", "by_page"),
    [
        *(("http://a.example/", False, False), ("HTTPS://a.example/", False, False)),
        *(("data:,x", True, True), ("file:///etc/hosts", True, False), ("s3://b/k", True, False)),
    ],
)
def test_a_page_leads_to_no_file_but_the_spider_s_start_may(
    url: str, *, by_start: bool, by_page: bool
) -> None:
    """I9: a copy of the page's meta makes its links no start requests."""
    request = Request(url, meta={"is_start_request": True})
    assert bool(off_the_web(request, None)) is by_start
    assert bool(off_the_web(request, Request(URL))) is by_page
    assert not off_the_web(Request("file:///etc/hosts"), None)


def test_a_page_leads_to_a_scheme_that_only_the_project_has_a_handler_for() -> None:
    """Where the project replaces Scrapy's own handler of files, a page leads to no file (I9)."""
    handlers = {"DOWNLOAD_HANDLERS": {"mem": "own.Mem", "file": "own.Files", "gone": None}}
    schemes = own_schemes(Settings(handlers))

    assert schemes == {"mem"}
    assert off_the_web(Request("mem://store/1"), Request(URL), schemes)
    assert not off_the_web(Request("file:///etc/hosts"), Request(URL), schemes)
