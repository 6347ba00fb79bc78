"""Which links are followed, in which order, and which are traps."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from crawler.demo.pages import Site
from crawler.demo.traps import Traps
from crawler.extract import extract, find_links, parse
from crawler.extract.links.fingerprints import listing_fingerprint
from crawler.extract.links.listed_links import listed_links
from crawler.extract.links.sitemap_format import named_in_robots, read_sitemap

SHOP = "http://shop.example"
PAGE = f"{SHOP}/c/lamps?page=3"


def links(html: str, url: str = PAGE, **options: object) -> dict[str, str]:
    found = find_links(parse(html, url), **options)  # type: ignore[arg-type]
    return {link.url.removeprefix(SHOP): link.kind for link in found}


CARD = '<li class="product"><a href="{0}"><img src="x.jpg"><h3>Lamp</h3></a><span>$5</span></li>'
CARDS = "".join(CARD.format(f"/lamp-{n}") for n in range(3))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (CARD.format("/red-lamp"), {"/red-lamp": "product"}),
        ('<div class="card"><a href="/red-lamp"><div class="i"><img src="x.jpg"></div></a></div>',
         {"/red-lamp": "product"}),
        ('<div class="card"><a href="/2026/03/red-lamp/"><h3>Lamp</h3></a><i class="price">$5</i></div>',
         {"/2026/03/red-lamp/": "product"}),
        ('<div class="card"><a href="/2026/03/our-story/"><h3>Story</h3></a></div>', {}),
        ('<div class="card"><a href="/2026/03/"><h3>Lamp</h3></a><i class="price">$5</i></div>', {}),
        ('<a href="/products/red">x</a>', {"/products/red": "product"}),
        ('<a href="/index.php?route=product/product&product_id=4">x</a>',
         {"/index.php?route=product/product&product_id=4": "product"}),
        ('<nav><a href="/lamps/desk">Desk</a></nav>', {"/lamps/desk": "listing"}),
        ('<a href="/collections/lamps">Lamps</a>', {"/collections/lamps": "listing"}),
        ('<p><a href="/story">Our story</a></p>', {"/story": "other"}),
        (CARDS + '<link rel="next" href="/c/lamps/4">', {"/c/lamps/4": "pagination"}),
        (CARDS + '<a rel="next" href="/c/lamps/4">4</a>', {"/c/lamps/4": "pagination"}),
        (CARDS + '<a href="?page=4">4</a>', {"/c/lamps?page=4": "pagination"}),
        (CARDS + '<div class="pagination"><a href="/c/lamps/o-48">Weiter »</a></div>',
         {"/c/lamps/o-48": "pagination"}),
        (CARDS + '<a href="/c/lamps/page/4/">4</a>', {"/c/lamps/page/4/": "pagination"}),
    ],
)  # fmt: skip
def test_a_link_is_told_by_its_address_and_its_place(html: str, expected: dict[str, str]) -> None:
    found = links(html)
    assert {url: kind for url, kind in found.items() if not url.startswith("/lamp-")} == expected


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ('<a href="?pag=2">Seguinte »</a>', "/c/lamps?pag=2"),
        ('<a href="?stranka=2">Další</a>', "/c/lamps?stranka=2"),
        ('<a href="?blad=2">2</a>', "/c/lamps?blad=2"),
        ('<a href="?hl=2">2</a>', "/c/lamps?hl=2"),
        ('<a href="?xyz=20"><span>›</span></a>', "/c/lamps?xyz=20"),
        ('<a href="?xyz=2" aria-label="Next page"><svg></svg></a>', "/c/lamps?xyz=2"),
    ],
)
def test_a_page_is_turned_by_a_parameter_of_any_name(link: str, address: str) -> None:
    assert links(CARDS + link, f"{SHOP}/c/lamps").get(address) == "pagination"


@pytest.mark.parametrize(
    "link",
    [
        '<a href="?pro_seite=24">24</a>',  # things a page shows
        '<a href="?stars=4">Lamps with 4 stars</a>',
        '<a href="?stars=4&blad=2">2</a>',
        '<a href="?sort=2">Next</a>',
        '<a href="?blad=5001">Next</a>',
    ],
)
def test_a_number_in_an_address_alone_turns_no_page(link: str) -> None:
    assert "pagination" not in links(CARDS + link, f"{SHOP}/c/lamps").values()


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ('<a href="?q=%3Arelevance&page=1">2</a>', "/c/lamps?q=%3Arelevance&page=1"),
        ('<a href="?searching=Y&sort=13&page=2">2</a>', "/c/lamps?searching=Y&sort=13&page=2"),
        ('<a href="?visit=3f&page=2">2</a>', "/c/lamps?visit=3f&page=2"),
    ],
)
def test_a_link_named_by_its_pages_number_turns_the_page_whatever_else_it_adds(
    link: str, address: str
) -> None:
    assert links(CARDS + link, f"{SHOP}/c/lamps").get(address) == "pagination"
    other_label = link.replace(">2<", ">Red<")
    assert address not in links(CARDS + other_label, f"{SHOP}/c/lamps")


def test_a_visits_new_number_beside_a_pages_number_makes_no_endless_listing() -> None:
    url = f"{SHOP}/c/lamps?visit=3f&page=2"
    assert "pagination" not in links(CARDS + '<a href="?visit=4a&page=3">3</a>', url).values()


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/stores/servlet/CategoryDisplay?storeId=1&catalogId=5&langId=-1&categoryId=7",
         "/stores/servlet/CategoryDisplay?storeId=1&catalogId=5&langId=-1&categoryId=8"),
        ("/Browse?CatalogID=web&CategoryName=lamps", "/Browse?CatalogID=web&CategoryName=rugs"),
        ("/index.php?cl=alist&cnid=a3f", "/"),
        ("/index.php?cl=details&anid=b7&cnid=a3f&listtype=list", "/index.php?cl=alist&cnid=a3f"),
        ("/index.php?option=com_shop&view=category&shop_category_id=2", "/"),
        ("/index?letter=B", "/index?letter=A"),
        ("/lamparas?letra=B", "/lamparas"),
        ("/lampen?buchstabe=B", "/lampen"),
    ],
)  # fmt: skip
def test_numbers_of_shops_catalogues_and_categories_narrow_no_listing(
    address: str, page: str
) -> None:
    assert address in links(f'<a href="{address}">Lamps</a>', SHOP + page)


@pytest.mark.parametrize(
    "path",
    ["/tell_a_friend.php?products_id=3", "/product_reviews.php?products_id=3", "/note/add/7", "/lamp-3/customer-reviews?page=2", "/set-currency/USD?back=/lamp-3",
     "/index.php?route=product/compare&product_id=3", "/review/product/list/id/3/",
     "/index.php?route=product/product/review&product_id=3",
     "/index.php?action=notify&products_id=3", "/druckansicht/3"],
)  # fmt: skip
def test_what_one_does_with_a_product_is_no_page_of_it(path: str) -> None:
    assert links(f'<a href="{path}">Lamp</a>', f"{SHOP}/lamp-3.html") == {}


def test_tags_that_a_link_adds_to_the_pages_make_no_endless_listing() -> None:
    html = '<a href="/tag/oak+red">red</a><a href="/tag/ash">ash</a><a href="/tag/oak+2">2</a>'
    assert set(links(html, f"{SHOP}/tag/oak")) == {"/tag/ash", "/tag/oak+2"}


@pytest.mark.parametrize("name", ["filter.p.m.color", "color", "price"])
def test_a_filters_number_on_a_later_page_is_no_things_number(name: str) -> None:
    assert links(f'<a href="/c/lamps?{name}=4">Red</a>') == {}


def test_the_next_product_is_no_next_page() -> None:
    html = '<h1>Lamp</h1><a href="?id=6">Next</a>'
    assert "pagination" not in links(html, f"{SHOP}/show?id=5").values()


def test_an_empty_page_of_an_unusual_parameter_ends_its_listing() -> None:
    html = '<nav><a href="/c/rugs">Rugs</a></nav><a href="?blad=8">Next</a>'
    assert "pagination" in links(html, f"{SHOP}/c/lamps?blad=1").values()
    assert "pagination" not in links(html, f"{SHOP}/c/lamps?blad=7").values()


def test_products_come_before_listings_before_the_rest() -> None:
    html = '<a href="/story">s</a><nav><a href="/c/x">x</a></nav><a href="/p/1">p</a>'
    found = find_links(parse(html, SHOP + "/"))
    assert [link.kind for link in sorted(found, key=lambda link: -link.priority)] == [
        "product", "listing", "other",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "href",
    ["javascript:void(0)", "mailto:a@b.example", "data:text/html,x", "tel:+1", "#top", "",
     "ftp://shop.example/x", "http://[bad", "/cart", "/checkout/", "/my-account/orders",
     "?add-to-cart=7", "/vergleich?add=7", "/wishlist/add/7", "/inquiry/add?article=101.6", "/print_product_info.php?products_id=7", "/product/image_zoom.html?product_no=7",
     "?main_page=popup_image&pID=7", "/i.php?dispatch=product_features.add_product&product_id=7",
     "/cad/101-6.step", "/photo.jpg", "/manual.pdf",
     "/calendar/2026/11", "/events?month=2026-11", "/archive/2024/05/", "/a/b/a/b/a/b", "/" + "x" * 1200],
)  # fmt: skip
def test_a_link_to_nothing_or_in_circles_is_left(href: str) -> None:
    assert links(f'<a href="{href}">x</a>') == {}


@pytest.mark.parametrize(
    "query",
    ["colour=red", "colour=red&size=xl", "sort=price", "view=list", "per_page=48", "page=3&dir=asc",
     "price=10-20&page=3", "price=0-5000", "price=5000-50000"],
)  # fmt: skip
def test_what_only_sorts_or_narrows_a_listing_is_left(query: str) -> None:
    assert links(f'{CARDS}<a href="/c/lamps?{query}">x</a>').keys() == {
        "/lamp-0", "/lamp-1", "/lamp-2",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("link", "follows"),
    [
        ("/i18n/ar/?next=/c/lamps", False),
        ("/enter?returnUrl=%2Fc%2Flamps", False),
        (f"/change?to=sek&back={SHOP}/c/lamps", False),
        ("/change?next=/c/rugs", True),
        ("/more?list=/c/lamps&page=2", True),
    ],
)
def test_a_link_that_returns_to_its_page_is_left(link: str, follows: bool) -> None:
    """A switch of the language was requested once from each product's page."""
    assert (
        any(
            link.partition("?")[0] in url
            for url in links(f'<a href="{link}">x</a>', f"{SHOP}/c/lamps")
        )
        == follows
    )


def test_session_ids_make_no_new_address() -> None:
    html = (
        '<a href="/p/1?PHPSESSID=abc">x</a><a href="/p/1;jsessionid=1F">x</a><a href="/p/1">x</a>'
    )
    assert links(html) == {"/p/1": "product"}


@pytest.mark.parametrize(
    "html",
    ['<a rel="nofollow" href="/p/1">x</a>', '<a rel="UGC NoFollow" href="/p/1">x</a>',
     '<meta name="robots" content="noindex, nofollow"><a href="/p/1">x</a>',
     '<meta name="ROBOTS" content="none"><a href="/p/1">x</a>',
     '<meta name=robots content=index><meta name=robots content=nofollow><a href="/p/1">x</a>'],
)  # fmt: skip
def test_nofollow_is_respected(html: str) -> None:
    assert links(html) == {}


def test_the_robots_header_is_respected() -> None:
    assert links('<a href="/p/1">x</a>', robots="nofollow") == {}


def test_a_base_elsewhere_takes_the_links_elsewhere() -> None:
    allowed: Callable[[str], bool] = lambda url: url.startswith(SHOP)  # noqa: E731
    html = '<base href="http://elsewhere.example/"><a href="/p/1">x</a>'
    assert links(html, allowed=allowed) == {}
    assert links('<base href="javascript:1"><a href="/p/1">x</a>', allowed=allowed) != {}


@pytest.mark.parametrize(
    "base", ["http://[shop/", "http://", "https:///", "http://a:99999/", "http://a b/"]
)
def test_a_base_that_is_no_address_is_passed_over(base: str) -> None:
    """I10: browsers do, and each link of the page was lost."""
    assert links(f'<base href="{base}"><a href="/p/1">x</a>') != {}


def test_an_empty_page_of_a_listing_ends_it() -> None:
    assert links('<a rel="next" href="?page=4">Next</a>', PAGE) == {}
    assert links(f'{CARDS}<a rel="next" href="?page=4">Next</a>', PAGE)["/c/lamps?page=4"]


def test_a_shelf_is_told_by_what_it_leads_to() -> None:
    one, same, other = (
        listing_fingerprint(find_links(parse(html, PAGE)))
        for html in (CARDS, CARDS + '<a href="?page=9">9</a>', CARDS + CARD.format("/new"))
    )
    assert one == same != other
    assert listing_fingerprint([]) is None


def test_a_page_of_plain_links_does_not_end_its_listing() -> None:
    html = '<p><a href="/red-lamp.html">Red lamp</a></p><a rel="next" href="?page=4">Next</a>'
    assert links(html) == {"/red-lamp.html": "other", "/c/lamps?page=4": "pagination"}


def test_a_product_in_other_colours_is_followed_once() -> None:
    html = "".join(
        f'<a href="/products/lamp?{query}">x</a>' for query in ("variant=1", "variant=2")
    )
    assert list(links(html)) == ["/products/lamp?variant=1"]
    assert links(html, f"{SHOP}/products/lamp") == {}
    many = "".join(f'<a href="/product/view?id={number}">x</a>' for number in range(3))
    assert len(links(many)) == 3


def test_a_product_is_followed_outside_its_collections() -> None:
    html = '<a href="/collections/lamps/products/red">x</a><a href="/collections/new/products/red">'
    assert links(html) == {"/products/red": "product"}


def test_a_careful_crawl_stays_out_of_the_shops_traps() -> None:
    """Fetched pages are at most one and a half times the useful ones."""
    shop = Site(200)
    answer = Traps(shop.page).answer
    queue, seen, useful, fetched = [(0, 0, SHOP + "/")], {SHOP + "/"}, 0, 0
    while queue and fetched < 2000:
        queue.sort()
        parts = urlsplit(queue.pop(0)[2])
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        page = answer(target)
        fetched += 1
        page = answer(page.location) if page.location else page
        if page.status != 200:
            continue
        tree = parse(page.body, SHOP + target, page.content_type)
        useful += extract(tree).kind == "product" or ("?" not in target)
        useful += "page=" in target
        for link in find_links(tree, allowed=lambda url: url.startswith(SHOP)):
            if link.url not in seen:
                seen.add(link.url)
                queue.append((-link.priority, len(seen), link.url))
    assert fetched <= 1.5 * useful
    assert {SHOP + product.path for product in shop.products if product.number % 97} <= seen


@pytest.mark.parametrize(
    ("body", "pages", "indexes"),
    [
        (b"<urlset><url><loc> http://a.example/x?a=1&amp;b=2 </loc><lastmod>2026-01-01</lastmod>"
         b"</url></urlset>", [("http://a.example/x?a=1&b=2", "2026-01-01")], []),
        (b"<sitemapindex><sitemap><loc>http://a.example/1.xml</loc></sitemap></sitemapindex>",
         [], ["http://a.example/1.xml"]),
        (b"<s:urlset><s:url><s:loc><![CDATA[http://a.example/x]]></s:loc></s:url></s:urlset>",
         [("http://a.example/x", "")], []),
        (b"http://a.example/x\nhttp://a.example/y\nnonsense", [("http://a.example/x", ""),
         ("http://a.example/y", "")], []),
        (b"<rss><channel><link>http://a.example/</link><item><link>http://a.example/x</link><pubDate>"
         b"Mon</pubDate></item></channel></rss>", [("http://a.example/x", "Mon")], []),
        (b'<feed><entry><link href="http://a.example/x"/><updated>2026</updated></entry></feed>',
         [("http://a.example/x", "2026")], []),
        (b"<urlset><url><loc>http://a.example/x</loc></url><url><loc>http://a.exam",
         [("http://a.example/x", "")], []),
        (b"<html><body>not found</body></html>", [], []),
        (b"", [], []),
        (b"\x1f\x8bnot gzip", [], []),
    ],
)  # fmt: skip
def test_sitemaps_of_all_kinds(
    body: bytes, pages: list[tuple[str, str]], indexes: list[str]
) -> None:
    found = read_sitemap(body, "http://a.example/sitemap.xml")
    assert (found.pages, found.sitemaps) == (pages, indexes)


def test_a_packed_sitemap_is_unpacked_and_an_index_of_itself_ends() -> None:
    import gzip

    own = b"<sitemapindex><sitemap><loc>http://a.example/s.xml</loc></sitemap></sitemapindex>"
    assert read_sitemap(gzip.compress(own), "http://a.example/s.xml").sitemaps == []
    assert read_sitemap(gzip.compress(own), "http://a.example/").sitemaps != []
    twice = gzip.compress(gzip.compress(own))
    assert read_sitemap(twice, "http://a.example/").sitemaps != []
    pieces = gzip.compress(own[:20]) + gzip.compress(own[20:])
    assert read_sitemap(pieces, "http://a.example/").sitemaps != []


def test_a_sitemap_names_the_folders_of_a_shops_copies_in_other_languages() -> None:
    alternates = "".join(
        f'<xhtml:link rel="alternate" hreflang="{code}" href="http://a.example{folder}/lamp"/>'
        for code, folder in (("el", ""), ("en", "/en"), ("x-default", "/en"))
    )
    entries = "".join(
        f"<url><loc>http://a.example{folder}/lamp</loc>{alternates}</url>" for folder in ("", "/en")
    )
    found = read_sitemap(f"<urlset>{entries}</urlset>".encode(), "http://a.example/sitemap.xml")
    both = ["http://a.example/lamp", "http://a.example/en/lamp"]
    assert list(found.addresses("http://a.example/")) == both[:1]
    assert list(found.addresses("http://a.example/en/")) == both


def test_a_sitemap_in_a_languages_folder_is_a_copy_of_the_one_beside_it() -> None:
    names = ("/products.xml?from=1", "/fr/products.xml?from=1", "/fr/news.xml")
    entries = "".join(f"<sitemap><loc>http://a.example{name}</loc></sitemap>" for name in names)
    index = read_sitemap(f"<sitemapindex>{entries}</sitemapindex>".encode(), "http://a.example/")
    assert index.further_sitemaps("http://a.example/") == [index.sitemaps[0], index.sitemaps[2]]
    assert index.further_sitemaps("http://a.example/fr/") == index.sitemaps


def test_robots_txt_names_sitemaps() -> None:
    text = "Sitemap: http://a.example/1.xml\nsitemap:/2.xml\nUser-agent: *\nDisallow: /"
    assert named_in_robots(text, "http://a.example/robots.txt") == [
        "http://a.example/1.xml", "http://a.example/2.xml",
    ]  # fmt: skip


def test_a_sitemaps_pages_are_filtered_as_links_are() -> None:
    urls = [f"{SHOP}/p/1", f"{SHOP}/cart", "http://elsewhere.example/p/2", f"{SHOP}/c/lamps"]
    found = listed_links(urls, SHOP, lambda url, origin: url.startswith(origin))
    assert [(link.url, link.kind) for link in found] == [
        (f"{SHOP}/p/1", "product"), (f"{SHOP}/c/lamps", "listing"),
    ]  # fmt: skip


def tiles(*addresses: str, more: str = "") -> str:
    boxes = (
        f'<div class="k"><a href="{href}"><img src="/i/{n}.jpg">Lamp {n}</a> £{n + 20}.50{more}</div>'
        for n, href in enumerate(addresses)
    )
    return f"<html lang=en><h1>Lamps</h1>{''.join(boxes)}"


def read_links(html: str, url: str = f"{SHOP}/range/lamps") -> dict[str, str]:
    page = parse(html, url)
    extract(page)
    return {link.url.removeprefix(SHOP): link.kind for link in find_links(page)}


def test_the_link_of_a_tile_with_a_price_is_a_products_whatever_its_address() -> None:
    addresses = [f"/oak/{name}" for name in ("ada", "bea", "cleo", "dora")]
    found = read_links(tiles(*addresses) + '<a href="/story">Story</a>')
    assert found == {**dict.fromkeys(addresses, "product"), "/story": "other"}


@pytest.mark.parametrize("variant", ["?colour=red", "/red", "/red?size=3"])
def test_the_colours_of_a_tile_are_not_followed_beside_it(variant: str) -> None:
    names = [f"/oak/{name}" for name in ("ada", "bea", "cleo")]
    boxes = "".join(
        f'<div class="k"><a href="{name}"><img src="/i.jpg">Lamp</a> <span>£2{n}.50</span>'
        f'<a class="sw" href="{name}{variant}"></a></div>'
        for n, name in enumerate(names)
    )
    assert read_links(f"<html lang=en><h1>Lamps</h1>{boxes}") == dict.fromkeys(names, "product")


def test_a_copy_for_phones_is_left_however_a_link_spells_its_address() -> None:
    head = f'<link rel="alternate" media="only screen and (max-width: 640px)" href="{SHOP}/m/c/1">'
    assert links(f'{head}<a href="/m/c/1">Mobile</a><a href="/oak">Oak</a>', f"{SHOP}/c/1") == {
        "/oak": "other"
    }


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("after=eyJpIjogNCwgImsiOiA4OTF9", "pagination"),
        ("cursor=eyJpIjogNCwgImsiOiA4OTF9&sort=name", None),
        ("after=2026-11-29", None),
        ("after=christmas-and-new-year", None),
    ],
)
def test_a_token_as_a_cursor_turns_the_page_under_any_label(query: str, kind: str | None) -> None:
    found = links(f'<a href="/wines?{query}">További borok</a>', f"{SHOP}/wines")
    assert found.get(f"/wines?{query}") == kind


@pytest.mark.parametrize("name", ["lamp-{}", "%D0%BB%D0%B0%D0%BC%D0%BF%D0%B0-{}"])
def test_a_dated_address_is_followed_from_a_tile_with_a_price_whatever_its_class(name: str) -> None:
    """A shop in blog software was lost whole, because its prices' class was `amount`."""
    tiles = "".join(
        f'<div class="box"><a href="/2025/03/1{n}/{name.format(n)}/">Lamp {n}</a><i class="amount">${n}'
        ".50</i></div>"
        for n in range(1, 7)
    )
    news = '<div class="box"><a href="/2025/03/19/our-story/">Our story</a><i>Read on</i></div>'
    found = links(f"<html lang=en><h1>Lamps</h1>{tiles}{news}</html>")
    assert found.keys() == {f"/2025/03/1{n}/{name.format(n)}/" for n in range(1, 7)}


@pytest.mark.parametrize(
    "menu",
    [
        '<nav id="main" data-src="/ajax/all?v=3"></nav>',
        '<div class="mega-menu" data-menu-url="/ajax/all?v=3"><i class="spinner"></i></div>',
        '<header><div hx-get="/ajax/all?v=3" hx-trigger="load"></div></header>',
        '<div class="site-header" data-fragment-url="/ajax/all?v=3"></div>',
    ],
)
def test_a_menu_that_a_script_fills_in_is_loaded_from_the_front_page_or_where_none_is(
    menu: str,
) -> None:
    """Of a shop with such a menu only the front page's categories were found, without a word."""
    card = CARD.format("/red-lamp")
    assert links(menu + card) == {"/ajax/all?v=3": "listing", "/red-lamp": "product"}
    linked = f'{menu}<nav><a href="/c/lamps/desk">Desk lamps</a></nav>{card}'
    assert "/ajax/all?v=3" in links(linked, f"{SHOP}/")
    assert "/ajax/all?v=3" not in links(linked)


@pytest.mark.parametrize(
    "part",
    [
        '<div class="reviews" data-url="/ajax/all?v=3"></div>',
        '<nav data-src="/ajax/all?v=3"><a href="/about">About us</a></nav>',
        '<nav><img data-src="/menu/lamps.jpg"></nav>',
        '<header><form data-url="/ajax/all?v=3"><input data-suggest-url="/suggest"></form></header>',
        '<nav data-cart-url="/cart/mini"></nav>',
        '<header><a class="menu" data-url="/ajax/all?v=3" href="#">Menu</a></header>',
        '<div data-url="/ajax/all?v=3"></div>',
    ],
)
def test_no_other_part_that_a_script_fills_in_is_loaded_as_a_menu(part: str) -> None:
    found = links(part + CARD.format("/red-lamp"), f"{SHOP}/")
    assert found.keys() - {"/about"} == {"/red-lamp"}
