"""The rules that a page's parts are read by, each at its edge: facts, trails, links, sources."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from crawler.extract import extract, find_links, parse
from crawler.extract.address_kinds import is_front
from crawler.extract.links.registered_domain import same_site
from crawler.extract.links.sitemap_format import _MAX_ADDRESS_BYTES, read_sitemap
from crawler.extract.listing.further_pages import further_pages, numbers_of, step_of
from crawler.extract.merge import disputed, merged, outvote
from crawler.extract.money.amounts import number
from crawler.extract.money.cents import in_whole_units
from crawler.extract.structured.breadcrumbs import breadcrumbs, ends_in_category, is_home, trail

SHOP = "https://shop.example"


def fields(*parts: str) -> dict[str, Any]:
    """Read a product's page with these parts below its heading."""
    html = (
        f"<h1>Steel drill</h1><p class=price>$5.00</p><button>Add to cart</button>{''.join(parts)}"
    )
    found = extract(parse(f"<html><body><main>{html}</main></body></html>", f"{SHOP}/p/drill"))
    return dict(found.fields)


class TestFacts:
    @pytest.mark.parametrize(
        "part",
        [
            "<p>SKU: AB-12</p>",
            "<p>SKU AB-12</p>",
            "<p>Item no. AB-12</p>",
            "<p>SKU # AB-12</p>",
            "<p>In stock - SKU: AB-12</p>",
            "<p>SKU:</p><p>AB-12</p>",
            "<p><span>SKU</span><span>AB-12</span></p>",
            "<table><tr><th>SKU</th><td>AB-12</td></tr></table>",
            "<dl><dt>SKU</dt><dd>AB-12</dd></dl>",
            '<span class="sku">AB-12</span>',
            "<p>SKU: AB-12 EAN: 4006381333931</p>",
            "<p>SKU: AB-12 (new)</p>",
        ],
    )
    def test_a_number_is_read_where_a_label_names_it(self, part: str) -> None:
        assert fields(part)["sku"] == "AB-12"

    @pytest.mark.parametrize(
        "part",
        [
            "<p>SKU: see the box for it</p>",
            "<p>SKU: n/a</p>",
            "<p>SKU: N/A</p>",
            f"<p>SKU: {'A1' * 21}</p>",
            '<span class="sku">AB-12 and more</span>',
            '<span class="sku">SKU:</span>',
            "<dl><dt>SKU</dt><dt>EAN</dt><dd>AB-12</dd></dl>",
            "<table><tr><th>SKU</th></tr></table>",
            "<p>Orders of 20 SKU AB-12 and others</p>",
        ],
    )
    def test_what_is_no_number_is_none(self, part: str) -> None:
        assert "sku" not in fields(part)

    def test_a_number_of_several_words_is_one_of_codes(self) -> None:
        assert fields("<p>SKU: 12 345 678 90</p>")["sku"] == "12 345 678 90"

    @pytest.mark.parametrize(
        ("part", "field", "value"),
        [
            ("<p>EAN: 4006381333931</p>", "gtin", "4006381333931"),
            ("<p>EAN: 40063813</p><p>EAN: 4006381333931</p>", "gtin", "40063813"),
            ("<p>EAN: 4006</p>", "gtin", None),
            ('<span class="product-ean">4006381333931</span>', "gtin", "4006381333931"),
            ('<span class="mpn">MX-5</span>', "mpn", "MX-5"),
            ("<p>MPN: MX-5</p>", "mpn", "MX-5"),
            ("<p>Brand: Acme</p>", "brand", "Acme"),
            (f"<p>Brand: {'Acme ' * 13}</p>", "brand", None),
            ('<p class="brand">by Acme</p>', "brand", "Acme"),
        ],
    )
    def test_other_facts_have_their_own_rules(
        self, part: str, field: str, value: str | None
    ) -> None:
        assert fields(part).get(field) == value

    def test_rows_are_attributes_unless_they_name_a_field(self) -> None:
        rows = "".join(
            f"<tr><th>{name}</th><td>{value}</td></tr>"
            for name, value in [("SKU", "AB-12"), ("Weight :", "2 kg"), ("Model", "DR-7")]
        )
        found = fields(f"<table>{rows}</table>", "<p>Model: DR-8</p>")
        assert found["attributes"]["Weight"] == "2 kg"
        assert "SKU" not in found["attributes"]
        assert found["sku"] == "AB-12"


def entry(name: object, position: object = None, item: object = None) -> dict[str, Any]:
    told = {"name": name, "position": position, "item": item}
    return {key: value for key, value in told.items() if value is not None}


def crumbs(*entries: object, name: str | None = None, here: tuple[str, ...] = ()) -> list[str]:
    return breadcrumbs({"itemListElement": list(entries)}, name, here)


class TestTrails:
    def test_places_are_told_by_position_and_else_by_order(self) -> None:
        assert crumbs(entry("B", 2), entry("A", 1)) == ["A", "B"]
        assert crumbs(entry("A"), entry("B")) == ["A", "B"]
        assert crumbs(entry("A", 10**9), entry("B", 10**9)) == ["A", "B"]

    def test_addresses_and_front_pages_are_no_names(self) -> None:
        assert crumbs(entry("https://a.example/x"), entry("Tools")) == ["Tools"]
        assert crumbs(entry("http://a.example/x"), entry("Tools")) == ["Tools"]
        assert crumbs(entry("Acme", 1, f"{SHOP}/"), entry("Tools", 2, f"{SHOP}/t")) == ["Tools"]
        assert crumbs(entry("Acme", 1, {"@id": f"{SHOP}/"}), entry("Tools", 2)) == ["Tools"]
        assert crumbs("no entry", entry("Tools")) == ["Tools"]

    def test_the_products_own_name_is_dropped_unless_it_is_a_categorys(self) -> None:
        tools = entry("Tools", 1, f"{SHOP}/tools")
        own = entry("Drill", 2, f"{SHOP}/p/drill-12")
        below = entry("Drill", 2, f"{SHOP}/tools/drills")
        here = (f"{SHOP}/p/drill-12",)
        assert crumbs(tools, own, name="drill", here=here) == ["Tools"]
        assert crumbs(tools, below, name="drill", here=here) == ["Tools", "Drill"]
        assert crumbs(tools, below, name="drill") == ["Tools"]

    @pytest.mark.parametrize(
        ("links", "here", "category"),
        [
            (["/tools", "/tools/drills"], ["/p/1"], True),
            (["/tools/", "/tools/drills/"], ["/p/1"], True),
            (["/tools", "/tools/"], ["/p/1"], False),  # the same page
            (["/tools", "/other"], ["/p/1"], False),
            (["/tools", "/tools/one.html"], ["/x/one"], False),  # the product's own
            (["/tools", None], ["/p/1"], False),
            (["/tools", "/tools/drills"], [], False),
            (["/all", "/tools", "/tools/drills"], ["/p/1"], True),
        ],
    )
    def test_a_last_link_is_a_categorys_where_it_is_below_the_one_before(
        self, links: list[str | None], here: list[str], category: bool
    ) -> None:
        assert ends_in_category(links, here) is category

    def test_home_and_front_are_told_from_names(self) -> None:
        assert [is_home(text) for text in ("Home", " » ", "Homeware")] == [True, True, False]
        assert [is_front(url) for url in (None, "", "/", f"{SHOP}/", f"{SHOP}/a")] == [
            False, True, True, True, False,
        ]  # fmt: skip
        assert trail(["Home", "", "Tools", "Drill"], "DRILL") == ["Tools"]
        assert trail(["Tools", "Drill", "Bits"], "Drill") == ["Tools", "Drill", "Bits"]
        assert trail([], "Drill") == []


class TestSources:
    def test_a_sources_price_of_nothing_is_a_gap(self) -> None:
        offered = {"json-ld": {"price": Decimal(0)}, "state": {"price": Decimal(5)}}
        assert merged(offered) == ({"price": Decimal(5)}, {"price": "state"})
        offered["state"] = {"price": Decimal(0)}
        assert merged(offered)[1] == {"price": "json-ld"}

    def test_attributes_are_joined_and_the_first_source_wins_each(self) -> None:
        offered = {
            "text": {"attributes": {"Weight": "1", "Size": "L"}},
            "json-ld": {"attributes": {"Weight": "2"}},
        }
        assert merged(offered)[0]["attributes"] == {"Weight": "2", "Size": "L"}

    def test_a_struck_price_belongs_to_the_price_that_stands_beside_it(self) -> None:
        shown = {"price": Decimal(5), "regular_price": Decimal(9)}
        same = {"json-ld": {"price": Decimal(5)}, "text": shown}
        other = {"json-ld": {"price": Decimal(6)}, "text": shown}
        assert merged(same)[0]["regular_price"] == 9
        assert "regular_price" not in merged(other)[0]

    @pytest.mark.parametrize(
        ("told", "tagged", "is_disputed"),
        [(5, 6, True), (5, 5, False), (5, None, False), (None, 6, False)],
    )
    def test_a_price_is_disputed_by_another_in_the_meta_elements(
        self, told: int | None, tagged: int | None, is_disputed: bool
    ) -> None:
        offered = {
            "microdata": {} if told is None else {"price": Decimal(told)},
            "opengraph": {} if tagged is None else {"price": Decimal(tagged)},
        }
        assert disputed(offered) is is_disputed

    @pytest.mark.parametrize(
        ("others", "price", "regular"),
        [
            ({"opengraph": 4, "text": 4}, 4, 5),  # two outvote it, and its own was before
            ({"opengraph": 6, "text": 6}, 6, None),
            ({"opengraph": 4, "text": 3}, 5, None),
            ({"opengraph": 4, "state": 4, "text": 5}, 5, None),  # one agrees with it
            ({"text": 4}, 5, None),
        ],
    )
    def test_two_that_agree_outvote_structured_data(
        self, others: dict[str, int], price: int, regular: int | None
    ) -> None:
        offered: dict[str, Any] = {"json-ld": {"price": Decimal(5)}}
        offered |= {source: {"price": Decimal(n)} for source, n in others.items()}
        outvote(offered, b"<p>Price before: 5</p>")
        assert offered["json-ld"]["price"] == price
        assert offered["json-ld"].get("regular_price") == regular

    @pytest.mark.parametrize(
        ("state", "others", "price"),
        [(500, {"text": 5}, 5), (500, {"text": 5, "json-ld": 5}, 5), (500, {}, 500),
         (500, {"text": 6}, 500), (500, {"text": 5, "json-ld": 6}, 500)],
    )  # fmt: skip
    def test_a_state_counts_in_cents_where_all_others_show_it(
        self, state: int, others: dict[str, int], price: int
    ) -> None:
        offered: dict[str, Any] = {s: {"price": Decimal(n)} for s, n in others.items()}
        offered["state"] = {"price": Decimal(state), "regular_price": Decimal(900)}
        in_whole_units(offered)
        assert offered["state"]["price"] == price
        assert offered["state"]["regular_price"] == (9 if price != state else 900)


def kinds(html: str, url: str = f"{SHOP}/c/lamps") -> dict[str, str]:
    found = find_links(parse(f"<html><body>{html}</body></html>", url))
    return {link.url.removeprefix(SHOP): link.kind for link in found}


class TestLinks:
    @pytest.mark.parametrize(
        ("href", "followed"),
        [
            ("/c/lamps?brand=acme", False),  # the same listing, narrowed
            ("/c/lamps?sort=price", False),
            ("/c/other?sort=price", False),
            ("/c/other?brand=acme", True),
            ("/c/other?brand=acme&colour=red", False),
            ("/index.php?route=x&brand=acme&colour=red", True),
            ("/index.php?a=1&b=2&c2=3", False),
            ("/a/b/c/d/e/f/g/h/i/j/k/l", True),
            ("/a/b/c/d/e/f/g/h/i/j/k/l/m", False),  # a path without end
            ("/a/b/a/c", True),
            ("/a/b/a/b/a", False),  # around in circles
            ("/x?" + "&".join(f"id_{n}=1" for n in range(51)), True),
            ("/x?" + "&".join(f"id_{n}=1" for n in range(52)), False),
            ("/calendar/2024", False),
            ("/2024/05/", False),
            ("/1999/06/", False),
            ("/news/2024-05", False),
            ("/x?date=5", False),
            ("/picture.JPG", False),
            ("/cart", False),
        ],
    )
    def test_an_address_is_followed_where_it_leads_to_something_new(
        self, href: str, followed: bool
    ) -> None:
        assert (href in kinds(f'<a href="{href}">x</a>')) is followed

    def test_a_page_far_behind_is_no_page(self) -> None:
        pager = '<div class="pagination"><a href="?page={0}">{0}</a></div>'
        assert kinds(pager.format(5000)) == {"/c/lamps?page=5000": "pagination"}
        assert kinds(pager.format(5001)) == {}

    def test_a_parameter_that_this_page_has_narrows_nothing_further(self) -> None:
        here = f"{SHOP}/c/lamps?brand=acme"
        assert kinds('<a href="/c/lamps?brand=acme&page=2">2</a>', here) == {
            "/c/lamps?brand=acme&page=2": "pagination"
        }
        assert kinds('<a href="/c/lamps?brand=other">x</a>', here) == {}


class TestPageCounts:
    def told(self, text: str, *hrefs: str) -> list[str]:
        pager = "".join(f'<a href="{href}">{n}</a>' for n, href in enumerate(hrefs, 2))
        html = f'<html><body><p>{text}</p><div class="pagination">{pager}</div></body></html>'
        page = parse(html, f"{SHOP}/tents")
        return [url.partition("=")[2] for url in further_pages(page, find_links(page))]

    def test_words_count_pages_where_addresses_count_products(self) -> None:
        assert self.told("Page 1 of 5", "?start=24", "?start=48") == ["72", "96"]
        assert self.told("1-24 of 100 results", "?start=24", "?start=48") == ["72", "96"]
        assert self.told("1-24 of 96 results", "?start=24", "?start=48") == ["72"]

    def test_one_result_a_page_is_no_listing(self) -> None:
        assert self.told("1-1 of 9 results", "?page=2") == []
        assert self.told("1-2 of 7 results", "?page=2") == ["3", "4"]

    def test_a_page_of_its_number_counts_from_one(self) -> None:
        assert self.told("", "?page=0", "?page=4") == ["2", "3"]
        assert step_of(f"{SHOP}/tents?page={{}}", {24, 48}) == 1
        assert step_of(f"{SHOP}/tents?offset={{}}", {24, 60}) == 12
        assert numbers_of([]) == {}

    def test_very_many_pages_are_left_to_the_links(self) -> None:
        assert len(self.told("", "?page=2", "?page=501")) == 498
        assert self.told("", "?page=2", "?page=502") == []


@pytest.mark.parametrize(
    ("url", "other", "same"),
    [
        ("https://a.example/x", "https://a.example/y", True),
        ("https://a.example", "https://a.example/y", True),
        ("https://b.shop.com/x", "https://shop.com", True),
        ("https://a.example.evil/x", "https://a.example/y", False),
        ("mailto:x@a.example", "mailto:x@a.example", False),
    ],
)
def test_a_site_is_one_with_or_without_a_path(url: str, other: str, same: bool) -> None:
    assert same_site(url, other) is same


class TestMicrodata:
    """Where the value of a property stands, by the element that has it."""

    @pytest.mark.parametrize(
        ("part", "field", "value"),
        [
            ('<meta itemprop="sku" content=" AB-12 ">', "sku", "AB-12"),
            ('<span itemprop="sku">AB-12</span>', "sku", "AB-12"),
            ('<span itemprop="sku" content="AB-12">shown otherwise</span>', "sku", "AB-12"),
            ('<data itemprop="sku" value="AB-12">shown otherwise</data>', "sku", "AB-12"),
            ('<data itemprop="sku" value="">AB-12</data>', "sku", "AB-12"),
            ('<a itemprop="brand" href="/acme">Acme</a>', "brand", "Acme"),
            ('<img itemprop="image" src="/a.png">', "images", ["https://shop.example/a.png"]),
            ('<img itemprop="image" data-src="/a.png">', "images", ["https://shop.example/a.png"]),
            ('<span itemprop="sku mpn">AB-12</span>', "mpn", "AB-12"),
        ],
    )
    def test_a_value_is_read_where_the_element_keeps_it(
        self, part: str, field: str, value: object
    ) -> None:
        offer = (
            '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
            '<meta itemprop="price" content="5.00"><meta itemprop="priceCurrency" content="EUR"></div>'
        )
        html = (
            '<html><body><div itemscope itemtype="https://schema.org/Product">'
            f'<h1 itemprop="name">Steel drill</h1>{part}{offer}</div></body></html>'
        )
        found = extract(parse(html, f"{SHOP}/p/drill")).fields
        assert (found[field], found["price"], found["currency"]) == (value, 5, "EUR")

    def told(self, refs: str, *elsewhere: str) -> dict[str, Any]:
        html = (
            f'<html><body><div itemscope itemtype="https://schema.org/Product" itemref="{refs}">'
            f'<h1 itemprop="name">Steel drill</h1></div>{"".join(elsewhere)}</body></html>'
        )
        return dict(extract(parse(html, f"{SHOP}/p/drill")).fields)

    def test_what_stands_elsewhere_belongs_to_the_item_that_names_it(self) -> None:
        sku = '<p id="a">Number <b itemprop="sku">AB-12</b></p>'
        offer = (
            '<div id="b" itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
            '<meta itemprop="price" content="5.00"><meta itemprop="priceCurrency" content="EUR"></div>'
        )
        found = self.told("a b", sku, offer)
        assert (found["sku"], found["price"], found["currency"]) == ("AB-12", 5, "EUR")
        assert "sku" not in self.told("b", sku.replace("Number ", ""), offer)
        assert self.told("none a b", sku, offer)["sku"] == "AB-12"
        assert self.told("\x1b a b", sku, offer)["sku"] == "AB-12"
        assert self.told("a b", sku, sku.replace("AB", "CD"), offer)["sku"] == "AB-12"

    def test_references_without_end_are_read_to_a_limit(self) -> None:
        sku = '<b id="a" itemprop="mpn">AB-12</b>'
        offer = '<meta id="o" itemprop="gtin" content="4006381333931">'
        assert "gtin" in self.told("x " * 99 + "o", sku, offer)
        assert "gtin" not in self.told("x " * 100 + "o", sku, offer)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, None),
        (None, None),
        (12, "12"),
        (12.5, "12.5"),
        (float("inf"), None),
        (float("nan"), None),
        (10**15 - 1, "999999999999999"),
        (10**15, None),  # no price reaches it
        (2**2000, None),  # Python writes none of very many digits
        ("1299.00", "1299.00"),
        ("", None),
        ("call us", None),
        ("1,299", "1299"),
    ],
)
def test_a_number_of_structured_data_is_finite(value: object, expected: str | None) -> None:
    found = number(value)
    assert (found if found is None else str(found)) == expected


@pytest.mark.parametrize(
    ("location", "is_taken"),
    [
        ("https://shop.example/p/1", True),
        ("/p/1", True),
        ("", False),
        ("mailto:a@shop.example", False),
        ("https://shop.example/" + "x" * (_MAX_ADDRESS_BYTES - 21), True),
        ("https://shop.example/" + "x" * (_MAX_ADDRESS_BYTES - 20), False),
    ],
)
def test_an_entry_of_a_sitemap_is_an_address_of_the_web(location: str, is_taken: bool) -> None:
    body = f"<urlset><url><loc>{location}</loc></url></urlset>".encode()
    found = read_sitemap(body, f"{SHOP}/sitemap.xml")
    assert bool(found.pages) is is_taken
