"""Shops whose products have no links: boxes, buttons, frames, menus of scripts, languages to choose."""

from __future__ import annotations

import json

import pytest

from crawler.extract import extract, find_links, parse
from crawler.extract.links.listed_links import listed_links

SHOP = "http://shop.example"


def links(html: str, url: str = f"{SHOP}/c/all", lang: str = "en") -> set[str]:
    page = parse(f'<html lang="{lang}">{html}</html>', url)
    extract(page)
    return {link.url.removeprefix(SHOP) for link in find_links(page)}


BOXES = "".join(f'<div class="card" data-href="/p/{n}">Lamp {n}</div>' for n in range(4))
FORMS = "".join(
    f'<form action="/item"><input type=hidden name=id value={n}><input type=submit value=View></form>'
    for n in range(4)
)
VIEWS = "".join(f'<form><button formaction="/p/lamp-{n}">View</button></form>' for n in range(3))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("""<div onclick="location.href='/p/lamp-1'">Lamp</div>""", {"/p/lamp-1"}),
        ("""<td onClick='window.location = "/p/lamp-1";'>Lamp</td>""", {"/p/lamp-1"}),
        ("""<button onclick="document.location.assign('/c/b')">B</button>""", {"/c/b"}),
        (BOXES, {f"/p/{n}" for n in range(4)}),
        (FORMS, {f"/item?id={n}" for n in range(4)}),
        (VIEWS, {f"/p/lamp-{n}" for n in range(3)}),
        ('<svg><a xlink:href="/c/lamps"><text>Lamps</text></a></svg>', {"/c/lamps"}),
        ('<iframe src="/frame/list?page=1"></iframe>', {"/frame/list?page=1"}),
        ('<script>window.location.replace("/shop/index.php");</script>', {"/shop/index.php"}),
        (
            '<script>var menu=[{"title":"Living","children":[{"title":"Lamps","url":"/living/lamps"},'
            '{"url":"/living/chairs","title":"Chairs"}]},{title:"Bowls",url:"/kitchen/bowls"}];</script>',
            {"/living/lamps", "/living/chairs", "/kitchen/bowls"},
        ),
    ],
)
def test_a_visitors_click_leads_somewhere_without_a_link(html: str, expected: set[str]) -> None:
    assert links(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        """<div onclick="location.reload()">again</div><b onclick="go('/p/1')">x</b>""",
        """<div onclick="if(location.href=='/p/1')show()">x</div>""",
        '<div data-url="/p/1"></div><div data-url="/p/2"></div>',  # two are no list
        "".join(f'<div data-url="/api/quick/{n}"></div>' for n in range(4)),
        FORMS.replace("<form", "<form method=post"),
        VIEWS.replace("<form", '<form method="post"'),
        FORMS.replace("<input type=submit", "<input name=qty><input type=submit"),
        '<script>var api={"url":"/cart/add","path":"/user/me","href":"/track/hit"};</script>',
        '<a href="#">x</a><script>location.href="/elsewhere"</script>',
    ],
)
def test_what_orders_reloads_or_serves_a_script_leads_nowhere(html: str) -> None:
    assert links(html) == set()


def test_products_with_links_need_no_clicks() -> None:
    html = '<a href="/product/lamp-1">Lamp</a>' + BOXES.replace("/p/", "/quickview/")
    assert links(html) == {"/product/lamp-1"}


def test_many_clickable_elements_are_bounded() -> None:
    html = "".join(f"""<div onclick="location.href='/p/{n}'">x</div>""" for n in range(5_000))
    assert len(links(html)) == 500


CHOICE = '<a href="/en/" hreflang="en">English</a><a href="/de/" hreflang="de">Deutsch</a>'


@pytest.mark.parametrize("lang", ["", "fr"])
def test_a_front_page_that_only_asks_for_a_language_is_passed_in_the_first(lang: str) -> None:
    assert links(CHOICE + '<a href="/about">About</a>', f"{SHOP}/", lang) == {
        "/en/",
        "/about",
    }


def test_a_front_page_in_a_language_that_it_offers_is_passed_in_that() -> None:
    assert links(CHOICE, f"{SHOP}/", "de") == {"/de/"}


def test_a_page_with_goods_is_not_followed_into_other_languages() -> None:
    assert links(CHOICE + '<a href="/product/lamp-1">Lamp</a>', f"{SHOP}/", "fr") == {
        "/product/lamp-1"
    }


def test_a_front_page_with_links_of_its_own_is_no_choice_of_a_language() -> None:
    own = "".join(f'<a href="/lamp-of-{n}">Lamp</a>' for n in "abcdefgh")
    assert not {"/en/", "/de/"} & links(CHOICE + own, f"{SHOP}/", "fr")


def test_a_pager_that_may_not_be_followed_is_noted() -> None:
    pager = '<a rel="nofollow" href="/c/all?page={}">{}</a>'
    page = parse(f"<html>{pager.format(2, 2)}{pager.format(3, 3)}"
                 '<a rel=nofollow href="/login">Log in</a></html>', f"{SHOP}/c/all")  # fmt: skip
    assert find_links(page) == []
    assert page.unfollowed == [f"{SHOP}/c/all?page=2"]


NAMED = [
    "/print/sunset-over-paris", "/cookies/chocolate-chip-12", "/feed/layers-pellets-20kg",
    "/cart/garden-cart-large",
]  # fmt: skip
NO_GOODS = [
    "/print/sunset", "/cart/add-to-cart", "/login/forgot-password", "/calendar/2026-11-12",
    "/lamp-1/feed/", "/lamp-1/amp", "/quickview/12-lamp-red", "/cart/add/garden-cart-large",
]  # fmt: skip


def test_a_word_of_shops_may_be_what_a_shop_sells() -> None:
    html = "".join(f'<a href="{path}">x</a>' for path in NAMED + NO_GOODS)
    assert links(html) == set(NAMED)


def test_a_products_print_view_is_not_the_print_of_another_shop() -> None:
    html = (
        '<h1>Alder Lamp</h1><p class="price">£12.50</p><form method=post action=/cart>'
        '<button>Add to basket</button></form><a href="/print/alder-lamp-large">Print</a>'
    )
    assert links(html, f"{SHOP}/product/alder-lamp-large") == set()


LISTED = ",".join(f'{{"@type":"ListItem","url":"/p/lamp-{n}"}}' for n in range(4))
ATTRIBUTE = LISTED.replace('"', "&quot;")


@pytest.mark.parametrize(
    "html",
    [
        f'<script type="application/ld+json">{{"@type":"ItemList","itemListElement":[{LISTED}]}}</script>',
        f'<product-grid :data="[{ATTRIBUTE}]"></product-grid>',
        "".join(f'<product-card href="/p/lamp-{n}"></product-card>' for n in range(4)),
        "".join(f'<div itemscope><link itemprop=url href="/p/lamp-{n}"></div>' for n in range(4)),
    ],
)
def test_a_list_that_is_data_alone_leads_to_its_products(html: str) -> None:
    assert links(html) == {f"/p/lamp-{n}" for n in range(4)}


TILES = "".join(f'<a href="/product/lamp-{n}">Lamp {n}</a>' for n in range(12))
OFFSETS = "".join(
    f'<a href="/c/all?limit=12&amp;offset={n}">{label}</a>'
    for n, label in ((12, "2"), (24, "3"), (36, "Next"))
)
SIZES = "".join(f'<a href="/c/all?limit={n}">{n}</a>' for n in (12, 24, 96))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (TILES + SIZES, {"/c/all?limit=96"}),
        (TILES + '<a href="/c/all?view=all">View all</a>', {"/c/all?view=all"}),
        (TILES + SIZES + '<a href="/c/all?page=2">2</a>', {"/c/all?page=2"}),
        (TILES + OFFSETS, {f"/c/all?limit=12&offset={n}" for n in (12, 24, 36)}),
        (TILES[: TILES.index("</a>") + 4] + SIZES, set()),  # one lamp of twelve: all are shown
        (TILES + '<a href="/c/all?sort=3">by price</a><a href="/c/all?view=list">list</a>', set()),
    ],
)
def test_a_full_page_without_a_pager_is_asked_for_all_products(
    html: str, expected: set[str]
) -> None:
    assert {path for path in links(html) if "/product/" not in path} == expected


def test_the_category_in_a_products_path_makes_no_other_product() -> None:
    html = "".join(
        f'<a href="/index.php/catalog/product/view/id/5/s/lamp/category/{n}/">x</a>' for n in (3, 4)
    )
    assert links(html) == {"/index.php/catalog/product/view/id/5/s/lamp/"}


def test_a_page_that_forbids_all_of_its_links_is_noted() -> None:
    html = '<html><meta name=robots content="noindex, nofollow"><a href="/c/all">All</a></html>'
    page = parse(html, f"{SHOP}/")
    assert find_links(page) == []
    assert page.unfollowed == [f"{SHOP}/"]


def test_thousands_of_products_on_one_page_are_all_followed() -> None:
    tiles = "".join(
        f'<a href="/product/l-{n}"><img></a><a href="/product/l-{n}">L</a>' for n in range(4000)
    )
    assert len(links(tiles)) == 4000


def test_the_paths_in_nuxts_flat_payload_are_followed() -> None:
    paths = "".join(f',{{"name":5}},"Lamp {n}","/products/lamp-{n}"' for n in range(3))
    payload = f'[["Reactive",1],{{"data":2}}{paths},"/_nuxt/entry.js","/once"]'
    html = f'<script type="application/json" id="__NUXT_DATA__">{payload}</script>'
    assert links(html) == {f"/products/lamp-{n}" for n in range(3)}


def test_the_paths_in_a_streamed_array_are_followed() -> None:
    paths = "".join(f',"url","/products/lamp-{n}","price",{n}' for n in range(3))
    text = json.dumps(f'[{{"_1":2}},"routes/lamps"{paths}]\n')
    html = f"<script>window.__context.streamController.enqueue({text});</script>"
    assert links(html) == {f"/products/lamp-{n}" for n in range(3)}


@pytest.mark.parametrize(
    ("here", "pager", "expected"),
    [
        ("/c/all", '<a href="?page=1">1</a><a href="?page=2">2</a>', {"/c/all?page=2"}),
        (
            "/c/all?page=2",
            '<a href="/c/all?page=1">1</a><a href="/p/lamp-1">Lamp</a>',
            {"/c/all", "/p/lamp-1"},
        ),
        ("/c/all", '<a href="?page=1">2</a>', {"/c/all?page=1"}),  # counted from 0
        (
            "/c/all?list-0-page=2",
            '<a href="?list-0-page=1">1</a><a href="/p/lamp-1">Lamp</a>',
            {"/c/all", "/p/lamp-1"},
        ),
        (
            "/c/all?id=7",  # the pager names all its parameters
            '<a href="?id=7&name=&size=0&page=1">1</a><a href="?id=7&name=&size=0&page=2">2</a>',
            {"/c/all?id=7&name=&size=0&page=2"},
        ),
        (
            "/c/all",
            '<a href="?size=4&pgNr=0">1</a><a href="?size=4&pgNr=1">2</a>',
            {"/c/all?size=4&pgNr=1"},
        ),
    ],
)
def test_a_listings_first_page_is_the_listing(here: str, pager: str, expected: set[str]) -> None:
    assert links(f'<div class="pager">{pager}</div>', f"{SHOP}{here}") == expected


@pytest.mark.parametrize(
    ("here", "pager", "expected"),
    [
        ("/c/7", 'Pages: 1 | <a href="?s=1">2</a>', {"/c/7?s=1"}),
        ("/c/7", '1 <a href="?s=1">2</a> <a href="?s=2">3</a>', {"/c/7?s=1", "/c/7?s=2"}),
        ("/c/7?s=1", '<a href="?s=0">1</a> 2 <a href="?s=2">3</a>', {"/c/7?s=2"}),
        ("/c/7", 'Sizes: <a href="?s=1">2</a> <a href="?s=2">4</a>', set()),
        ("/c/7", '1 <a href="?s=1">2</a> <a href="?s=2">4</a>', set()),
        ("/c/7", '<a href="?s=37">38</a> <a href="?s=38">39</a>', set()),
    ],
)
def test_a_pager_of_an_unusual_parameter_may_count_from_0(
    here: str, pager: str, expected: set[str]
) -> None:
    """Only eight of ten pages' products were found, by the products beside others."""
    assert links(f"<p>{pager}</p>", f"{SHOP}{here}") == expected


@pytest.mark.parametrize("name", ["img", "rev", "v"])
def test_what_a_product_counts_from_0_is_no_pager(name: str) -> None:
    """Pictures, reviews and choices were pages, several for each product of a shop."""
    shown = "<h1>Oak Lamp</h1><b>$40.00</b><form><button>Add to cart</button></form>"
    pager = f'1 <a href="?{name}=1">2</a> <a href="?{name}=2">3</a>'
    assert links(f"{shown}<div>{pager}</div>", f"{SHOP}/p/oak-lamp") == set()


@pytest.mark.parametrize(
    "path",
    [
        "/on/shop.store/Product-ShowQuickView?pid=7",
        "/productreviews/12",
        "/cart.php?target=cart&product_id=7",
        "/index.php?main_page=product_reviews_write&products_id=7",
        "/loja/carrinho.php?produto=7",
    ],
)
def test_a_products_reviews_quick_view_and_order_are_not_followed(path: str) -> None:
    assert links(f'<a href="{path}">x</a><a href="/p/quick-view-mirror">y</a>') == {
        "/p/quick-view-mirror"
    }


def test_a_cursors_next_page_is_turned_to_with_its_direction() -> None:
    pager = (
        '<a href="/c/all?direction=previous&cursor=a1"><span>Load previous</span></a>'
        '<a href="/c/all?direction=next&cursor=b2"><span>Load more ↓</span></a>'
    )
    assert links(pager) == {"/c/all?direction=next&cursor=b2"}


def test_another_size_of_the_scripts_own_category_is_not_followed() -> None:
    shop = "/index.php?route=product/category&path=20"
    sizes = "".join(f'<a href="{shop}&limit={n}">{n}</a>' for n in (15, 25, 50))
    other = f'<a href="{shop.replace("20", "21")}&limit=100">Bowls</a>'
    assert links(sizes + other, f"{SHOP}{shop}&limit=100") == {
        "/index.php?route=product/category&path=21&limit=100"
    }


def test_a_shop_that_is_all_in_its_carts_script_is_followed() -> None:
    menu = '<a href="/cart.php?target=category&category_id=3">Lamps</a>'
    tile = '<a href="/cart.php?target=product&product_id=7">Lamp</a>'
    cart = '<a href="/cart.php?target=cart">Cart</a><a href="/cart.php">Cart</a>'
    assert len(links(menu + tile + cart)) == 2


def test_an_item_of_a_list_is_followed_where_class_names_call_it_a_filter() -> None:
    tile = '<div class="facets-item-cell" {}><a href="/Oak-Lamp_71"><img src="/1.jpg"></a></div>'
    assert links(tile.format("")) == set()
    assert links(tile.format('itemprop="itemListElement"')) == {"/Oak-Lamp_71"}


def test_a_tile_with_a_price_is_followed_where_class_names_call_the_grid_a_filter() -> None:
    tile = '<li><a href="/oak-{0}"><img src="/1.jpg"></a><p class="price">£9</p>{1}</li>'
    colours = '<div class="swatches"><a href="/oak-red"><img src="/2.jpg"></a></div>'
    filters = '<ul class="filter-price"><li><a href="/lamps-0-9" class="price">to £9</a></li></ul>'
    grid = '<ul class="facetwp-template">{}</ul>'
    assert links(filters + grid.format(tile.format("lamp", colours))) == {"/oak-lamp"}
    assert links(grid.format('<li><a href="/oak"><img src="/2.jpg"></a></li>')) == set()


def test_a_category_of_cookies_or_prints_is_followed() -> None:
    goods = ("/collections/cookies", "/product-category/cookies/oatmeal?page=2", "/category/print/")
    others = ("/cookies", "/legal/cookies", "/shop/cart", "/category/lamps/login")
    html = "".join(f'<nav><a href="{path}">x</a></nav>' for path in (*goods, *others))
    assert links(html) == set(goods)
    listed = listed_links([f"{SHOP}{path}" for path in (*goods, *others)], SHOP, lambda *_: True)
    assert [link.url.removeprefix(SHOP) for link in listed] == list(goods)


def test_cookies_in_a_menu_of_goods_are_a_category_and_among_legal_pages_a_notice() -> None:
    def menu(*paths: str) -> str:
        return "<nav>" + "".join(f'<a href="{path}">x</a>' for path in paths) + "</nav>"

    assert "/cookies" in links(menu("/cookies", "/shortbread", "/tarts", "/basket"))
    assert "/cookies" not in links(menu("/cookies", "/privacy-policy", "/terms", "/tarts"))
    assert "/cookies" not in links(f"<footer>{menu('/cookies', '/oats', '/tarts')}</footer>")


def test_what_is_below_a_category_of_cookies_is_followed_from_it_and_from_a_sitemap() -> None:
    tiles = "".join(f'<li><a href="/cookies/oat-{n}">Oat {n}</a></li>' for n in range(5))
    goods = {f"/cookies/oat-{n}" for n in range(5)}
    found = find_links(parse(f"<html>{tiles}", f"{SHOP}/cookies"))
    assert {link.url.removeprefix(SHOP) for link in found} == goods
    for listed, expected in ((goods, goods), ({"/cookies/settings", "/cookies/more"}, set())):
        urls = [f"{SHOP}{path}" for path in listed]
        kept = listed_links(urls, SHOP, lambda *_: True)
        assert {link.url.removeprefix(SHOP) for link in kept} == expected


@pytest.mark.parametrize(
    "script",
    [
        'var m = new Array(new Array("Plates","cat.php?id=3"),new Array("Bowls","cat.php?id=4"),'
        'new Array("Jugs","cat.php?id=5")); document.write("<a href=" + m[i][1] + ">");',
        "addMenu('plates.html', 'Plates'); addMenu('bowls.html', 'Bowls'); addMenu('jugs.html', 'Jugs')",
        'document.write(\'<a href="/c/plates/">Plates</a><a href="/c/bowls/">B</a><a href=/c/jugs/>J</a>\')',
    ],
    ids=["an array", "calls", "written links"],
)
def test_a_menu_that_only_a_script_has_is_followed_beside_products(script: str) -> None:
    """33 of 36 products were reached from no link: the front page has tiles, and no menu."""
    tiles = "".join(
        f"<a href=scheda.php?id={n}><img src={n}.jpg>Vase {n}</a> €9.50 " for n in (1, 2)
    )
    body = f"<html lang=it><title>A</title><script>{script}</script><body>{tiles}"
    found = {link.url for link in find_links(parse(body, "https://a.example/"))}
    assert len([url for url in found if "scheda" not in url]) == 3


def test_what_a_tracker_lists_is_no_menu() -> None:
    script = 'ga("send","event","a/b.html"); load("lib","/js/"); set("x","/y/"); set("u","/v/")'
    body = f"<html><title>A</title><script>{script}</script><body><a href=/p/vase-12>Vase</a>"
    assert [x.kind for x in find_links(parse(body, "https://a.example/"))] == ["product"]


@pytest.mark.parametrize(
    "script",
    [
        'r.open("POST","ajax/add.php"); r.open("GET","ajax/delete.php"); r.open("GET","ajax/end.php")',
        '$.post("ajax/add.php","html"); $.post("ajax/vote.php","json"); $.post("ajax/end.php","json")',
        'load("head","parts/head.html"); load("foot","parts/foot.html"); load("box","parts/box.html")',
        'var l = new Array(["Deutsch","/de/"],["Italiano","/it/"],["Polski","/pl/"]);',
        """x.innerHTML = '<a href="/k/add/"></a><a href="/k/drop/"></a><a href="/k/end/"></a>'""",
    ],
    ids=["requests", "jQuery", "parts", "languages", "templates"],
)
def test_what_a_script_sends_or_loads_is_no_menu(script: str) -> None:
    """`ajax/add.php` was requested, which only a click sends."""
    signs = 'x.innerHTML = ""; var y = new Array(1);'
    body = f"<html lang=en><title>A</title><script>{signs}{script}</script><a href=/vase>Vase</a>"
    found = [link.url for link in find_links(parse(body, "https://a.example/"))]
    assert found == ["https://a.example/vase"]
