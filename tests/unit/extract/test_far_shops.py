"""What shops of far countries and of other systems write, each kind of fault that whole shops showed."""

from decimal import Decimal

import pytest

from crawler.extract import extract, find_links, parse

BUY = "<button>Add to cart</button>"


def _read(body, url="https://shop.example/products/lamp", lang="en", head=""):
    html = f"<html lang={lang}><head><title>Oak lamp | Shop</title>{head}</head><body>{body}</body></html>"
    return extract(parse(html.encode(), url, "text/html; charset=utf-8"))


def _links(body, url, lang="de", head=""):
    html = f"<html lang={lang}><head><title>Shop</title>{head}</head><body>{body}</body></html>"
    return {
        link.url.removeprefix("https://shop.example")
        for link in find_links(parse(html.encode(), url))
    }


def _thing(price, more=""):
    return f'<h1>Oak lamp</h1><div class="price">{price}</div><p>SKU: AB-12</p>{more}'


def test_a_product_is_read_in_azerbaijani():
    found = _read(
        "<h1>Oak lamp</h1><p>Məhsulun kodu: <b>40100</b></p><p>Mövcudluq: <b>Stokda yoxdur</b></p>"
        "<div><span>129.99 ₼</span></div><p>Aylıq ödəniş: 12 ay x 10.83 ₼</p>"
        "<button disabled>Səbətə at</button>",
        "https://shop.example.az/mehsul/lampa",
        "az",
    )
    assert found.fields["price"] == Decimal("129.99")
    assert found.fields["currency"] == "AZN"
    assert (found.fields["sku"], found.fields["availability"]) == ("40100", "OutOfStock")


@pytest.mark.parametrize(
    ("lang", "says"),
    [
        ("hu", "A termék már nem rendelhető"),
        ("pl", "Produkt wycofany z oferty"),
        ("it", "Non più disponibile"),
        ("pt", "Não está mais disponível"),
        ("el", "Δεν διατίθεται πλέον"),
    ],
)
def test_what_is_sold_no_more_is_discontinued(lang, says):
    found = _read(_thing("19.90 €", f'<p class="stock">{says}</p>'), lang=lang)
    assert found.fields["availability"] == "Discontinued"


@pytest.mark.parametrize(
    ("field", "stock"),
    [
        ('<input type="submit" value="Sem estoque" disabled>', "OutOfStock"),
        ('<input type="submit" value="Pre-Order Now">', "PreOrder"),
        ("<button disabled>Kommer snart</button>", "OutOfStock"),
        ("<button disabled>Coming soon</button>", "OutOfStock"),
    ],
)
def test_the_button_that_is_there_instead_tells_the_stock(field, stock):
    assert _read(_thing("19.90 €", field)).fields["availability"] == stock


def test_the_sum_of_an_empty_cart_is_no_price():
    found = _read(
        '<header><a href="/cart">0,00 €</a></header><h1>Oak lamp</h1><p>SKU: AB-12</p>'
        "<p>EAN: 4006381333931</p><p>Sold out</p>",
        "https://shop.example/oak-lamp",
    )
    assert found.kind == "product"
    assert "price" not in found.fields


def test_a_banner_about_what_comes_soon_says_nothing_of_the_product():
    found = _read(_thing("19.90 €", f"{BUY}<p>Coming soon</p>"))
    assert found.fields["availability"] == "InStock"


@pytest.mark.parametrize(
    ("lang", "says"),
    [("vi", "Liên hệ"), ("pt", "Sob consulta"), ("de", "Auf Anfrage"), ("ja", "お問い合わせ")],
)
def test_no_other_amount_is_the_price_where_its_box_asks_to_be_asked(lang, says):
    found = _read(_thing(says, f"<ul><li>Voucher: 50.00 €</li></ul>{BUY}"), lang=lang)
    assert found.kind == "product"
    assert "price" not in found.fields


@pytest.mark.parametrize(
    ("lang", "says"),
    [
        ("de", 'Preise sichtbar nach <a href="/login">Anmeldung</a>'),
        ("fr", "Connectez-vous pour voir nos prix"),
        ("en", "Log in to see prices"),
    ],
)
def test_who_shows_prices_after_a_login_shows_a_product(lang, says):
    found = _read(
        f"<h1>Oak lamp</h1><p>SKU: AB-12</p><div>{says}</div>", "https://shop.example/oak", lang
    )
    assert found.kind == "product"
    assert "price" not in found.fields


def test_a_yearly_tax_is_no_price_of_what_is_sold():
    found = _read(
        '<h1>Oak lamp</h1><div class="price-panel"><span>SOLD</span></div><table>'
        "<tr><th>Stock number</th><td>ST3303</td></tr><tr><th>Licence</th><td>£190</td></tr></table>",
        "https://shop.example/cars/lamp-88003/",
    )
    assert found.kind == "product"
    assert "price" not in found.fields
    assert found.fields["availability"] == "OutOfStock"


def test_a_number_in_brackets_is_the_product_s():
    found = _read(
        "<h1>Oak lamp</h1><div><span>Stok Kodu</span><span>(T494.01)</span></div>"
        f'<div class="PriceList"><span>: 1.974,21 TL</span></div>{BUY}',
        "https://shop.example/lamba-701",
        "tr",
    )
    assert found.fields["sku"] == "T494.01"
    assert found.fields["price"] == Decimal("1974.21")


def test_a_number_and_the_price_s_sign_behind_it_are_two_things():
    found = _read(
        "<h1>Oak lamp</h1><span>SKU: <span>10021</span></span>"
        '<span class="price"><span>$</span> <span>1.728.801</span></span><p>x</p>' + BUY,
        lang="es-AR",
    )
    assert (found.fields["sku"], found.fields["price"]) == ("10021", Decimal(1728801))


def test_the_page_s_own_thing_in_a_box_that_leads_to_its_category_is_no_tile():
    def box(name, price, tag, link):
        return (
            f'<div class="col"><{tag}>{name}</{tag}><div class="money"><b class="price">{price}</b></div>'
            f'<a href="{link}">x</a></div>'
        )

    tiles = "".join(box(f"Vase {n}", f"{n}3.00 €", "h2", f"/p/{n}") for n in (1, 2))
    found = _read(
        f"{box('Oak lamp', '47.51 €', 'h1', '/c/lamps')}<p>Prezzo al litro: 332,57 €</p>{BUY}"
        f"<h2>Related products</h2>{tiles}",
        lang="it",
    )
    assert found.fields["price"] == Decimal("47.51")


def test_what_stands_behind_a_hidden_heading_is_not_all_of_the_product():
    found = _read(
        '<div class="page-title">Oak lamp</div><p>SKU: 5200</p><div class="price">12,90 €</div>'
        '<p class="stock">Sold out</p><h1 style="display: none">Oak lamp</h1>'
    )
    assert (found.fields["sku"], found.fields["availability"]) == ("5200", "OutOfStock")


def test_a_list_below_the_folder_of_products_is_no_product():
    buttons = (BUY, "<button disabled>Sold out</button>")
    tile = (
        '<li><a href="/products/detail/{0}"><p>Vase {0}</p><p class="price">¥{0}000</p></a>{1}</li>'
    )
    body = "<ul>" + "".join(tile.format(n, buttons[n % 2]) for n in range(1, 5)) + "</ul>"
    assert _read(body, "https://shop.example/products/list?category_id=2").kind != "product"


@pytest.mark.parametrize(
    "link",
    ['<a href="/mobler?side=2">Vis flere</a>', '<a href="/mobler?vis=2">Vis flere</a>'],
)
def test_more_things_are_asked_for_in_the_shop_s_own_words(link):
    assert any("=2" in url for url in _links(link, "https://shop.example/mobler", "da"))


@pytest.mark.parametrize(
    ("url", "head"),
    [
        ("https://shop.example/de/weine/", ""),
        ("https://shop.example/", ""),
        ("https://shop.example/x", '<link rel=alternate hreflang=fr href="/fr/x">'),
    ],
)
def test_a_shop_s_copy_in_another_language_is_left_out(url, head):
    links = _links('<a href="/de/w/1">Wein</a><a href="/fr/v/1">Vin</a>', url, head=head)
    assert links == {"/de/w/1"}


def test_a_choice_of_languages_leads_to_all_of_them():
    both = '<a href="/it/vini">Vini</a><a href="/fr/vins">Vins</a>'
    assert _links(both, "https://shop.example/", "en") == {"/it/vini", "/fr/vins"}


def test_a_sign_behind_a_letter_of_a_script_without_blanks_is_read_whole():
    found = _read(_thing("價格NT$1,173", BUY), lang="zh-TW")
    assert (found.fields["price"], found.fields["currency"]) == (Decimal(1173), "TWD")


def test_a_class_s_regular_price_is_asked_where_only_an_instalment_stands_beside_it():
    found = _read(
        '<h1>Oak lamp</h1><div class="price-regular price">NT$3,520</div><p>每期NT$1,173</p>' + BUY,
        lang="zh-TW",
    )
    assert found.fields["price"] == Decimal(3520)


def test_a_flag_of_the_stock_tells_it():
    found = _read(
        _thing("19.90 €", '<span class="stockFlag">Derzeit ausverkauft</span>'), lang="de"
    )
    assert found.fields["availability"] == "OutOfStock"


def test_the_last_page_of_a_listing_with_two_tiles_is_no_product():
    tile = (
        '<div class="p"><a href="/vase-{0}/">Vase {0}</a><div class="availability">Skladem</div>'
        '<div class="price-final">{0} 863 Kč</div></div>'
    )
    found = _read(
        "<h1>Oak lamp</h1>" + tile.format(1) + tile.format(2),
        "https://shop.example/lamps/strana-3/",
        "cs",
    )
    assert found.kind != "product"
