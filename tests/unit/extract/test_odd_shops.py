"""What whole shops showed that the rules were not written for: one small page a cause."""

from decimal import Decimal

import pytest

from crawler.extract.address_kinds import looks_like_listing, looks_like_product
from crawler.extract.external_id import product_part
from crawler.extract.template import Book, know_unpriced
from crawler.extract.template.addresses import Addresses
from tests.unit.extract.bodies import BUY, H1, found


def price_box(now: str, before: str = "") -> str:
    struck = f"<del><span class=list><span class=value>{before}</span></span></del>" * bool(before)
    sales = f"<span class=sales><span class=value>{now}</span></span>"
    return f"<div class=price><span>{struck}{sales}</span></div>"


def tile(number: int, price: str) -> str:
    link = f'<a href="/p/{number}">Thing {number}</a>'
    return f"<div class=tile><div class=link>{link}</div>{price_box(price)}</div>"


class TestPrices:
    def test_the_pages_own_price_is_no_tile_where_tiles_are_written_like_it(self) -> None:
        body = (
            f"{H1}<div class=buy><div class=prices>{price_box('£15.00', '£22.50')}</div></div>{BUY}"
        )
        tiles = "".join(tile(n, f"£{n}.00") for n in range(31, 35))
        page = found(f"{body}<h3>You may also like</h3>{tiles}")
        assert page.fields["price"] == Decimal("15.00")
        assert page.fields["regular_price"] == Decimal("22.50")

    def test_a_listing_has_no_price_of_its_own(self) -> None:
        page = found(f"<h1>Lamps</h1>{''.join(tile(n, f'£{n}.00') for n in range(31, 39))}")
        assert page.kind == "listing"

    def test_the_tax_is_no_price(self) -> None:
        rows = (("Preis netto:", "99,00"), ("20 % MwSt.:", "19,80"), ("Preis brutto:", "118,80"))
        table = "".join(f"<tr><td>{name}</td><td>{value} EUR</td></tr>" for name, value in rows)
        page = found(f"<h1>Radlager</h1><table class=preis>{table}</table>{BUY}", lang="de")
        assert page.fields["price"] == Decimal("118.80")

    @pytest.mark.parametrize(
        "rest",
        [
            "<h2>Related products</h2><div class=tile><h2><a href='/p/2'>Blue Lamp</a></h2>"
            "<div class=price><span class=amount>€119.00</span></div></div>",
            "<h2>More</h2><a href='/p/2'>Blue Lamp</a><b class=price>€119.00</b>",
            "<h2>Questions</h2><p>Has it a guarantee? Yes, it costs $200 extra</p>",
        ],
    )
    def test_what_is_sold_out_has_no_price_of_other_things(self, rest: str) -> None:
        page = found(f"{H1}<p class=stock>Sold out</p><p>SKU: RL-104</p>{rest}")
        assert (page.kind, page.fields.get("price")) == ("product", None)
        assert page.fields["availability"] == "OutOfStock"

    @pytest.mark.parametrize("chosen", ["Canadian Dollar", "CAD", "$ CAD"])
    def test_the_chosen_currency_is_the_pages(self, chosen: str) -> None:
        options = f"<option selected value='/c/6'>{chosen}</option><option value='/c/1'>US Dollar</option>"
        select = f"<select id=customerCurrency>{options}</select>"
        page = found(f"{select}{H1}<p class=price>$9.00</p>{BUY}")
        assert page.fields["currency"] == "CAD"


class TestStock:
    def test_a_label_says_more_than_a_heading(self) -> None:
        body = "<p>Availability: Out of stock</p><p class=price>$9.00</p><h3>In stock options</h3>"
        assert found(f"{H1}{body}{BUY}").fields["availability"] == "OutOfStock"

    @pytest.mark.parametrize(("told", "stock"), [("true", "InStock"), ("false", "OutOfStock")])
    def test_an_attribute_tells_it_where_a_choice_comes_first(self, told: str, stock: str) -> None:
        choose = (
            f"<div data-available={told!r}>Select a size first</div><button disabled>Buy</button>"
        )
        page = found(f"{H1}<p class=price>$9.00</p>{choose}")
        assert page.fields["availability"] == stock

    def test_a_courtesy_before_the_word_changes_nothing(self) -> None:
        page = found(
            "<b>Red Lamp</b><p>Item #RL-104</p><p>SORRY, SOLD!</p>", "<title>Red Lamp</title>"
        )
        assert page.not_to_be_had == "OutOfStock"


class TestKinds:
    def test_a_sentence_that_speaks_of_buying_is_no_button(self) -> None:
        body = "<h1>Save 30%</h1><p>Buy now a lamp from $19.90.</p>"
        assert found(body, url="https://shop.example/promo/1/").kind == "other"

    def test_a_link_to_the_cart_puts_nothing_into_it(self) -> None:
        rows = "".join(f"<p><a href='/item/{n}/'>うどん {n}</a> {n}80円</p>" for n in (1, 2))
        page = found(
            f"<a href='/basket/'>買い物かごを見る</a>{rows}",
            url="https://a.example/c/1/",
            lang="ja",
        )
        assert page.kind != "product"

    def test_a_front_page_is_no_product_under_its_own_name(self) -> None:
        body = f"{H1}<p class=price>$9.00</p>{BUY}"
        kinds = [
            found(body, url=f"https://shop.example/{n}").kind for n in ("index.html", "p1.html")
        ]
        assert kinds == ["other", "product"]

    def test_tiles_of_related_things_make_no_listing(self) -> None:
        tiles = "".join(
            f"<li><a href='/p/{n}'>Thing {n}</a><b class=price>${n}</b></li>" for n in range(4, 9)
        )
        body = f"{H1}<p>SKU: RL-104</p><p class=price>Call for pricing</p><div class=related>{tiles}</div>"
        assert found(body, url="https://shop.example/red-lamp").kind == "product"

    def test_a_reduced_tile_among_tiles_is_no_price_of_the_listing(self) -> None:
        plain = "".join(
            f"<li><h2><a href='/p/{n}'>Thing {n}</a></h2><div class=price><b>${n}</b></div></li>"
            for n in (4, 5, 6)
        )
        cut = "<li><h2><a href='/p/7'>Thing 7</a></h2><div class=price><del>$9</del><ins>$7</ins></div></li>"
        page = found(
            f"<h1>Shop</h1><ul>{plain}{cut}</ul>{BUY}", url="https://shop.example/winkel/?p1=5"
        )
        assert page.kind == "listing"

    @pytest.mark.parametrize(
        "path", ["/product-category/lamps/", "/product-categorie/lampen/", "/categorie-produit/x/"]
    )
    def test_a_category_of_products_is_a_listing(self, path: str) -> None:
        assert (looks_like_product(path), looks_like_listing(path)) == (False, True)

    def test_products_stay_products(self) -> None:
        assert all(
            map(looks_like_product, ["/product/red-lamp/", "/product-12", "/p/category-lamp"])
        )


def test_the_view_at_the_end_of_an_address_is_no_key() -> None:
    """Of a shop that writes it behind each product's number, all products had the key 1."""
    paths = [f"/product/red-lamp/{n}/category/24/display/1/" for n in (12, 13)]
    assert [product_part(f"https://shop.example{path}") for path in paths] == ["12", "13"]
    assert product_part("https://shop.example/product/view/7") == "7"


def test_the_picture_is_the_one_to_zoom_into() -> None:
    linked = '<a href="/i/lamp-500.jpg"><img src="/i/lamp-228.jpg" alt="Red Lamp"></a>'
    zoomed = '<img src="/i/lamp-228.jpg" data-zoom="/i/lamp-900.jpg" alt="Red Lamp">'
    away = '<a href="/p/red-lamp"><img src="/i/lamp-228.jpg" alt="Red Lamp"></a>'
    shown = [found(f"{H1}{i}<p class=price>$9.00</p>{BUY}") for i in (linked, zoomed, away)]
    names = [page.fields["images"][0].rpartition("-")[2] for page in shown]
    assert names == ["500.jpg", "900.jpg", "228.jpg"]


def test_one_vendor_of_a_page_is_the_brand_and_two_are_none() -> None:
    body = f"{H1}<p class=price>$9.00</p>{BUY}<script>var meta = %s;</script>"
    one = found(body % '{"product":{"vendor":"N\\u00f8rd"}}')
    two = found(body % '[{"vendor":"Nord"},{"vendor":"Havn"}]')
    assert (one.fields.get("brand"), two.fields.get("brand")) == ("Nørd", None)


class TestAddresses:
    """A page without price and stock words is a product's where only products stand."""

    def test_a_page_among_products_is_one_and_those_before_are_read_again(self) -> None:
        known, waiting = Addresses(), "https://a.example/items/ac2.htm"
        assert not known.is_product_address("a", waiting)
        again = [known.note("a", f"https://a.example/items/ac{n}.htm") for n in range(10, 22)]
        assert [urls for urls in again if urls] == [[waiting]]
        assert known.is_product_address("a", "https://a.example/items/ac30.htm")
        assert not known.is_product_address("a", "https://a.example/news/ac30.htm")
        assert not known.is_product_address("b", "https://a.example/items/ac30.htm")

    def test_sold_things_of_small_categories_are_known_by_those_of_all(self) -> None:
        """Four sold products of a shop of 32 had no row: each category has six products."""
        known, sold = Addresses(), "https://a.example/shop/syrup/amber-500ml/"
        assert not known.may_be_sold("a", sold)
        names = [
            (c, n) for c in ("butter", "taffy", "sugar") for n in ("a-1l", "b-1l", "c-1l", "d-1l")
        ]
        again = [known.note("a", f"https://a.example/shop/{c}/{n}/") for c, n in names]
        assert [urls for urls in again if urls] == [[sold]]
        assert known.may_be_sold("a", sold)
        assert not known.is_product_address("a", sold), "other pages need their own category's"
        assert not known.may_be_sold("a", "https://a.example/blog/posts/amber-run/")
        assert not known.may_be_sold("a", "https://a.example/shop/amber-500ml/")

    def test_where_other_pages_stand_too_none_is_one(self) -> None:
        known = Addresses()
        for n in range(30):
            known.note("a", f"https://a.example/shop/thing-{n}")
            known.is_product_address("a", f"https://a.example/shop/about-{n}")
            assert not known.is_product_address("a", f"https://a.example/shop/terms-{n}") or n > 8
        assert not known.is_product_address("a", "https://a.example/pages/terms-1")

    def test_a_name_alone_is_no_shape(self) -> None:
        known = Addresses()
        for n in range(20):
            known.note("a", f"https://a.example/{'x' * (n + 1)}-lamp")
        assert not known.is_product_address("a", "https://a.example/terms-of-use")


class TestPagesThatShowTheSame:
    """A site refused every second page with status 200: 16 of 40 products were lost unsaid."""

    page = "https://a.example/items/ac{}.htm".format

    def test_those_at_products_addresses_are_asked_for_once_more(self) -> None:
        known = Addresses()
        for n in range(3):
            known.note("a", self.page(n))
        assert not known.note_empty("a", self.page(10), "Sorry")
        assert not known.note_empty("a", self.page(10), "Sorry"), "one page that is read twice"
        assert not known.note_empty("a", self.page(11), "Terms")
        assert known.note_empty("a", self.page(12), "Sorry") == [self.page(10), self.page(12)]
        assert known.note_empty("a", self.page(13), "Sorry") == [self.page(13)]
        assert not known.note_empty("a", "https://a.example/news/1", "Sorry")
        assert not known.take_alike("a", self.page(1))

    def test_those_before_the_products_wait_for_them(self) -> None:
        known = Addresses()
        for n in (10, 11):
            assert not known.note_empty("a", self.page(n), "Sorry")
        taken = []
        for n in range(3):
            known.note("a", self.page(n))
            taken.append(known.take_alike("a", self.page(n)))
        assert taken == [[], [], [self.page(10), self.page(11)]]

    def test_they_are_few(self) -> None:
        known = Addresses()
        for n in range(3):
            known.note("a", self.page(n))
        for n in range(500):
            known.note_empty("a", self.page(n), f"page {n}")
        assert not known.note_empty("a", self.page(999), "another one")


@pytest.mark.parametrize(("few", "doubted"), [(True, False), (False, True)])
def test_one_price_of_a_few_repeats_without_a_doubt(few: bool, doubted: bool) -> None:
    """A small shop asks 33 for every sixth thing; where each price differs, six alike are odd."""
    book, doubts = Book(), set()
    for n in range(53):
        price = (33, 79, 147, 500, 750, 1750)[n % 6] if few else 100 + n
        body = f"<p>SKU: RL-{n}</p><p class=price>${33 if n >= 47 else price}.00</p>{BUY}"
        page = found(f"<h1>Lamp of {n} kinds</h1>{body}", url=f"https://shop.example/p/lamp-{n}")
        doubts |= book.judge("shop", page).doubts.keys()
    assert ("price" in doubts) is doubted


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<h1>Nothing here</h1>", "other"),
        ("<p>Database connection failed.</p>", "other"),
        ("<h1>Sorry</h1><a href='/products/lamp-9'><img src='/i/9.jpg' alt='Lamp'></a>", "other"),
        (f"{H1}<img src='/i/lamp.jpg' alt='Red Lamp'>", "product"),
    ],
)
def test_a_page_that_shows_no_thing_is_none_at_a_products_address(body: str, kind: str) -> None:
    """Otherwise a page that says "not found" with status 200 becomes a row."""
    book = Book()
    for n in range(12):
        book.addresses.note("a", f"https://shop.example/products/lamp-{n}")
    page = found(body, url="https://shop.example/products/lamp-77")
    is_empty = know_unpriced(book, "a", page)
    assert (page.kind, is_empty) == (kind, kind == "other")


@pytest.mark.parametrize(
    ("link", "kind"), [("<a href=/0ab/item35.html>White wool</a>", "other"), ("Wool", "product")]
)
def test_a_picture_in_a_row_with_a_link_to_a_product_is_that_products(link: str, kind: str) -> None:
    """The visit's number in the path differs on each page, and with it the shape of the address."""
    book = Book()
    for n in range(12):
        book.addresses.note("a", f"https://shop.example/0c{n}1/item{n}.html")
    body = (
        "<td><h1>Recipes</h1><table border=1><tr><td><img src=/i/35.jpg width=80></td>"
        f"<td>{link}</td><td>367,50 kr</td></tr></table></td>"
    )
    page = found(f"<table><tr>{body}</tr></table>", url="https://shop.example/0c51/group4s2.html")
    know_unpriced(book, "a", page)
    assert page.kind == kind


def test_a_raised_figure_in_a_barcode_costs_no_page() -> None:
    """`²` is a digit to str.isdigit and none to int: two such sources raised, and the row was lost."""
    data = '{"@type":"Product","name":"Red Lamp","gtin8":"4006381²"}'
    page = found(
        f"{H1}<p class=price>$9.00</p>{BUY}<p>EAN: 4006381333931</p>",
        head=f'<script type="application/ld+json">{data}</script>',
    )
    assert (page.kind, page.fields["price"]) == ("product", Decimal("9.00"))
    assert page.fields["gtin"] == "4006381333931"
