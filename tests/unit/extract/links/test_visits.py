"""A shop that writes a visit's name into its links, under whatever name, has an end."""

from __future__ import annotations

import secrets

import pytest
from scrapy import Request
from scrapy.crawler import Crawler

from crawler.extract.links import visit_parameters
from crawler.extract.links.visit_parameters import CANONICAL_PAGES, IRRELEVANT_PAGES, Visits
from middlewares.dead_ends import DeadEnds as Middleware
from scrapy_seine import meta as m
from scrapy_seine.engine.lease.outcomes import Ignored
from spiders.catalog import CatalogSpider

SHOP = "https://shop.example"


def address(path: str, name: str = "tok", value: str = "") -> str:
    return f"{SHOP}{path}?{name}={value or secrets.token_hex(4)}"


def lamp(number: int) -> list[tuple[str, str]]:
    return [(f"Lamp {number}", "9.90")]


def links(count: int = 3) -> list[str]:
    return [address(f"/p/{number}") for number in range(count)]


def learned(pages: int = IRRELEVANT_PAGES + 3) -> Visits:
    known = Visits()
    for number in range(pages):
        known.note("", address(f"/p/{number % 3}"), lamp(number % 3), links())
    return known


def test_a_page_that_is_known_but_for_a_visit_is_not_fetched_again() -> None:
    """I1: each page led to all others under new addresses, and the crawl had no end."""
    assert not learned(IRRELEVANT_PAGES + 2).is_known("", address("/p/0"))
    known = learned()
    assert known.is_known("", address("/p/0"))
    assert not known.is_known("", address("/p/7")), "a product that nobody has seen"
    assert not known.is_known("", address("/p/0", "id"))
    assert not known.is_known("", f"{SHOP}/p/0")
    assert not known.is_known("another job", address("/p/0"))


def test_a_parameter_that_told_two_products_apart_once_is_never_left_out() -> None:
    known = Visits()
    known.note("", address("/p", "id", "1"), lamp(1), links())
    known.note("", address("/p", "id", "2"), lamp(2), links())
    for _ in range(5 * IRRELEVANT_PAGES):
        known.note("", address("/p", "id"), lamp(2), links())
    assert not known.is_known("", address("/p", "id"))


def folder(name: str, value: str = "") -> str:
    return f"{SHOP}/shop.cgi/{value or '0' + secrets.token_hex(4)}/{name}"


def of_one_visit(address, names: str = "abc") -> list[str]:
    number = "0" + secrets.token_hex(4)
    return [address(name, value=number) for name in names]


@pytest.mark.parametrize(
    "address", [folder, lambda name, value="": address(f"/{name}", value=value)]
)
def test_links_of_other_visits_show_a_visit_before_a_page_was_fetched_twice(address) -> None:
    known = Visits()
    news = [
        known.note("", address(name, value=f"0{name}77777777"), lamp(1) * (name == "b"), links)
        for name, links in zip("abc", map(of_one_visit, [address] * 3), strict=True)
    ]
    assert news[:2] == [None, None]
    assert news[2]
    assert known.is_known("", address("a"))
    assert known.is_known("", address("b"))
    assert not known.is_known("", address("d")), "a page that nobody has seen"


def test_images_below_a_visits_number_are_those_of_other_visits() -> None:
    known = Visits()
    for number in range(IRRELEVANT_PAGES + 3):
        own = folder(f"p/{number % 3}", f"{number:08}")
        picture = own.replace("/p/", "/img/")
        known.note("", own, [(*lamp(number % 3)[0], picture)], links())
    assert known.is_known("", folder("p/0"))


def test_links_of_several_folders_show_no_visit() -> None:
    known = Visits()
    for name in "abcd":
        own = folder(name)
        others = [folder("x"), folder("y"), folder("z")]
        assert known.note("", own, [], others) is None
        assert known.note("", folder(f"{name}2"), [], [folder("x", "0abcabc00")] * 5) is None
    assert not known.is_known("", folder("a"))


def test_a_visit_that_goes_on_is_no_new_one() -> None:
    known = Visits()
    for name in "abcd":
        assert (
            known.note(
                "",
                folder(name, "77777777"),
                [],
                of_one_visit(lambda n, value: folder(n, "77777777")),
            )
            is None
        )
    assert not known.has_names


def test_a_folder_that_told_two_products_apart_is_no_visit() -> None:
    known = Visits()
    known.note("", folder("p", "11111111"), lamp(1), links())
    known.note("", folder("p", "22222222"), lamp(2), links())
    for name in "abcd":
        assert known.note("", folder(name), [], of_one_visit(folder)) is None
    assert not known.is_known("", folder("p"))


def test_a_product_below_each_of_its_categories_is_fetched_once() -> None:
    known = Visits()
    for number in range(IRRELEVANT_PAGES):
        for folder in ("rooms/hall", "sale"):
            known.note("", f"{SHOP}/{folder}/lamp-{number}", lamp(number), links())
    assert known.is_known("", f"{SHOP}/garden/lamp-3/")
    assert not known.is_known("", f"{SHOP}/garden/lamp-99"), "a product that nobody has seen"
    assert not known.is_known("", f"{SHOP}/sale")


def test_a_product_whose_links_tell_where_they_stood_is_fetched_once() -> None:
    known = Visits()
    for number in range(IRRELEVANT_PAGES):
        for query in (f"ref=box{number}&pos=1", f"ref=list{number}&pos={number}"):
            known.note("", f"{SHOP}/p/{number}?{query}", lamp(number), links())
    assert known.is_known("", f"{SHOP}/p/3?ref=foot&pos=9")
    assert not known.is_known("", f"{SHOP}/p/3?id=2&pos=9"), "parameters of other names"
    assert not known.is_known("", f"{SHOP}/p/99?ref=foot&pos=9"), "a product that nobody has seen"


def test_two_products_of_one_last_segment_are_told_by_their_folders() -> None:
    known = Visits()
    for number in range(IRRELEVANT_PAGES + 5):
        known.note("", f"{SHOP}/{number}/details", lamp(number), links())
        for folder in ("hall", "sale"):
            known.note("", f"{SHOP}/{folder}/lamp-{number}", lamp(number), links())
    assert not known.is_known("", f"{SHOP}/99/details")
    assert not known.is_known("", f"{SHOP}/garden/lamp-3")


def test_a_page_that_is_read_again_under_its_own_address_tells_nothing() -> None:
    known = Visits()
    for _ in range(5 * IRRELEVANT_PAGES):
        known.note("", address("/p", "id", "1"), lamp(1), links())
    assert not known.is_known("", address("/p", "id", "2"))


def test_a_listing_is_left_out_only_where_its_own_parameter_says_nothing() -> None:
    known = learned()
    for number in range(3 * IRRELEVANT_PAGES):  # ten empty categories show the same
        known.note("", address("/list", "cat"), [], [f"{SHOP}/about"])
        known.note("", address("/list"), [], [f"{SHOP}/p/{number}"])
    assert not known.is_known("", address("/list", "cat"))
    assert not known.is_known("", address("/list")), "it turns the page"
    known = learned()
    for _ in range(IRRELEVANT_PAGES + 1):
        known.note("", address("/"), [], links())
    assert known.is_known("", address("/"))


def test_the_middleware_asks_for_no_more_of_them_but_for_seeds_and_known_products() -> None:
    crawler = Crawler(CatalogSpider)
    crawler.spider = CatalogSpider()
    middleware = Middleware.from_crawler(crawler)
    url = address("/p/0")
    middleware.process_request(Request(url, meta={m.DEPTH: 2}))
    crawler.spider.visits = learned()
    with pytest.raises(Ignored):
        middleware.process_request(Request(url, meta={m.DEPTH: 2}))
    for meta in ({}, {m.DEPTH: 2, m.KNOWN: {}}):
        middleware.process_request(Request(url, meta=meta))


def test_a_number_alone_is_no_product_in_all_folders() -> None:
    """A category has the number of a product in many shops: `/c/100001` and `/p/100001`."""
    visits = Visits()
    for number in range(100_001, 100_031):
        for folder in ("new", "sale"):
            visits.note("job", f"https://a.example/{folder}/{number}", [f"lamp {number}"], [])
    assert not visits.is_known("job", "https://a.example/c/100001")
    for number in range(100_001, 100_031):
        for folder in ("new", "sale"):
            visits.note("job", f"https://a.example/{folder}/lamp-{number}", [f"lamp {number}"], [])
    assert visits.is_known("job", "https://a.example/gifts/lamp-100001")


def test_a_products_link_loses_what_its_canonical_address_drops() -> None:
    known = Visits()
    for number in range(CANONICAL_PAGES):
        url = f"{SHOP}/p/{number}"
        assert known.settled(f"{SHOP}/p/9?c=5") == f"{SHOP}/p/9?c=5"
        known.note_canonical("", f"{url}?c=3&id={number}", f"{url}?id={number}")
    assert known.settled(f"{SHOP}/p/9?c=5") == f"{SHOP}/p/9"
    assert known.settled(f"{SHOP}/p/9?id=9&c=5") == f"{SHOP}/p/9?id=9"
    assert known.is_known("", f"{SHOP}/p/2?id=2"), "its page was read with a parameter more"
    assert not known.is_known("", f"{SHOP}/p/9?id=9")
    assert not known.is_known("another job", f"{SHOP}/p/2?id=2")


def test_parameters_that_canonical_addresses_drop_are_few() -> None:
    """A shop may have a new name in each address: they were kept as long as the worker lived."""
    known = Visits()
    for number in range(1_000):
        url = f"{SHOP}/p/{number}"
        known.note_canonical("", f"{url}?c{number}=3", url)
    assert sum(map(len, known._dropped.values())) <= 100


def test_one_canonical_address_of_all_pages_drops_nothing() -> None:
    known = Visits()
    for number in range(3 * CANONICAL_PAGES):
        known.note_canonical("", f"{SHOP}/p.php?id={number}", f"{SHOP}/p.php")
    assert known.settled(f"{SHOP}/p.php?id=5") == f"{SHOP}/p.php?id=5"


def test_a_visits_parameter_that_canonical_addresses_drop_is_left_out_of_listings() -> None:
    """Links to products lose it at once, so that no product shows that it changes nothing."""
    known = Visits()
    for number in range(CANONICAL_PAGES + 1):
        known.note_canonical("", address(f"/p/{number}"), f"{SHOP}/p/{number}")
    for number in range(2 * IRRELEVANT_PAGES):
        known.note("", address("/list"), [], [f"{SHOP}/p/1"])
        known.note("", f"{SHOP}/list?page={number}", [], [f"{SHOP}/p/{number}"])
    assert known.is_known("", address("/list"))
    assert not known.is_known("", address("/other")), "a listing that nobody has seen"
    assert not known.is_known("", f"{SHOP}/list?page=99")


def test_a_product_whose_own_address_has_other_folders_is_fetched_once() -> None:
    known = Visits()
    for n in range(CANONICAL_PAGES + 1):
        known.note("", f"{SHOP}/all/lamp-no-{n}", lamp(n), [])
        known.note_canonical("", f"{SHOP}/all/lamp-no-{n}", f"{SHOP}/desk/lamp-no-{n}")
    assert known.is_known("", f"{SHOP}/new/lamp-no-0")
    assert known.is_known("", f"{SHOP}/desk/lamp-no-0"), "another page named it as its own"
    assert not known.is_known("", f"{SHOP}/desk/lamp-no-77"), "a product that nobody has seen"


def test_one_own_address_for_all_pages_makes_no_folder_irrelevant() -> None:
    known = Visits()
    for n in range(CANONICAL_PAGES + 3):
        known.note("", f"{SHOP}/shop-{n}/offer", lamp(n), [])
        known.note_canonical("", f"{SHOP}/shop-{n}/offer", f"{SHOP}/offers/offer")
    assert not known.is_known("", f"{SHOP}/elsewhere/offer")


def test_a_page_that_returns_because_it_was_not_stored_passes() -> None:
    """Its own first reading made it known, so that its products were lost without a word."""
    known, url = learned(), address("/p/0", value="7")
    known.note("", url, lamp(0), links())
    assert not known.is_known("", url)
    assert known.is_known("", address("/p/0", value="8"))


def test_a_page_that_is_asked_for_again_on_purpose_passes() -> None:
    """A template that was learned later decides on its values; it has a scope of its own."""
    crawler = Crawler(CatalogSpider)
    crawler.spider = CatalogSpider()
    crawler.spider.visits = learned()
    again = {m.DEPTH: 2, m.SCOPE: "again 2"}
    Middleware.from_crawler(crawler).process_request(Request(address("/p/0"), meta=again))


def test_own_addresses_that_pages_name_are_forgotten_like_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visit_parameters, "_MAX_PAGES", 50)
    known = Visits()
    for n in range(200):
        known.note_canonical("", f"{SHOP}/all/lamp-no-{n}", f"{SHOP}/desk/lamp-no-{n}")
    assert not known.is_known("", f"{SHOP}/desk/lamp-no-0")
    assert known.is_known("", f"{SHOP}/desk/lamp-no-199")


def test_whether_the_settled_address_is_known_is_asked_of_the_pages_job() -> None:
    """What a crawl without a job knows, no job has read."""
    crawler = Crawler(CatalogSpider)
    crawler.spider = spider = CatalogSpider()
    for n in range(CANONICAL_PAGES):
        spider.visits.note_canonical("", f"{SHOP}/p/{n}?c=1", f"{SHOP}/p/{n}")
    spider.knows = lambda url, job: not job
    middleware = Middleware.from_crawler(crawler)
    request = Request(f"{SHOP}/p/99?c=1", meta={m.DEPTH: 2, m.JOB_ID: "full"})
    middleware.process_request(request)
    with pytest.raises(Ignored):
        middleware.process_request(Request(request.url, meta={m.DEPTH: 2}))


def at(origin: str, number: int) -> tuple[str, list[tuple[str, str, str]]]:
    """A product's address and content at an origin, with a picture below it."""
    return f"{origin}/p/{number}", [(*lamp(number)[0], f"{origin}/img/{number}.png")]


HTTP, WWW = "http://shop.example", "https://www.shop.example"


def test_links_lead_to_the_first_of_two_origins_that_show_the_same() -> None:
    """A shop that answers by http and https, with and without www, was fetched four times."""
    known = Visits()
    for number in range(3):
        known.note("", *at(HTTP, number), links=[])
        assert known.at_first_origin(f"{WWW}/p/7", "") == f"{WWW}/p/7"
        known.note("", *at(WWW, number), links=[])
    assert known.has_names
    assert known.settled(f"{WWW}/p/7") == f"{HTTP}/p/7"
    assert known.at_first_origin(f"{WWW}/lamps?page=2", "") == f"{HTTP}/lamps?page=2"
    assert known.at_first_origin(f"{HTTP}/p/7", "") == f"{HTTP}/p/7"
    assert known.at_first_origin("https://blog.shop.example/p/7", "").startswith("https://blog")
    assert known.at_first_origin(f"{WWW}/p/7", "another job") == f"{WWW}/p/7"


def test_one_product_that_http_and_https_show_alike_is_enough() -> None:
    """17 of 28 products were fetched by both, before the third of them told that they are one."""
    known, https = Visits(), HTTP.replace("http:", "https:")
    known.note("", *at(https, 1), links=[])
    known.note("", *at(HTTP, 1), links=[])
    assert known.settled(f"{HTTP}/p/7") == f"{https}/p/7"


def test_one_product_is_too_few_to_leave_https() -> None:
    known, https = Visits(), HTTP.replace("http:", "https:")
    known.note("", *at(HTTP, 1), links=[])
    known.note("", *at(https, 1), links=[])
    assert known.settled(f"{https}/p/7") == f"{https}/p/7"


def test_what_two_hosts_show_alike_tells_nothing_of_a_page_that_https_alone_showed() -> None:
    """Links of https led to http after a page that http did not have, and its products were lost."""
    known, https = Visits(), HTTP.replace("http:", "https:")
    known.note("", *at(HTTP, 1), links=[])
    known.note("", *at(WWW, 1), links=[])
    known.note("", *at(https, 2), links=[])
    assert known.settled(f"{https}/p/7") == f"{https}/p/7"


def test_origins_that_showed_two_products_at_one_address_stay_apart() -> None:
    known = Visits()
    for number in range(9):
        known.note("", *at(HTTP, number), links=[])
        known.note("", at(WWW, number)[0], at(WWW, number + (number == 1))[1], links=[])
    assert known.settled(f"{WWW}/p/7") == f"{WWW}/p/7"


@pytest.mark.parametrize(("known_first", "refused"), [(True, True), (False, False)])
def test_a_request_at_another_origin_is_ignored_where_the_first_one_was_fetched(
    known_first: bool, refused: bool
) -> None:
    spider = CatalogSpider()
    spider.knows = lambda url, job="": known_first and url == f"{HTTP}/p/7"
    for number in range(3):
        for origin in (HTTP, WWW):
            spider.visits.note("", *at(origin, number), links=[])
    crawler = Crawler(CatalogSpider)
    crawler.spider = spider
    request = Request(f"{WWW}/p/7", meta={m.DEPTH: 1})
    try:
        Middleware(crawler).process_request(request)
    except Ignored:
        assert refused
    else:
        assert not refused
