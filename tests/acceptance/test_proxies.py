"""A fleet behind real forward proxies: a bad one hurts once, and nothing is lost."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import quote

import pytest

from crawler.demo.catalogue import catalogue
from crawler.demo.forward_proxies import Forward, forwarders
from crawler.demo.judge import judge
from scrapy_seine.urls import domain
from tests.acceptance.banning import banning_shop
from tests.acceptance.conftest import Crawl, said
from tests.acceptance.site import serve_pages
from tests.helpers import Answering, serving, wait_until

pytestmark = pytest.mark.acceptance

PRODUCTS = 120
SECRET = "hunter2"


def behind(crawl: Crawl, proxies: list[Forward], **settings: object) -> None:
    """Send the crawl's workers through these proxies."""
    crawl.workers.settings = {
        **crawl.workers.settings,
        "SEINE_PROXIES": ",".join(proxy.url for proxy in proxies),
        "SEINE_FLEET": crawl.name,
        "LOG_LEVEL": "DEBUG",
        **settings,
    }


def nothing_lost(crawl: Crawl) -> None:
    verdict = judge(catalogue(PRODUCTS), crawl.rows())
    assert verdict.passed, verdict
    logs = "\n".join(map(said, crawl.workers.workers)).splitlines()
    given_up = [line for line in logs if " gave up " in line]
    assert crawl.redis.zcard(crawl.keys.leases) == crawl.redis.zcard(crawl.keys.dead) == 0, given_up
    assert [worker.process.returncode for worker in crawl.workers.workers] == [0] * len(
        crawl.workers.workers
    )


def a_fleet_loses_nothing(
    crawl: Crawl,
    ways: list[Forward],
    workers: int,
    line: Callable[[Forward], str] = lambda way: way.url,
) -> None:
    """Crawl the shop with so many workers that are there before the seed; *line* lists a proxy."""
    with forwarders(*ways), banning_shop(PRODUCTS, set()) as shop:
        behind(crawl, [], SEINE_PROXIES=",".join(map(line, ways)), ROBOTSTXT_OBEY=False)
        for _ in range(workers):
            crawl.start_idle()
        crawl.seed(shop.url)
        crawl.wait_for_end(120)
    nothing_lost(crawl)


def no_secret_shown(crawl: Crawl) -> None:
    assert not [w.name for w in crawl.workers.workers if SECRET in said(w)]
    for key in crawl.redis.scan_iter(count=1000):
        if crawl.redis.type(key) == b"hash":
            assert SECRET.encode() not in b"".join(crawl.redis.hvals(key)), key


def test_a_banned_proxy_is_asked_once_by_the_whole_fleet(crawl: Crawl) -> None:
    ways = [
        Forward("http" if n % 2 else "socks5", f"127.0.0.{n}", user="me", secret=SECRET)
        for n in range(11, 21)
    ]
    banned = {way.exit for way in ways[:5]}
    with forwarders(*ways), banning_shop(PRODUCTS, set(banned)) as shop:
        behind(crawl, ways)
        for _ in range(4):
            crawl.start_idle()
        crawl.seed(shop.url)
        crawl.wait_for_end(90)
        asked = {address: shop.asked(address) for address in banned}
        used = {address for (address, status) in shop.visits if status == 200}

    assert set(asked.values()) == {1}, asked
    assert used == {way.exit for way in ways} - banned
    nothing_lost(crawl)
    no_secret_shown(crawl)


def test_a_fleet_with_every_proxy_banned_loses_nothing_and_ends_when_one_returns(
    crawl: Crawl,
) -> None:
    ways = [Forward("http", f"127.0.0.{n}") for n in range(31, 34)]
    rest_s = 3.0
    with forwarders(*ways), banning_shop(PRODUCTS, {way.exit for way in ways}) as shop:
        behind(
            crawl,
            ways,
            SEINE_PROXY_QUARANTINE_SECONDS=rest_s,
            SEINE_PROXY_QUARANTINE_LIMIT_SECONDS=rest_s,
        )
        crawl.seed(shop.url)
        for _ in range(4):
            crawl.start()
        wait_until(lambda: len(shop.refused_at) == 3, 60, "each proxy is banned")
        began = time.monotonic()
        wait_until(lambda: time.monotonic() - began > 2 * rest_s, 60, "two quarantines pass")
        assert crawl.redis.zcard(crawl.keys.dead) == 0
        shop.banned.discard(ways[0].exit)
        crawl.wait_for_end(120)
        refusals = dict(shop.refused_at)

    nothing_lost(crawl)
    for times in refusals.values():
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert all(gap >= rest_s * 0.95 for gap in gaps), gaps


def test_what_only_one_proxy_says_of_a_page_costs_no_page(crawl: Crawl) -> None:
    """Each try of some pages got the same proxy, so that they became dead letters."""
    names = ["oak", "elm", "ash", "fir", "yew", "box", "pine", "lime", "plum", "pear", "teak"]
    pages = {
        f"/product/{name}-lamp": f"<title>{name} lamp</title><h1>{name} lamp of {name[::-1]}</h1>"
        f"<b class=price>€ {len(name)}.00</b><form><button>Add to cart</button></form>"
        for name in names
    }
    pages["/"] = "<h1>Our lamps</h1>" + "".join(f"<a href={path}>{path}</a>" for path in pages)
    ways = [Forward("http", "127.0.0.43", mode="unchanged"), Forward("http", "127.0.0.44")]
    with forwarders(*ways), serve_pages(pages) as base:
        # A site's proxy is kept for some requests, so that each try of a page may get the same one.
        lines = ",".join(f"{way.url} pool=residential" for way in ways)
        behind(crawl, [], SEINE_PROXIES=lines, ROBOTSTXT_OBEY=False)
        crawl.seed(f"{base}/")
        crawl.start()
        crawl.wait_for_end(90)
    assert (len(crawl.rows()), crawl.redis.zcard(crawl.keys.dead)) == (len(names), 0)


@pytest.mark.parametrize("kind", ["http", "socks5"])
@pytest.mark.parametrize(
    "mode", ["garbage", "close", "cut", "auth", "rewrite", "hang", "gone", "busy"]
)
def test_a_proxy_that_misbehaves_costs_one_request_and_no_page(
    crawl: Crawl, kind: Any, mode: Any
) -> None:
    bad = Forward(kind, "127.0.0.41", user="me", secret=SECRET, mode=mode)
    ways = [bad, Forward("http", "127.0.0.42")]
    with forwarders(*ways), banning_shop(PRODUCTS, set()) as shop:
        behind(crawl, ways, DOWNLOAD_TIMEOUT=5)
        crawl.seed(shop.url)
        crawl.start()
        crawl.wait_for_end(90)
    nothing_lost(crawl)
    no_secret_shown(crawl)
    bans = re.search(r"'proxies/bans': (\d+)", said(crawl.workers.workers[0]))
    assert bans
    assert int(bans[1]) >= 1
    # One that cuts pages off passes robots.txt, so it is proven and has pages in flight by then.
    assert bad.connections <= (32 if mode == "cut" else 2)


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_each_character_of_a_proxys_login_arrives(crawl: Crawl, kind: Any) -> None:
    """With a euro sign, or a slash for SOCKS, each request failed before it was sent."""
    way = Forward(kind, "127.0.0.48", user="müller", secret="p/q#r?:@%25 €")
    with forwarders(way), banning_shop(10, set()) as shop:
        login = f"{quote(way.user, safe='')}:{quote(way.secret, safe='')}"
        behind(crawl, [], SEINE_PROXIES=f"{kind}://{login}@127.0.0.1:{way.port}")
        crawl.seed(shop.url)
        crawl.start()
        crawl.wait_for_end(60)
    assert len(crawl.rows()) == 10
    assert way.secret not in said(crawl.workers.workers[0])


def test_a_portals_answer_to_the_seed_is_not_the_shop(crawl: Crawl) -> None:
    """It has another site's few links: the crawl ended with a warning alone."""
    ways = [Forward("http", f"127.0.0.{n}", mode="portal", misbehaves=1) for n in (43, 44)]
    with forwarders(*ways), banning_shop(PRODUCTS, set()) as shop:
        behind(crawl, ways, ROBOTSTXT_OBEY=False)
        crawl.seed(f"{shop.url}/c/kettles")
        crawl.start()
        crawl.wait_for_end(90)
    nothing_lost(crawl)


def test_a_portal_that_leads_to_its_login_is_banned_and_not_followed(crawl: Crawl) -> None:
    bad = Forward("http", "127.0.0.43", mode="login")
    ways = [bad, Forward("http", "127.0.0.44"), Forward("http", "127.0.0.45")]
    with forwarders(*ways), banning_shop(PRODUCTS, set()) as shop:
        behind(crawl, ways, ROBOTSTXT_OBEY=False)
        crawl.seed(shop.url)
        crawl.start()
        crawl.wait_for_end(90)
    nothing_lost(crawl)
    assert 0 < bad.connections <= 20


@pytest.mark.parametrize("mode", ["portal", "login"])
def test_proxies_of_an_ended_account_lose_no_page(crawl: Crawl, mode: Any) -> None:
    """Two of them agree on their answer: a third of the shop was read from them alone."""
    ended = [Forward("http", f"127.0.0.{n}", mode=mode) for n in range(81, 87)]
    ways = ended + [Forward("http", f"127.0.0.{n}") for n in range(91, 97)]
    a_fleet_loses_nothing(
        crawl, ways, 2, lambda way: f"{way.url} provider={'ended' if way in ended else 'good'}"
    )


def test_a_fleet_behind_a_portal_loses_no_page(crawl: Crawl) -> None:
    """Each of its workers believed the portal once, and then the proxy was banned."""
    ways = [Forward("http", "127.0.0.51", mode="portal")]
    ways += [Forward("http", f"127.0.0.{n}") for n in (52, 53)]
    a_fleet_loses_nothing(crawl, ways, 8)


def test_no_crawl_ends_while_pages_of_a_portal_are_to_be_fetched_again(crawl: Crawl) -> None:
    """The worker that had found them was killed before they were in the frontier."""
    with forwarders(Forward("http", "127.0.0.61")) as ways, banning_shop(20, set()) as shop:
        behind(crawl, ways, ROBOTSTXT_OBEY=False)
        site = domain(shop.url)
        key = f"{{{crawl.name}}}:proxies:doubtful:{crawl.name}"
        crawl.redis.zadd(f"{key} {site}", {f"0 {shop.url}/c/kettles?page=1": 2e15})
        crawl.redis.hset(key, site, json.dumps({"site_id": crawl.name}))
        crawl.seed(f"{shop.url}/cart")
        crawl.start()
        crawl.wait_for_end(90)
        assert not crawl.redis.exists(f"{key} {site}")
    assert "'proxies/pages_fetched_again': 1" in said(crawl.workers.workers[0])
    assert crawl.rows()


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("mode", ["portal", "login"])
def test_the_only_proxys_own_answers_are_no_pages(crawl: Crawl, mode: Any, workers: int) -> None:
    """A crawl behind a portal ended without a row, a dead letter or an error."""
    ways = [Forward("http", "127.0.0.46", mode=mode)]
    with forwarders(*ways), banning_shop(PRODUCTS, set()) as shop:
        behind(crawl, ways, ROBOTSTXT_OBEY=False, RETRY_TIMES=1)
        crawl.seed(shop.url)
        for _ in range(workers):
            crawl.start()
        crawl.wait_for_end(90)
    assert not crawl.rows()
    assert crawl.redis.zcard(crawl.keys.dead) >= 1
    assert any("answered as a host that does not exist" in said(w) for w in crawl.workers.workers)


def test_the_only_proxy_that_answers_itself_for_a_time_loses_no_page(crawl: Crawl) -> None:
    """Its first connections show the seed nothing of a shop, and the host that does not exist."""
    ways = [Forward("http", "127.0.0.47", mode="portal", misbehaves=6)]
    with forwarders(*ways), banning_shop(PRODUCTS, set()) as shop:
        behind(crawl, ways, ROBOTSTXT_OBEY=False)
        crawl.seed(shop.url)
        crawl.start()
        crawl.wait_for_end(90)
    nothing_lost(crawl)


@pytest.mark.parametrize(
    ("status", "gone", "unknown"),
    [
        (200, b"<html><h1>Sorry, sold out</h1>", b"<html><h1>No such host</h1>"),
        (404, b"<html><h1>404 Not Found</h1>nginx", b"<html><h1>404 Not Found</h1>nginx"),
        (404, b"", b""),
        (200, b'{"items":[],"total":0}', b'{"error":"no-such-host","code":502}'),
    ],
)
def test_a_site_that_repeats_itself_is_believed_through_the_only_proxy(
    crawl: Crawl, status: int, gone: bytes, unknown: bytes
) -> None:
    """Its proxy shows a page of its own for hosts that do not exist, as some resolvers do."""

    class Shop(Answering):
        def do_GET(self) -> None:
            body = unknown if ".invalid" in self.path else gone
            is_front = self.path.endswith("shop.example/")
            is_there = is_front or self.path.endswith("/3")
            if is_there:
                body = b"<html><h1>Lamp</h1><p>A lamp of brass for the table</p>"
                body = b"<html><h1>Welcome</h1><p>We sell lamps</p>" if is_front else body
            self.answer(200 if is_there else status, body)

    with serving(Shop) as proxy:
        behind(crawl, [], SEINE_PROXIES=proxy, ROBOTSTXT_OBEY=False)
        crawl.seed(*(f"http://shop.example/p/{n}" for n in range(20)))
        crawl.start()
        crawl.wait_for_end(60)
    assert crawl.redis.zcard(crawl.keys.dead) == 0
    assert crawl.total("done") >= 20


@pytest.mark.parametrize(
    ("status", "ended"),
    [
        (404, b"<html><h1>This zone was not found</h1>"),
        (200, b"<html><h1>Your plan has ended</h1><p>Buy more traffic to go on</p>"),
        (200, b'{"error":"quota exceeded","message":"your plan has ended, please upgrade"}'),
    ],
)
def test_the_only_proxy_whose_account_ends_reports_no_page_as_read_or_gone(
    crawl: Crawl, status: int, ended: bytes
) -> None:
    """It reports an error for a host that does not exist: live products were marked as gone."""

    class Gateway(Answering):
        asked: ClassVar[list[str]] = []

        def do_GET(self) -> None:
            is_unknown = ".invalid" in self.path
            self.asked += [] if is_unknown else [self.path]
            is_over = len(self.asked) > 8 and not is_unknown
            page = b"<html><h1>%s</h1><p>A lamp of brass</p>" % self.path[-2:].encode()
            body = ended if is_over else b"<h1>no such host</h1>" if is_unknown else page
            self.answer(502 if is_unknown else status if is_over else 200, body)

    with serving(Gateway) as proxy:
        behind(crawl, [], SEINE_PROXIES=proxy, ROBOTSTXT_OBEY=False, RETRY_TIMES=1)
        crawl.seed(*(f"http://shop.example/p/{n}" for n in range(20)))
        crawl.start()
        crawl.wait_for_end(90)
    assert crawl.redis.zcard(crawl.keys.dead) >= 12
    assert "http://shop.example/" in Gateway.asked


@pytest.mark.parametrize("is_moved", [True, False])
def test_a_site_that_leads_each_page_elsewhere_is_believed_through_the_only_proxy(
    crawl: Crawl, is_moved: bool
) -> None:
    """Its front page leads there, too, so that no page of it was read."""

    class Site(Answering):
        def do_GET(self) -> None:
            body, target = b"<html><h1>Lamp</h1><p>A lamp of brass", ""
            if is_moved and "//old.example/" in self.path:
                body, target = b"", self.path.replace("//old", "//new")
            elif self.path.endswith("old.example/"):
                body, target = b"", f"{self.path}en/"
            status = 502 if ".invalid" in self.path else 301 if target else 200
            self.answer(status, body, location=target)

    with serving(Site) as proxy:
        behind(crawl, [], SEINE_PROXIES=proxy, ROBOTSTXT_OBEY=False, RETRY_TIMES=1)
        pages = ["p/1", "p/2"] if is_moved else [""]
        crawl.seed(*(f"http://old.example/{page}" for page in pages))
        crawl.start()
        crawl.wait_for_end(60)
    assert crawl.redis.zcard(crawl.keys.dead) == 0


@pytest.mark.parametrize("is_cut", [True, False])
def test_no_page_is_believed_that_the_only_proxy_cut_or_took_from_another_address(
    crawl: Crawl, is_cut: bool
) -> None:
    """A third of the products was missing, or had the values of others, and nothing was said."""
    names = {n: f"Lamp of {w}" for n, w in enumerate(("brass", "oak", "glass", "iron", "wool"))}

    class Cache(Answering):
        asked: ClassVar[list[str]] = []

        def do_GET(self) -> None:
            path = self.path.removeprefix("http://shop.example")
            if "." in path:
                # No other host and no file (robots.txt, a sitemap) is there, and none is cut.
                self.answer(502 if ".invalid" in path else 404, b"")
                return
            self.asked.append(path)
            # The odd answers come at a page's first request, and at its third.
            is_odd = self.asked.count(path) in {1, 3}
            page = self._page((path.removeprefix("/p/") if path != "/" else ""), is_odd)
            self.answer(200, page)

        def _page(self, number: str, is_odd: bool) -> bytes:
            n = (int(number) + is_odd * (not is_cut)) % 5 if number.isdigit() else -1
            text = "".join(f"<a href=/p/{n}>{name}</a>" for n, name in names.items())
            if n >= 0:
                text = f"<link rel=canonical href=/p/{n}><h1>{names[n]}</h1><p>SKU: L{n}</p>"
                text += f"<p class=price>${n + 5}.00</p><button>Add to cart</button>"
            page = f"<html><title>Shop</title><body>{text}<footer>Shop</footer></body></html>"
            return page[: len(page) // 2].encode() if is_odd and is_cut else page.encode()

    with serving(Cache) as proxy:
        behind(crawl, [], SEINE_PROXIES=proxy)
        crawl.seed("http://shop.example/")
        crawl.start()
        crawl.wait_for_end(90)
    assert {row["url"][-1]: row["name"] for row in crawl.rows()} == {
        str(n): name for n, name in names.items()
    }


def test_a_site_that_refuses_the_cheap_proxies_is_asked_through_better_ones(crawl: Crawl) -> None:
    ways = [Forward("http", f"127.0.0.{n}") for n in range(71, 75)]
    cheap = {way.exit for way in ways[:2]}
    with forwarders(*ways), banning_shop(PRODUCTS, set(cheap)) as shop:
        lines = [way.url for way in ways[:2]] + [f"{w.url} pool=residential" for w in ways[2:]]
        behind(
            crawl,
            [],
            SEINE_PROXIES=",".join(lines),
            SEINE_PROXY_POOL="datacenter",
            SEINE_LADDER="on",
            SEINE_IDENTITY="chrome-windows",
        )
        crawl.seed(shop.url)
        crawl.start()
        crawl.start()
        crawl.wait_for_end(90)
        used = {address for (address, status) in shop.visits if status == 200}
        refused = {address: shop.asked(address) for address in cheap}
    nothing_lost(crawl)
    assert used == {way.exit for way in ways} - cheap
    assert set(refused.values()) == {1}
