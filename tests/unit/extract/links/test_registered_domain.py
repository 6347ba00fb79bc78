"""Site files: found by host, and never in each other's way."""

import pytest

from crawler.extract import parse
from crawler.extract.links import registered_domain
from crawler.extract.links.registered_domain import same_site, site_of
from crawler.extract.site import Site, select
from spiders import which_site


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://shop.example.co.uk/a", "https://www.example.co.uk/b", True),
        ("https://a.co.uk/a", "https://b.co.uk/b", False),
        ("http://127.0.0.1:80/a", "http://127.0.0.1/b", True),
        ("http://127.0.0.1:8001/a", "http://127.0.0.1:8002/b", False),
        ("http://localhost:1/a", "http://localhost:2/b", False),
        ("https://example.com.evil.org/", "https://example.com/", False),
        ("mailto:a@example.com", "https://example.com/", False),
    ],
)
def test_a_site_is_a_registered_domain_or_a_host_and_port(one: str, other: str, same: bool) -> None:
    assert same_site(one, other) is same


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.shop.example.co.uk", "example.co.uk"),
        ("a.b.ck", "a.b.ck"),  # each name below .ck is a registry's
        ("shop.www.ck", "www.ck"),  # but for this one
        ("x.xn--80aaxitdbjk.xn--p1ai", "xn--80aaxitdbjk.xn--p1ai"),
        ("shop.myshopify.com", "myshopify.com"),
        ("www.example.com.", "example.com"),
        ("shop.xn--p1ai", "shop.xn--p1ai"),
        ("x.shop.xn--p1ai", "shop.xn--p1ai"),
        ("x.xn--999999999.com", "xn--999999999.com"),
        ("co.uk", "co.uk"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("shop.intern", "shop.intern"),
    ],
)
def test_a_registered_domain_is_a_label_below_a_registry(host: str, site: str) -> None:
    assert site_of(f"http://{host}/") == site


def test_a_site_file_is_found_by_its_domain_and_below_it() -> None:
    assert which_site.find("http://demo-shop.localhost:8000/x").name == "demo"
    assert which_site.find("http://www.demo-shop.localhost/x").name == "demo"
    assert which_site.find("http://other.example/x").name == ""
    assert which_site.site_id("http://www.other.co.uk/x") == "other.co.uk"


class Shelf(Site):
    domains = ("shelf.example",)
    product_pages = r"/thing/"
    fields = {
        "name": "b.n::text",
        "images": "img::attr(src)",
        "brand": "//i[@class='brand']/text()",
    }
    deny = (r"/private/",)


def test_selectors_of_a_site_come_first() -> None:
    html = "<html><body><h1>No</h1><b class=n> Yes\n it is </b><img src=/a.png><i class=brand>B</i>"
    found = Shelf().extract(parse(html, "http://shelf.example/thing/1"))
    item = found.product()
    assert item is not None
    assert (item.name, item.images, item.brand) == (
        "Yes it is", ["http://shelf.example/a.png"], "B",
    )  # fmt: skip
    assert item.sources["name"] == "site"


def test_a_site_says_which_pages_are_products_and_which_links_are_denied() -> None:
    html = "<h1>Lamp</h1><p class=price>$5.00</p><button>Add to cart</button><p>SKU: L-1</p>"
    page = parse(html + "<a href=/private/x>x</a><a href=/y>y</a>", "http://shelf.example/about")
    assert Shelf().extract(page).product() is None
    assert [link.url for link in Shelf().links(page)] == ["http://shelf.example/y"]


def test_select_reads_css_and_xpath() -> None:
    root = parse("<div><p>a <b>b</b></p><p></p></div>", "http://a.example").root
    assert select(root, "p") == ["a b"]
    assert select(root, "//p/b/text()") == ["b"]


@pytest.mark.parametrize("key", ["http://10.1.2.3/a", "http://10.1.2.4:8000/", "http://[::2]:80/"])
def test_no_list_of_suffixes_is_read_for_an_address(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise AssertionError("the list was read")

    monkeypatch.setattr(registered_domain, "_suffixes", refuse)

    assert site_of(key) in key
