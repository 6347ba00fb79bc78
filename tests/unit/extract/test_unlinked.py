"""What whole shops of lesser-known systems taught: ways without links, copies, prices with tax."""

from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse

SHOP = "http://shop.example"


def links(html: str, url: str = f"{SHOP}/menu.htm") -> set[str]:
    return {link.url.removeprefix(SHOP) for link in find_links(parse(f"<html>{html}</html>", url))}


OPTIONS = '<option value="">Choose</option><option value="1">A</option><option value="2">B</option>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<frameset><frame src="menu2.htm"><frame src="main.htm"></frameset>',
         {"/menu2.htm", "/main.htm"}),
        (f'<form action="list.php"><select name="r">{OPTIONS}</select></form>',
         {"/list.php?r=1", "/list.php?r=2"}),
        (f'<form action="list.php"><input type=hidden name=m value=cat><select name="r">{OPTIONS}'
         "</select><input type=submit></form>", {"/list.php?m=cat&r=1", "/list.php?m=cat&r=2"}),
        ('<select onchange="location=this.value"><option value="/c/a">A<option value="/c/b">B'
         "</select>", {"/c/a", "/c/b"}),
        ('<button class="more" data-href="/c/a?offset=8">More</button>', {"/c/a?offset=8"}),
        ('<a class="load" href="javascript:;" data-url="/ajax/list?page=1">x</a>',
         {"/ajax/list?page=1"}),
        ('<button data-load-more-url="/more?offset=8">Load more</button>', {"/more?offset=8"}),
    ],
)  # fmt: skip
def test_frames_choices_and_buttons_lead_somewhere(html: str, expected: set[str]) -> None:
    assert links(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        f'<form action="list.php" method="post"><select name="r">{OPTIONS}</select></form>',
        f'<form action="list.php"><select name="sort">{OPTIONS}</select></form>',
        f'<form action="p.php"><input type=hidden name=id value=5><select name="r">{OPTIONS}'
        "</select></form>",
        f'<form action="list.php"><input name=q><select name="r">{OPTIONS}</select></form>',
        f'<form action="list.php"><select name="r">{OPTIONS}</select><select name="c">{OPTIONS}'
        "</select></form>",
        f'<select name="r">{OPTIONS}</select>',
        '<div data-url="/api/track"></div>',
        '<button class="more" data-href="#reviews">More</button>',
        '<frame src="https://other.example/x" ><frame src="">',
    ],
)
def test_what_sends_orders_or_asks_for_words_leads_nowhere(html: str) -> None:
    own = {"allowed": lambda url: url.startswith(SHOP)}
    assert find_links(parse(f"<html>{html}</html>", f"{SHOP}/menu.htm"), **own) == []


def test_many_choices_of_a_hostile_page_are_bounded() -> None:
    options = "".join(f'<option value="{n}">x' for n in range(5_000))
    assert links(f'<form action="list.php"><select name="r">{options}</select></form>') == set()


def test_the_category_through_which_a_product_is_reached_makes_no_other_address() -> None:
    html = (
        '<a href="product_info.php?info=p5_Lamp.html&cPath=3">Lamp</a>'
        '<a href="product_info.php?cPath=4_2&products_id=6">Vase</a>'
        '<a href="index.php?route=product/product&path=20_27&product_id=42">Cup</a>'
        '<a href="index.php?cPath=7">Lamps</a>'
    )
    assert links(html, f"{SHOP}/") == {
        "/product_info.php?info=p5_Lamp.html",
        "/product_info.php?products_id=6",
        "/index.php?route=product/product&product_id=42",
        "/index.php?cPath=7",
    }


def test_the_page_itself_in_another_language_is_no_other_page() -> None:
    here = f"{SHOP}/product_info.php?info=p5_Lamp.html"
    assert links(f'<a href="{here}&language=en">en</a>', here) == set()
    assert links('<a href="/?lang=de">Deutsch</a>', f"{SHOP}/") == {"/?lang=de"}


def test_a_parameter_may_say_which_kind_of_page_the_one_script_shows() -> None:
    html = (
        '<ul><li><a href="./?mode=cate&cbid=900&csid=0">Tea</a></li></ul>'
        '<a href="./?mode=list&sort=price">sorted</a>'
    )
    assert links(html, f"{SHOP}/") == {"/?mode=cate&cbid=900&csid=0"}
    assert links('<a href="?mode=grid&cat=5">grid</a>', f"{SHOP}/?cat=5") == set()


PAGE = (
    "<html lang=ja><title>湯呑み 青海波 1号 - 堂</title><div class=product_name>湯呑み 青海波 1号"
    "</div><table><tr><th>販売価格</th><td>{}</td></tr></table>"
    '<form method=post><input type=submit value="カートに入れる"></form>'
)


@pytest.mark.parametrize(
    "told",
    ["13,500円(税込14,850円)", "14,850円（税抜13,500円）", "税込14,850円", "14,850円(税込)",
     "13,500円+税 (税込 14,850円)", "本体価格 13,500円 (税込価格 14,850円)",
     "販売価格：13,500円<br>税込：14,850円", "14,850円(税込) / 13,500円(税抜)"],
)  # fmt: skip
def test_the_price_with_tax_is_what_a_customer_pays(told: str) -> None:
    page = extract(parse(PAGE.format(told), f"{SHOP}/?pid=1"))
    assert (page.fields["price"], page.fields["currency"]) == (Decimal(14850), "JPY")


def test_a_sale_is_no_tax() -> None:
    page = extract(parse(PAGE.format("<s>1,100円(税込)</s> 1,000円"), f"{SHOP}/?pid=1"))
    assert (page.fields["price"], page.fields["regular_price"]) == (Decimal(1000), Decimal(1100))


def test_a_title_for_networks_that_is_the_shops_names_no_product() -> None:
    head = '<title>{} - {}</title><meta property="og:title" content="{}">'
    body = "<h1>{}</h1><p>€ 12,-</p><button>In winkelwagen</button>"
    shop, lamp = "Lampenhuis", "Lamp Delft 3 wit"
    html = head.format(lamp, shop, shop) + body.format(lamp)
    url = f"{SHOP}/lamp-delft-3-wit.html"
    assert extract(parse(html, url)).fields["name"] == lamp
    html = head.format(shop, lamp, lamp) + body.format(shop)
    assert extract(parse(html, url)).fields["name"] == lamp


def test_a_page_that_prints_itself_is_no_product() -> None:
    html = "<title>Lamp 12</title><body{}><h1>Lamp 12</h1><p>$12.00</p><p>SKU: L-12</p>"
    url = f"{SHOP}/products/lamp-12"
    assert extract(parse(html.format(""), url)).kind == "product"
    assert extract(parse(html.format(' onload="window.print()"'), url)).kind == "other"


def test_what_a_script_shows_is_asked_for_where_the_page_says_that_its_server_tells() -> None:
    anchor = '<a href="#!/lamps/12">Lamps</a><a href="#top">up</a>'
    told = f'<meta name="fragment" content="!">{anchor}'
    assert links(told, f"{SHOP}/") == {"/?_escaped_fragment_=/lamps/12"}
    assert links(anchor, f"{SHOP}/") == set()


@pytest.mark.parametrize(
    "attributes",
    [
        'class="endless" data-next="/all?part=2"',
        'class="infinite-scroll-placeholder" data-grid-url="/all?part=2"',
        'id="plp" data-endpoint="/all?part=2"',
    ],
)
def test_what_is_loaded_next_turns_the_page_wherever_it_is_kept(attributes: str) -> None:
    html = f'<div {attributes}><a href="/lamp-12">Lamp</a></div>'
    found = find_links(parse(html, f"{SHOP}/all"))
    assert {link.url.removeprefix(SHOP): link.kind for link in found} == {
        "/lamp-12": "other",
        "/all?part=2": "pagination",
    }


def test_json_that_a_button_loads_is_the_page_that_a_script_makes_of_it() -> None:
    items = (
        '[{"name":"Lamp & shade","url":"/product/1-lamp"},{"html":"<a href=\'/product/2\'>2</a>"}]'
    )
    told = f'{{"items":{items},"next":"/api/products?offset=2","image":"/i.png","price":12}}'
    page = parse(told, f"{SHOP}/api/products?offset=0", "application/json; charset=utf-8")
    found = {link.url.removeprefix(SHOP): link.kind for link in find_links(page)}
    assert found == {
        "/product/1-lamp": "product",
        "/product/2": "product",
        "/api/products?offset=2": "pagination",
    }
    assert extract(page).kind == "other"


@pytest.mark.parametrize("told", ['{"price": 12}', "[1, 2", "", '{"url": 5}', "{" * 5000])
def test_json_without_links_is_no_page(told: str) -> None:
    assert not parse(told, f"{SHOP}/api", "application/json").is_html


def test_one_script_may_be_told_by_many_parameters_what_to_show() -> None:
    base = "/index.php?mod=shop&act"
    html = "".join(
        f'<a href="{base}={rest}">x</a>'
        for rest in ("cat&c=1&from=5", "item&nr=7", "add&nr=7", "dodaj&nr=7", "cat&c=1&sort=price")
    )
    assert links(html, f"{SHOP}/index.php?mod=shop&act=cat&c=1") == {
        f"{base}=cat&c=1&from=5",
        f"{base}=item&nr=7",
    }


def test_a_script_that_is_called_after_products_shows_one_where_it_is_given_a_number() -> None:
    html = '<a href="/fiche.php?ref=FR-101">a</a><a href="/fiche.php?tri=prix">b</a>'
    found = find_links(parse(html, f"{SHOP}/catalogue.php"))
    kinds = {link.url.removeprefix(SHOP): link.kind for link in found}
    assert kinds["/fiche.php?ref=FR-101"] == "product"
    assert kinds.get("/fiche.php?tri=prix") != "product"


def test_a_category_of_few_rows_with_a_button_each_is_no_product() -> None:
    row = '<tr><td><a href="/{0}">Lamp {0}</a></td><td>{0}1 zł</td><td><a href="/add?{0}">do koszyka</a></td></tr>'
    html = f"<h1>Dom</h1><table>{row.format(4)}{row.format(5)}</table><p>w magazynie</p>"
    assert extract(parse(html, f"{SHOP}/index.php?act=kat&k=1")).kind != "product"


def test_a_quick_view_is_no_product_because_its_link_leads_to_one() -> None:
    view = '<div><h2>Lamp 12</h2><p class="price">$12.00</p>{}<button>Add to cart</button></div>'
    details = '<a href="/products/lamp-12">Details</a>'
    url = f"{SHOP}/ajax/product/12"
    assert extract(parse(view.format(""), url)).kind == "product"
    assert extract(parse(view.format(details), url)).kind == "other"
    assert extract(parse(view.format(details), f"{SHOP}/products/lamp-12")).kind == "product"
    whole = f"<html><title>Lamp 12</title><body>{view.format(details)}"
    assert extract(parse(whole, url)).kind == "product"


def test_boxes_with_a_heading_and_a_button_each_are_a_list_of_products_without_pages() -> None:
    box = (
        '<div><img src="/img/{0}.jpg"><h3>Lamp {0}</h3><span class="price">$1{0}.10</span>'
        "<form method=post><button>Add to cart</button></form></div>"
    )
    html = "<title>Lamps</title><h1>Lamps</h1><p>In stock</p>{}"
    for boxes, kind in ((6, "listing"), (1, "product")):
        shown = html.format("".join(map(box.format, range(boxes))))
        assert extract(parse(shown, f"{SHOP}/category/lamps")).kind == kind


def test_a_labelled_price_without_a_currency_is_read_on_a_short_page() -> None:
    """Its line was looked up among the heading's lines, which are fewer than the page's."""
    menu = "".join(f"<li><a href='/c/{n}'>Category {n}</a></li>" for n in range(9))
    html = (
        f"<title>Lamp 12</title><ul>{menu}</ul><h1>Lamp 12</h1><br><b>Price: ?12.49</b>"
        "<form method=post><input type=submit value='Add to cart'></form>"
    )
    found = extract(parse(html, f"{SHOP}/products/lamp-12"))
    assert (found.unread, str(found.fields.get("price"))) == ({}, "12.49")


LAMPS = {"/stuff/red-lamp", "/stuff/blue-lamp", "/stuff/green-lamp"}


def test_the_values_of_an_astro_island_lead_to_its_products() -> None:
    """Each value has its type before it, and the attribute its quotes escaped."""
    items = ",".join(
        f"[0,{{&quot;name&quot;:[0,&quot;x&quot;],&quot;href&quot;:[0,&quot;{path}&quot;]}}]"
        for path in sorted(LAMPS)
    )
    island = f'<astro-island props="{{&quot;products&quot;:[1,[{items}]]}}"></astro-island>'
    assert links(island, f"{SHOP}/all") == LAMPS


def test_addresses_in_json_may_have_their_letters_escaped() -> None:
    paths = ",".join(f'{{"url": "/p/\\u043b\\u0430\\u043c\\u043f\\u0430-{n}"}}' for n in "abc")
    state = f'<script type="application/json">{{"items": [{paths}]}}</script>'
    lamp = "/p/%D0%BB%D0%B0%D0%BC%D0%BF%D0%B0-"
    assert links(state, f"{SHOP}/all") == {f"{lamp}{n}" for n in "abc"}


def test_the_next_page_in_a_paginator_s_json_is_followed_where_no_link_leads_to_products() -> None:
    items = ",".join(f'{{"name": "x", "url": "{path}"}}' for path in sorted(LAMPS))
    listed = (
        f'{{"data": [{items}], "next_page_url": "http:\\/\\/shop.example\\/all?page=2",'
        ' "prev_page_url": null}'
    )
    quoted = listed.replace('"', "&quot;")
    for html in (
        f'<div id="app" data-page="{quoted}"></div>',
        f"<script>let x = {listed}</script>",
    ):
        found = find_links(parse(f"<html>{html}</html>", f"{SHOP}/all"))
        kinds = {link.url.removeprefix(SHOP): link.kind for link in found}
        assert kinds == dict.fromkeys(LAMPS, "other") | {"/all?page=2": "pagination"}


def test_a_pager_s_links_may_have_another_word_for_their_place_and_no_other_number() -> None:
    def kinds(name: str, own: str, there: str) -> list[str]:
        html = f'<a href="/all?page=2&{name}={there}">2</a>'
        return [x.kind for x in find_links(parse(html, f"{SHOP}/all?{name}={own}"))]

    assert kinds("ref", "menu", "pager") == ["pagination"]
    assert kinds("visit", "71", "93") == []
