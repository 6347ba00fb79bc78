"""The demo shop: a known catalogue, told truthfully, so that a crawl can be judged by it."""

import itertools
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from decimal import Decimal

import lxml.html
import pytest

from crawler.demo.catalogue import catalogue
from crawler.demo.guards import COOKIE, RATE, SCRIPT_HEADER, Visitor, guards_of
from crawler.demo.markup import BASE
from crawler.demo.pages import PER_PAGE, SLOW, SLOW_S, Site
from crawler.demo.prices import availability_text, price_text
from crawler.demo.shop_process import ServedShop, served
from crawler.demo.traps import Traps
from tests.helpers import patient


def links(site, target):
    tree = lxml.html.fromstring(site.page(target).body)
    return [a.get("href") for a in tree.iter("a")]


def reachable(site):
    """Follow every link of the shop as a polite visitor would; statuses by path."""
    todo, seen = ["/"], {}
    while todo:
        target = todo.pop().partition("#")[0]
        target = re.sub(r"utm_\w+=\w+&?", "", target).rstrip("?")
        if target in seen or target.startswith("/admin/"):
            continue
        page = site.page(target)
        seen[target] = page.status
        if page.location:
            todo.append(page.location)
        elif page.status == 200 and page.content_type == "text/html":
            todo += [link.replace(BASE, "") for link in links(site, target)]
    return seen


def test_the_same_seed_gives_the_same_catalogue_and_another_seed_another():
    assert catalogue(50, 1) == catalogue(50, 1)
    assert catalogue(50, 2) != catalogue(50, 1)
    assert catalogue(10, 1) == catalogue(50, 1)[:10]


def test_identifiers_are_unique_and_every_markup_and_availability_occurs():
    products = catalogue(1000)

    assert len({p.sku for p in products}) == len({p.gtin for p in products}) == 1000
    assert {p.markup for p in products} == {"json-ld", "microdata", "opengraph", "plain"}
    assert {p.availability for p in products} == {"InStock", "OutOfStock", "PreOrder"}
    assert len({p.currency for p in products}) == 4
    assert sum(p.twin is not None for p in products) == 50
    assert all(p.price == p.price.quantize(Decimal("0.01")) for p in products)


def test_every_product_is_reached_by_links_from_the_home_page():
    site = Site(300)

    seen = reachable(site)

    wanted = {p.path for p in site.products} | {p.twin for p in site.products if p.twin}
    assert wanted <= set(seen)
    assert sorted(set(seen.values())) == [200, 302, 404]
    assert sum(status == 404 for status in seen.values()) == 1


def test_a_twin_page_names_its_canonical_address():
    site = Site(40)
    product = site.products[19]

    tree = lxml.html.fromstring(site.page(product.twin).body)

    assert tree.xpath("//link[@rel='canonical']/@href") == [BASE + product.path]


@pytest.mark.parametrize("number", range(1, 41))
def test_a_page_shows_what_is_expected_of_it(number):
    site = Site(40)
    product = site.products[number - 1]

    text = site.page(product.path).body.decode()
    tree = lxml.html.fromstring(text)

    assert tree.xpath("string(//h1)") == product.name
    assert product.sku in text
    if product.markup == "json-ld":
        data = json.loads(tree.xpath("string(//script[@type='application/ld+json'])"))
        node = data["@graph"][1] if "@graph" in data else data
        assert (node["name"], node["gtin13"]) == (product.name, product.gtin)
    if product.markup == "microdata":
        assert tree.xpath("//*[@itemprop='price']/@content") == [str(product.price)]
    if product.markup == "opengraph":
        assert tree.xpath("//meta[@property='product:brand']/@content") == [product.brand]


def test_listings_have_pages_of_24_and_say_how_many_there_are():
    site = Site(1000)
    name, shelf = next(iter(site.shelves.items()))
    last = -(-len(shelf) // PER_PAGE)

    body = site.page(f"/c/{name}?page=1&utm_source=x").body.decode()

    assert body.count('class="card"') == PER_PAGE
    assert f"of {len(shelf)} results" in body
    assert site.page(f"/c/{name}?page={last}").status == 200
    assert site.page(f"/c/{name}?page={last + 1}").status == 404
    assert site.page(f"/c/{name}?page=" + "9" * 5000).status == 404


def test_padding_makes_pages_of_the_size_asked_for():
    site = Site(5, page_kb=20)

    sizes = [len(site.page(product.path).body) for product in site.products]

    assert all(20_000 <= size < 22_000 for size in sizes)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/p/1/wrong-slug", 301),
        ("/p/0/x", 404),
        ("/p/-1/x", 404),
        ("/p/" + "9" * 5000, 404),
        ("/c/none", 404),
        ("/c/books?page=0", 404),
        ("/c/books?page=x", 404),
        ("/go/1", 302),
        ("/nowhere", 404),
    ],
)
def test_odd_addresses_get_a_plain_answer(target, status):
    assert Site(30).page(target).status == status


def test_robots_and_sitemap_name_what_they_should():
    site = Site(30)

    assert b"Disallow: /admin/" in site.page("/robots.txt").body
    assert site.page("/sitemap.xml").body.count(b"<loc>") == 30 + len(site.shelves)
    assert site.page(site.products[SLOW - 1].path).wait_s == SLOW_S


def test_prices_and_words_are_written_in_several_ways():
    price = Decimal("1234.50")

    assert {price_text(price, "EUR", n) for n in range(9)} == {
        "1.234,50 €",
        "€1,234.50",
        "1.234,50 EUR",
    }
    assert len({availability_text("InStock", n) for n in range(9)}) == 4


def test_the_served_shop_answers_under_every_host_and_logs_each_visit(tmp_path):
    with served(log=tmp_path / "log", products=30, hosts=2) as shop:
        other = shop.url.replace("127.0.0.1", "127.0.0.2")
        with urllib.request.urlopen(other + "sitemap.xml", timeout=patient(5)) as answer:
            assert f"<loc>{other}p/1/".encode() in answer.read()
        assert status(shop.url + "nowhere?x=1", {}) == 404
        visits = shop.visits()

    answers = [(v["path"], v["status"]) for v in visits]
    assert answers == [("/sitemap.xml", 200), ("/nowhere?x=1", 404)]
    assert visits[0]["host"].startswith("127.0.0.2:")
    assert shop.process.returncode == 0


def test_the_shop_ends_when_its_parent_lets_go():
    command = [sys.executable, "-m", "crawler.demo.shop", "--with-parent"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()

    process.communicate(timeout=patient(10))

    assert process.returncode == 0


def test_a_day_later_some_are_gone_some_are_new_and_addresses_stay():
    before, after = catalogue(1000), catalogue(1000, day=2)
    old, new = {p.sku: p for p in before}, {p.sku: p for p in after}

    both = old.keys() & new.keys()
    changed = {sku for sku in both if old[sku].expected() != new[sku].expected()}

    assert (len(old.keys() - new.keys()), len(new.keys() - old.keys())) == (40, 50)
    assert all(old[sku].path == new[sku].path for sku in both)
    assert {sku for sku in both if new[sku].changed == 2} == changed
    assert 100 < len(changed) < 200
    assert Site(1000, day=2).page(before[24].path).status == 404


def test_the_sitemap_tells_what_changed_on_the_second_day():
    text = Site(100, day=2).page("/sitemap.xml").body.decode()
    changed = re.findall(r"/p/(\d+)/[^<]*</loc><lastmod>2026-01-02", text)

    assert "1" in changed
    assert "2" not in changed
    assert {"101", "105"} <= set(changed)


def test_ten_days_change_some_daily_some_rarely_and_most_never():
    days = [{p.sku: p for p in catalogue(1000, day=day)} for day in range(1, 11)]
    every = set.intersection(*(set(day) for day in days))
    prices = {sku: len({day[sku].price for day in days}) for sku in every}
    changes = {sku: [day[sku].changed for day in days] for sku in every}

    assert sum(n == 1 for n in prices.values()) > 0.6 * len(every)
    assert {len(set(c)) for c in changes.values()} >= {1, 2, 10}
    for before, after in itertools.pairwise(days):
        both = before.keys() & after.keys()
        differ = {sku for sku in both if before[sku].expected() != after[sku].expected()}
        assert differ == {sku for sku in both if before[sku].changed != after[sku].changed}
        assert before.keys() - after.keys()
        assert after.keys() - before.keys()
        assert all(p.changed <= days.index(after) + 1 for p in after.values())


def test_a_page_that_the_visitor_knows_is_not_sent_again(tmp_path):
    with served(log=tmp_path / "log", products=30) as shop:
        address = f"{shop.url}{catalogue(30)[1].path[1:]}"
        with urllib.request.urlopen(address, timeout=patient(5)) as answer:
            tag, date = answer.headers["ETag"], answer.headers["Last-Modified"]
        asked = [{"If-None-Match": tag}, {"If-Modified-Since": date}, {"If-None-Match": '"other"'}]
        statuses = [status(address, headers) for headers in asked]
        visits = shop.visits()

    assert date == "Tue, 02 Dec 2025 00:00:00 GMT"
    assert statuses == [304, 304, 200]
    assert [v["bytes"] > 0 for v in visits] == [True, False, False, True]


def test_a_visit_that_is_being_written_is_left_out(tmp_path):
    """A storm of kills ended in an error, because it read half of a line."""
    log = tmp_path / "log"
    log.write_bytes(b'{"path": "/a"}\n{"path": "/\xc3')

    assert ServedShop("", None, log).visits() == [{"path": "/a"}]


def status(address, headers):
    try:
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request, timeout=patient(5)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:  # it is the answer, too
            return error.code


def test_traps_have_no_end_but_hide_no_product():
    site = Site(60)
    traps = Traps(site.page)

    listing = traps.answer("/c/books?colour=red&page=1").body.decode()
    first, second = (traps.answer("/").body.decode() for _ in range(2))

    assert "/c/books?colour=red&amp;size=m" in listing
    assert re.search(r"sessionid=([0-9a-f]{16})", first)[0] not in second
    assert 'href="/calendar/2027/01"' in traps.answer("/calendar/2026/12").body.decode()
    assert traps.answer("/calendar/2026/x").status == 404
    assert set(links(site, "/")) <= {a.get("href") for a in lxml.html.fromstring(first).iter("a")}


BROWSER = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/140",
    "Accept": "text/html",
    "Accept-Language": "en",
    "Accept-Encoding": "gzip",
    "Upgrade-Insecure-Requests": "1",
}


@pytest.mark.parametrize(
    ("kind", "headers", "status", "text"),
    [
        ("headers", {}, 403, b"Forbidden"),
        ("headers", BROWSER, None, b""),
        ("captcha", {"User-Agent": "curl/8"}, 200, b"g-recaptcha"),
        ("captcha", BROWSER, None, b""),
        ("cookie", BROWSER, 200, b"privacy"),
        ("cookie", {"Cookie": COOKIE}, None, b""),
        ("script", BROWSER, 200, b"enable JavaScript"),
        ("script", {SCRIPT_HEADER: "1"}, None, b""),
    ],
)
def test_a_guard_stops_whom_it_should(kind, headers, status, text):
    page = guards_of([kind]).stop(Visitor("h", "c", "/p/1/x", headers))

    assert (page and page.status) == status
    assert page is None or text in page.body


def test_an_address_is_shown_its_share_of_pages_and_then_a_captcha() -> None:
    guards = guards_of(["quota"], quota=2)
    one, other = (Visitor("h", f"127.0.0.{n}", "/p/1/x", {}) for n in (21, 22))

    shown = [guards.stop(visitor) for visitor in (one, one, other, other)]
    refused = guards.stop(one)

    assert shown == [None] * 4
    assert refused is not None
    assert b"recaptcha" in refused.body


def test_neighbours_of_the_shop_are_refused_and_others_are_not() -> None:
    guards = guards_of(["network"])
    near, far = (Visitor("h", f"127.0.0.{n}", "/p/1/x", {}) for n in (1, 20))

    refused = guards.stop(near)

    assert refused is not None
    assert refused.status == 403
    assert guards.stop(far) is None


def test_the_rate_guard_names_when_to_come_back_and_looks_at_one_address_only():
    guards = guards_of(["127.0.0.2=rate"])
    visitor = Visitor("127.0.0.2", "c", "/", {})

    answers = [guards.stop(visitor) for _ in range(RATE + 1)]

    assert answers[:RATE] == [None] * RATE
    assert (answers[RATE].status, answers[RATE].headers["Retry-After"]) == (429, "2")
    assert guards.stop(Visitor("127.0.0.1", "c", "/", {})) is None
    assert guards.stop(Visitor("127.0.0.2", "c", "/robots.txt", {})) is None
    with pytest.raises(ValueError, match="'moat' is none of"):
        guards_of(["moat"])


def test_the_served_shop_takes_guards_traps_and_days(tmp_path):
    guard = ["127.0.0.2=headers"]
    with served(log=tmp_path / "log", products=30, hosts=2, guard=guard, traps=True, day=2) as shop:
        other = shop.url.replace("127.0.0.1", "127.0.0.2")
        with urllib.request.urlopen(shop.url, timeout=patient(5)) as answer:
            assert b"/calendar/" in answer.read()
        assert status(other, {}) == 403

        assert [visit["status"] for visit in shop.visits()] == [200, 403]
