"""A proxy's own redirect to another site is none of the site's, and a site may lead elsewhere."""

from __future__ import annotations

from crawler.access.proxies.ways_out import WaysOut

SHOP, LOGIN = "shop.example", "hotel.example"


def test_a_site_that_leads_elsewhere_through_two_proxies_is_believed() -> None:
    ways = WaysOut()
    assert ways.judge(SHOP, LOGIN, "one", None) == "again"
    assert ways.judge(SHOP, LOGIN, "two", (LOGIN, "one"), 1) == "page"
    assert ways.judge(SHOP, LOGIN, "one", None) == "page", "its next page costs no second look"
    assert ways.judge("other.example", LOGIN, "one", None) == "again"


def test_a_proxy_that_alone_leads_elsewhere_is_not_believed_again() -> None:
    ways = WaysOut()
    assert ways.judge(SHOP, LOGIN, "one", None) == "again"
    ways.contradict("one", LOGIN)
    assert ways.judge(SHOP, LOGIN, "one", None) == "no page"
    assert ways.judge("other.example", LOGIN, "one", None) == "no page"
    assert ways.judge(SHOP, LOGIN, "two", None) == "again"


def test_a_fleet_of_one_proxy_believes_it_in_the_end() -> None:
    ways, looks = WaysOut(), 0
    before = None
    while ways.judge(SHOP, LOGIN, "one", before, looks) == "again":
        before, looks = (LOGIN, "one"), looks + 1
    assert looks < 5
    assert ways.judge(SHOP, LOGIN, "one", None) == "page", "its next page costs no second look"
    assert ways.judge(SHOP, LOGIN, "two", None) == "again"
    verdicts = [ways.judge(SHOP, LOGIN, "one", None) for _ in range(100)]
    assert 0 < verdicts.count("again") < 100, "a second proxy may come back later"


def test_a_site_that_leads_each_country_to_another_shop_is_asked_twice_once() -> None:
    ways = WaysOut()
    assert ways.judge(SHOP, "shop.de", "german", None) == "again"
    assert ways.judge(SHOP, "shop.fr", "french", ("shop.de", "german"), 1) == "page"
    assert ways.judge(SHOP, "shop.de", "german", None) == "page"
    assert ways.judge(SHOP, "shop.fr", "french", None) == "page"
