"""What the first shops of their authors do: each in a small page of ours."""

from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse
from crawler.extract.goods_on_one_page import goods_of
from crawler.extract.site import Site


def _page(body, path="/p/lamp-12", title="Oak lamp", lang="en", site="https://shop.example"):
    html = f"<html lang={lang}><head><title>{title}</title></head><body>{body}</body></html>"
    return parse(html.encode(), f"{site}{path}", "text/html; charset=utf-8")


def _read(body, **page):
    return extract(_page(body, **page)).fields


_BUY = "<form><input name=qty><button>Add to cart</button></form>"


@pytest.mark.parametrize("title", ["Document", "Untitled Document", "Insert title here"])
def test_a_title_that_an_editor_wrote_names_nothing(title):
    body = f"<img src=1.png><div>Oak lamp</div><div>€ 12.00</div>{_BUY}"
    assert _page(body, title=title).title == ""
    assert _read(body, title=title).get("name") != title


@pytest.mark.parametrize("rating", ["4,5", "0", "4.5/5"])
def test_a_rating_in_the_only_main_heading_names_nothing(rating):
    body = f"<h2>Oak lamp</h2><h3>€ 12.00</h3>{_BUY}<h1>{rating}</h1><p>Rated by 3 customers</p>"
    assert _read(body, title="Shop")["name"] == "Oak lamp"


def test_a_number_that_the_title_has_is_a_name():
    assert _read(f"<h1>7</h1><p>€ 12.00</p>{_BUY}", title="7 | Red Store")["name"] == "7"


@pytest.mark.parametrize(
    "large", ["class=h2", "class='text-2xl font-bold'", "class=fs-1", "style='font-size: 26px'"]
)
def test_letters_of_a_headings_size_name_the_product_of_a_page_without_headings(large):
    body = f"<div><span {large}><strong>12.50$</strong></span></div><span {large}><strong>Oak lamp</strong><br></span><p>A lamp.</p>{_BUY}"
    found = _read(body, title="Product", path="/2/oak-lamp")
    assert (found["name"], found["price"]) == ("Oak lamp", Decimal("12.50"))


def test_large_letters_of_a_pages_head_or_of_its_kind_name_nothing():
    head = "<header><span class=h1>Oaks and more</span><nav>Menu</nav></header><p class=h2>Product details</p>"
    body = f"{head}<div><p class=h3>Oak lamp</p><p>€ 12.50</p>{_BUY}</div>"
    assert _read(body, title="Welcome")["name"] == "Oak lamp"
    unclosed = f"<nav><div><a href=/>Shop</a><p class=h2>Oak lamp</p><p>€ 12.50</p>{_BUY}"
    assert _read(unclosed, title="Welcome")["name"] == "Oak lamp"


def test_large_letters_below_all_goods_name_nothing():
    tiles = "".join(
        f"<div class=product-tile><a href=/p/{n}><img src=/{n}.jpg>Lamp {n}</a><span>€ {n}2.00</span></div>"
        for n in range(1, 7)
    )
    help_box = "<div style='font-size: 40px'>Need help? We are here for you</div><p>Call us</p>"
    page = parse(f"<title>Camp Shop</title><body>{tiles}{help_box}", "https://a.example/lamps")
    assert extract(page).kind == "listing"


def test_stars_to_choose_from_are_no_rating():
    stars = "".join(
        f"<input type=radio name=rate value={n}><label>{n} stars</label>" for n in (5, 4, 1)
    )
    body = f"<h1>Oak lamp</h1><p>€ 12.00</p>{_BUY}<form><div class=rating>{stars}</div></form>"
    assert "rating" not in _read(body)


def test_a_maker_of_one_word_ends_before_any_label():
    facts = "<h6>Brand: Kova Room: Hall</h6>"
    assert _read(f"<h1>Oak lamp</h1><h4>€ 12.00</h4>{facts}{_BUY}")["brand"] == "Kova"


def test_the_words_to_buy_tell_which_crown_a_page_means():
    buttons = {"NOK": "Legg i handlevogn", "SEK": "Lägg i varukorg", "DKK": "Læg i kurv"}
    pages = {c: f"<h1>Oak lamp</h1><p>250 kr</p><button>{b}</button>" for c, b in buttons.items()}
    assert {c: _read(page)["currency"] for c, page in pages.items()} == {c: c for c in pages}


@pytest.mark.parametrize(
    "function",
    [
        "function show(id) { window.location.href = 'item.php?id=' + id; }",
        "const show = (id) => { location.assign(`item.php?id=${id}`) }",
    ],
)
def test_a_call_with_a_number_leads_where_its_function_goes(function):
    rows = "".join(
        f"<tr onclick=\"show('{n}')\"><td>Lamp {n}</td><td>€ {n}.00</td></tr>" for n in range(4)
    )
    page = _page(f"<h1>Lamps</h1><table>{rows}</table><script>{function}</script>", path="/shop/")
    links = {link.url for link in find_links(page)}
    assert {f"https://shop.example/shop/item.php?id={n}" for n in range(4)} <= links


_WOODS = ("Oak", "Elm", "Ash", "Fir")


def _goods(tile):
    tiles = "".join(tile.format(n=n, name=f"{wood} lamp") for n, wood in enumerate(_WOODS, 7))
    return _page(f"<h2>Lamps</h2><main>{tiles}</main>", path="/index.php?offset=10", title="Lamps")


_BOX = "<div class=card><img src={n}.jpg><h4>{name}</h4><h5>€ {n}.50</h5><a href='./buy.php?id={n}'>Add to cart</a></div>"


def test_goods_whose_only_link_buys_them_are_read_from_their_boxes():
    page, site = _goods(_BOX), Site()
    found = site.extract(page)
    rows = [(item.external_id, item.name, item.price) for item in site.products(page, found)]
    assert rows[0] == ("oak-lamp", "Oak lamp", Decimal("7.50"))
    assert len(rows) == 4
    assert not [link for link in site.links(page) if "buy" in link.url]


@pytest.mark.parametrize(
    "box",
    [
        "<div><img src={n}.jpg><div><h6><strong>{name}</strong></h6><button>Add to Cart</button><a href=#>View</a><h4><strong>${n}.50</strong></h4></div></div>",
        "<div class=product-item><form method=post action='?action=add&code={n}'><img src={n}.jpg><div class=product-title>{name}</div><div class=product-price>${n}.50</div><input type=submit value='Add to Cart'></form></div>",
    ],
)
def test_goods_in_boxes_are_called_by_small_headings_or_a_class(box):
    site, tiles = Site(), "".join(box.format(n=n, name=f"{w} lamp") for n, w in enumerate(_WOODS))
    page = _page(f"<div class=grid>{tiles}</div>", path="/", title="Store")
    rows = [(item.name, item.price) for item in site.products(page, site.extract(page))]
    assert rows == [(f"{wood} lamp", Decimal(f"{n}.50")) for n, wood in enumerate(_WOODS)]


def test_a_link_that_buys_is_not_followed_beside_that_to_the_thing():
    page = _goods(_BOX.replace("<h4>", "<a href='detail.php?id={n}'>Details</a><h4>"))
    assert not [*Site().products(page, Site().extract(page))]
    links = [link.url.rpartition("/")[2] for link in find_links(page)]
    assert links == [f"detail.php?id={n}" for n in range(7, 11)]


def test_a_link_that_buys_is_followed_where_nothing_else_shows_the_thing():
    page = _goods("<p>{name} <a href='buy.php?id={n}'>Buy</a></p>")
    assert len(find_links(page)) == 4


def test_a_page_of_boxes_alike_is_no_product_by_the_name_of_the_first_one():
    box = "<div class=item><h1>{name}</h1><p><img src={n}.png></p><div><label class=ProduktPreis><b>{n}.50 €</b></label><div><input type=submit value='In den Warenkorb'></div></div></div>"
    boxes = "".join(box.format(n=n, name=f"{wood} lamp") for n, wood in enumerate(_WOODS, 7))
    site, page = Site(), _page(f"<div>{boxes}</div>", path="/pages/lamps.php", title="")
    found = site.extract(page)
    assert found.kind != "product"
    assert [item.name for item in site.products(page, found)][:2] == ["Oak lamp", "Elm lamp"]


@pytest.mark.parametrize("title", ["Red Store", "Document"])
def test_the_only_line_beside_a_price_names_a_product_where_no_title_can(title):
    head = "<nav><a href=/index.html><span>Red Store</span></a><a href=/all.php>All</a></nav>"
    box = f"<div><img src=1.png></div><div><a href=''>Oak lamp</a><div><h4>12.50 <span>€</span></h4></div>{_BUY}</div>"
    assert _read(f"{head}<section>{box}</section>", title=title)["name"] == "Oak lamp"


@pytest.mark.parametrize("ends", ["</body></html>", "</BODY></HTML >\n<!DOCTYPE html>"])
def test_a_page_goes_on_behind_the_end_of_a_document_in_it(ends):
    menu = f"<html><head><title>Menu</title></head><body><nav><a href=/a>A</a></nav>{ends}"
    own = f"<html><head><title>Oak lamp</title></head><body><h1>Oak lamp</h1><p>€ 12.00</p>{_BUY}</body></html>"
    page = parse((menu + own).encode(), "https://shop.example/item.php?id=7", "text/html")
    assert extract(page).fields["name"] == "Oak lamp"
    assert [link.url for link in find_links(page)] == ["https://shop.example/a"]


def test_a_comment_behind_the_end_of_a_document_changes_nothing():
    raw = b"<html><body><script>x = '</html>'</script><p>A</p></body></html><!-- cached -->"
    page = parse(raw, "https://shop.example/", "text/html")
    assert page.raw == raw
    assert page.root.xpath("//p/text()") == ["A"]


@pytest.mark.parametrize(
    "link",
    [
        "<a data-turbo-method=delete href=/products/7/away>Delete</a>",
        "<a data-method=POST href=/products/7/take>Take</a>",
        "<a href=/products/7/edit>Edit</a>",
        "<a href=/products/7/destroy/>Delete</a>",
        "<a href='/manage.php?productId=7&method=add'>Add to cart</a>",
        "<a href='index.php?action=empty'>Empty cart</a>",
    ],
)
def test_a_link_that_sends_or_changes_something_is_not_followed(link):
    page = _page(f"<h1>Lamps</h1>{link}<a href=/products/8>Elm lamp</a>", path="/products")
    assert [link.url for link in find_links(page)] == ["https://shop.example/products/8"]


def test_a_number_that_is_a_heading_before_the_button_is_the_price():
    body = f"<h1>Oak lamp</h1><hr><img src=1.png><h2>{{}}</h2><p>A lamp.</p>{_BUY}"
    assert _read(body.format("19.99"))["price"] == Decimal("19.99")
    assert _read(body.format("23.00</h2><h2>24.00")).get("price") is None  # nothing says which one
    # A year, a rating, a size, a telephone's number.
    for number in ("2026", "4.7", "44", "5551234"):
        assert _read(body.format(number)).get("price") is None
    counted = "<button>-</button><h3>1</h3><button>+</button>"
    assert _read(f"<h1>Oak lamp</h1>{counted}{_BUY}").get("price") is None
    rated = f"<h1>Oak lamp</h1><p>A lamp.</p>{_BUY}<h2>4.5</h2><p>12 reviews</p>"
    assert _read(rated).get("price") is None


def test_cards_of_related_goods_are_no_rows_of_a_products_page():
    cards = "".join(
        f"<div class=card><img src={n}.jpg><h5>Lamp {n}</h5><p>€ {n}.50</p><button>Add to cart</button></div>"
        for n in range(1, 5)
    )
    page = _page(f"<h1>Kova lamp</h1><p>Price on request</p>{cards}", "/p/kova", "Kova lamp")
    assert not goods_of(page, extract(page))
    listing = _page(f"<h1>Lamps</h1>{cards}", "/lamps", "Lamps")
    assert len(goods_of(listing, extract(listing))) == 4


def test_a_function_of_which_another_name_ends_alike_leads_nowhere():
    script = "<script>reshow = (id) => { location.assign(`edit.php?id=${id}`) }</script>"
    page = _page(f"<h1>Lamps</h1><p onclick=\"show('7')\">Lamp</p>{script}", "/shop/")
    assert not any("edit" in link.url for link in find_links(page))


def test_one_title_and_og_title_for_all_pages_are_no_products_name():
    body = f"<meta property=og:title content='Red Store'><h1>Oak lamp</h1><p>€ 12.00</p>{_BUY}"
    assert _read(body, title="Red Store", path="/products/oak-lamp")["name"] == "Oak lamp"
    assert _read(body, title="Red Store", path="/products/red-1")["name"] == "Red Store"
