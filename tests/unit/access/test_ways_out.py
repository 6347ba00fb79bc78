"""A proxy's own redirect to another site is none of the site's, and a site may lead elsewhere."""

from __future__ import annotations

import random
from typing import Any

import attrs
import pytest

from crawler.access.proxies.ways_out import Led, WaysOut

SHOP, LOGIN = "shop.example", "hotel.example"


def to(target: str, proxy: str, looks: int = 0, **fields: Any) -> Led:
    return Led(target, proxy, proxy, looks, **fields)


def test_a_site_that_leads_elsewhere_through_two_proxies_is_believed() -> None:
    ways = WaysOut()
    assert ways.judge(SHOP, to(LOGIN, "one"), None) == "again"
    assert ways.judge(SHOP, to(LOGIN, "two"), to(LOGIN, "one", 1)) == "page"
    assert ways.judge(SHOP, to(LOGIN, "one"), None) == "page", "its next page costs no second look"
    assert ways.judge("other.example", to(LOGIN, "one"), None) == "again"
    verdicts = [ways.judge(SHOP, to(LOGIN, "one"), None) for _ in range(30)]
    assert 0 < verdicts.count("again") < 30, "the two may be of one kind"


def test_a_proxy_that_alone_leads_elsewhere_is_not_believed_again() -> None:
    ways = WaysOut()
    assert ways.judge(SHOP, to(LOGIN, "one"), None) == "again"
    ways.contradict(SHOP, to(LOGIN, "one", 1))
    assert ways.judge(SHOP, to(LOGIN, "one"), None) == "no page"
    assert ways.judge("other.example", to(LOGIN, "one"), None) == "no page"
    assert ways.judge(SHOP, to(LOGIN, "two"), None) == "again"


def test_two_proxies_of_one_source_are_one_witness() -> None:
    """The exits of one gateway, whose account has ended, agreed on its login."""
    ways = WaysOut()
    first = Led(LOGIN, "exit-1", "gateway", 1)
    assert ways.judge(SHOP, Led(LOGIN, "exit-2", "gateway"), first) == "again"
    assert ways.judge(SHOP, to(LOGIN, "other"), first) == "page"


def test_what_nothing_proves_is_followed_and_is_no_good_use_of_a_proxy() -> None:
    """A good use ended the ban that another worker had proven."""
    ways = WaysOut()
    assert ways.judge(SHOP, to(LOGIN, "one"), to(LOGIN, "one", 3)) == "followed"
    assert ways.judge(SHOP, to(LOGIN, "one"), None) == "followed"


def test_a_page_speaks_against_all_that_were_led_elsewhere() -> None:
    ways = WaysOut()
    assert ways.judge(SHOP, to(LOGIN, "two"), to(LOGIN, "one", 1), "0 /a") == "page"
    assert ways.judge(SHOP, to(LOGIN, "two"), None, "0 /b") == "page"
    assert ways.take_along(SHOP, LOGIN) == ["0 /a", "0 /b"]
    led = to(LOGIN, "two", 1, pages=["0 /c", "0 /a"])
    assert ways.contradict(SHOP, led) == [], "this request takes none to the spider"
    assert ways.contradict(SHOP, led, "0 /d") == ["0 /c", "0 /a", "0 /b"]
    assert ways.judge(SHOP, to(LOGIN, "one"), None) == "again", "it is of the same kind"


def test_a_fleet_of_one_proxy_believes_it_in_the_end() -> None:
    ways, led = WaysOut(), to(LOGIN, "one")
    before = None
    while ways.judge(SHOP, led, before) == "again":
        before = to(LOGIN, "one", before.looks + 1 if before else 1)
    assert before is not None
    assert before.looks < 5
    assert ways.judge(SHOP, led, None) == "followed", "its next page costs no second look"
    assert ways.judge(SHOP, to(LOGIN, "two"), None) == "again"
    verdicts = [ways.judge(SHOP, led, None) for _ in range(100)]
    assert 0 < verdicts.count("again") < 100, "a second proxy may come back later"


def test_a_site_that_leads_each_country_to_another_shop_is_asked_twice_once() -> None:
    ways = WaysOut()
    assert ways.judge(SHOP, to("shop.de", "german"), None) == "again"
    assert ways.judge(SHOP, to("shop.fr", "french"), to("shop.de", "german", 1)) == "followed"
    assert ways.judge(SHOP, to("shop.de", "german"), None) == "followed"
    assert ways.judge(SHOP, to("shop.fr", "french"), None) == "followed"


def test_each_redirect_to_a_doubted_site_is_looked_at_again() -> None:
    """Proxies that had agreed once were followed fifty times more."""
    ways = WaysOut()
    ways.contradict(SHOP, to(LOGIN, "one", 1))
    for _ in range(3):
        assert ways.judge(SHOP, to(LOGIN, "two"), None) == "again"
        assert ways.judge(SHOP, to(LOGIN, "three"), to(LOGIN, "two", 1)) == "again"
        assert ways.judge(SHOP, to(LOGIN, "two"), to(LOGIN, "two", 3)) == "followed"


@pytest.mark.parametrize("portals", [1, 3, 5])
def test_hardly_a_page_is_lost_where_several_of_ten_proxies_lead_to_one_login(portals: int) -> None:
    """Of ten of twenty such proxies a third of the shop was lost."""
    lost = [lost_of(portals, random.Random(seed)) for seed in range(20)]
    assert sum(lost) <= 0.005 * 200 * len(lost), lost


def lost_of(portals: int, chance: random.Random) -> int:
    """Crawl 200 pages with two workers; return how many were led to the login at last."""
    fleet = [WaysOut(), WaysOut()]
    banned: set[int] = set()
    waiting: list[tuple[str, Led | None, int]] = [(f"0 /{n}", None, -1) for n in range(200)]
    read: dict[str, bool] = {}
    while waiting:
        page, before, avoided = waiting.pop()
        proxy = chance.choice([p for p in range(10) if p != avoided and p not in banned])
        ways = chance.choice(fleet)
        if proxy >= portals:
            doubtful = ways.contradict(SHOP, before, page) if before is not None else []
            waiting += [(name, None, -1) for name in doubtful]
            read[page] = True
            continue
        led = to(LOGIN, str(proxy))
        verdict = ways.judge(SHOP, led, before, page)
        if verdict == "again":
            first = before or led
            pages = [*first.pages, *ways.take_along(SHOP, LOGIN)]
            waiting.append((page, attrs.evolve(first, looks=first.looks + 1, pages=pages), proxy))
        elif verdict == "no page":
            banned.add(proxy)
            waiting.append((page, None, proxy))
        else:
            read[page] = False
    return list(read.values()).count(False)


def test_a_site_that_leads_to_hundreds_of_others_is_looked_at_for_few_of_them() -> None:
    """Such as one that compares prices: with one proxy each way out took four requests."""
    ways, requests = WaysOut(), 0
    for number in range(200):
        before: Led | None = None
        while True:
            led = Led(f"shop-{number}.example", "one", "one")
            requests += 1
            if ways.judge(SHOP, led, before, f"0 http://{SHOP}/go/{number}") != "again":
                break
            before = attrs.evolve(led, looks=before.looks + 1 if before else 1)
    assert requests <= 200 + 10 * 3


def test_a_portal_is_found_on_such_a_site_too() -> None:
    ways, page = WaysOut(), f"0 http://{SHOP}/p/"
    for number in range(30):
        ways.judge(SHOP, Led(f"shop-{number}.example", "one", "one"), None, f"{page}{number}")
    portal = Led("portal.example", "two", "two")
    assert ways.judge(SHOP, portal, None, f"{page}100") == "followed"
    assert ways.judge(SHOP, portal, None, f"{page}101") == "again"
    assert ways.contradict(SHOP, portal, f"{page}101") == [f"{page}100"]
    assert ways.judge(SHOP, portal, None, f"{page}102") == "no page"
